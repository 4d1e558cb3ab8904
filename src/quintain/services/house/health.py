"""Whether the parts that everything stands on work, and how full the house is."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from quintain import __version__
from quintain.core.errors import QuintainError
from quintain.core.people import Actor
from quintain.core.records.jobs import LoopReport
from quintain.engine.loops import Each, LoopCondition, LoopState, straight
from quintain.services.access.permissions import require_admin
from quintain.services.house import mailing
from quintain.services.house.backup import LastBackup, last_backup
from quintain.services.jobs import exports, loops
from quintain.store import archive, migrate
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import ping, refresh_statistics, transaction
from quintain.store.queries.access import people
from quintain.store.queries.jobs import figures

CENSUS = ("census", "house")  # under what the number of rows and blobs is kept: always with its time
LONGEST_LIMIT_S = 7 * 24 * 3600


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One part, whether it works, and what is wrong with it: *detail* for operators, *told* for anybody."""

    name: str
    ok: bool
    detail: str = ""
    told: str = ""


@dataclass(frozen=True, slots=True)
class HouseReadiness:
    """Whether the parts work that everything stands on, and how everything fares that goes on beside requests."""

    checks: list[HealthCheck]
    loops: list[LoopReport]

    @property
    def ready(self) -> bool:
        """Whether this server should be asked: its parts work, and nothing in it hangs or has ended by itself."""
        dead = (LoopCondition.STUCK, LoopCondition.STOPPED)
        return all(check.ok for check in self.checks) and not any(
            loop.here and loop.condition in dead for loop in self.loops
        )

    @property
    def state(self) -> str:
        """Return `ok`; `degraded` where something goes on failing that no other server mends; or `not ready`."""
        if not self.ready:
            return "not ready"
        return "ok" if all(loop.condition == LoopCondition.FINE for loop in self.loops) else "degraded"

    def words(self) -> dict[str, str]:
        """Return for each part and loop what anybody may hear: whether it works, and since when it does not."""
        parts = {check.name: "ok" if check.ok else check.told for check in self.checks}
        for loop in self.loops:
            name = f"loop: {loop.name}"
            if parts.get(name, "ok") == "ok":
                parts[name] = "ok" if loop.condition == LoopCondition.FINE else _last_success(loop)
        return parts


def _last_success(loop: LoopReport) -> str:
    last = "never" if loop.succeeded_at is None else loop.succeeded_at.isoformat(timespec="seconds")
    return f"{loop.condition}, last success: {last}"


@dataclass(frozen=True, slots=True)
class HouseStatus:
    """What there is: the database and its migrations, rows by table, blobs and the room that is left.

    Rows and blobs were counted at *counted_at*; None says now. *backup* is None where migrations are missing.
    """

    version: str
    database: str
    migration: str | None
    pending: tuple[str, ...]
    rows: dict[str, int]
    blobs: int
    blob_bytes: int
    disk_free: int
    disk_total: int
    counted_at: datetime | None = None
    backup: LastBackup | None = None


def readiness(db: Session, blobs: Blobs, own: Sequence[LoopState] = ()) -> HouseReadiness:
    """Try the database, the migrations and the blobs, and see how all loops fare; *own* are those of this process."""
    parts = database_readiness(db, own), blobs_readiness(blobs)
    return HouseReadiness([check for part in parts for check in part.checks], parts[0].loops)


def database_readiness(db: Session, own: Sequence[LoopState] = ()) -> HouseReadiness:
    """Try the database and its migrations, and see how all loops fare, as they are written down there."""
    checks = [
        _check("database", lambda: ping(db)),
        _check("migrations", lambda: migrate.require_current(_engine(db))),
    ]
    return HouseReadiness(checks, loops.loop_reports(db, own=own) if all(check.ok for check in checks) else [])


def blobs_readiness(blobs: Blobs) -> HouseReadiness:
    """Try whether a blob can be written."""
    return HouseReadiness([_check("blobs", blobs.check_writable)], [])


def status(db: Session, blobs: Blobs, actor: Actor, *, as_known: bool = False) -> HouseStatus:
    """Return what there is, for whoever looks after it: counted now or, *as_known*, when the house was tidied last."""
    require_admin(actor)
    engine = _engine(db)
    root = next(folder for folder in (blobs.root, *blobs.root.parents) if folder.exists())
    disk = shutil.disk_usage(root)
    migration, pending = migrate.migration_state(engine)
    census = figures.figure(db, *CENSUS) if as_known else None
    counted = census.value if census is not None else _count(engine, blobs)
    return HouseStatus(
        version=__version__,
        database=engine.url.render_as_string(hide_password=True),
        migration=migration,
        pending=tuple(pending),
        disk_free=disk.free,
        disk_total=disk.total,
        counted_at=census.computed_at if census is not None else None,
        backup=None if pending else last_backup(db, actor),
        **counted,
    )


def _count(engine: Engine, blobs: Blobs) -> dict[str, Any]:
    return {"rows": archive.row_counts(engine), "blobs": len(blobs.keys()), "blob_bytes": blobs.size()}


def tidy(db: Session, blobs: Blobs, each: Each = straight) -> None:
    """Remove what has run out (sessions, links, limits, mails, files), count what there is, and refresh statistics.

    Servers call it when they start and now and then. *each* says what becomes of a part that fails.
    """
    parts: dict[str, Callable[[], None]] = {
        "exported files": lambda: exports.drop_old(blobs),
        "sessions and links": lambda: _forget_expired(db),
        "mails": lambda: mailing.forget_old(db),
        "loops": lambda: loops.forget_silent(db),
        "rows and blobs": lambda: _keep_census(db, blobs),
        "statistics": lambda: refresh_statistics(_engine(db)),
    }
    each(parts, lambda part: parts[part](), undo=db.rollback)


def _forget_expired(db: Session) -> None:
    with transaction(db):
        people.forget_expired(db, now(), int(time.time()) - LONGEST_LIMIT_S)


def _keep_census(db: Session, blobs: Blobs) -> None:
    started = time.perf_counter()
    counted = _count(_engine(db), blobs)
    with transaction(db):
        seconds = time.perf_counter() - started
        figures.put(db, *CENSUS, basis="", value=counted, at=now(), seconds=seconds)


def _check(name: str, attempt: Callable[[], None]) -> HealthCheck:
    try:
        attempt()
    except QuintainError as error:
        return HealthCheck(name, False, error.message, error.public_text)
    except (SQLAlchemyError, OSError) as error:
        return HealthCheck(name, False, type(error).__name__, "failed")
    return HealthCheck(name, True)


def _engine(db: Session) -> Engine:
    return cast(Engine, db.get_bind())
