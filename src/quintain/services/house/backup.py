"""Backups: made while the server runs, read back before they count, and restored whole or not at all.

Rows come from one snapshot. Blobs are taken afterwards: they are written before the rows that name them and never
change, so every blob that a row of the snapshot names is there. What the file looks like is in `backup_file.py`.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, QuintainError, Unavailable
from quintain.core.people import Actor
from quintain.core.texts import Text
from quintain.services.access import audit
from quintain.services.access.permissions import require_admin
from quintain.services.board.snapshots import sign_kept
from quintain.services.house import backup_file
from quintain.services.house.backup_file import AT_ONCE, BackupFile, BackupInfo, Broken, Progress
from quintain.store import archive, migrate
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import connect, transaction
from quintain.store.queries.access import log
from quintain.store.row_sums import RowSum

logger = logging.getLogger(__name__)

CHUNK = 1 << 20
CREATED, FAILED = "backup.create", "backup.failed"  # acts in the audit log


def _quietly(what: str, done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class UpgradeReport:
    """What an upgrade did: nothing, where *migrations* is empty."""

    migrations: tuple[str, ...]
    backup: BackupInfo | None


@dataclass(frozen=True, slots=True)
class LastBackup:
    """The last backup that was verified, and what came of a later one that could not be; empty where there is none."""

    verified_at: datetime | None = None
    file: str = ""
    failed_at: datetime | None = None
    reason: str = ""


def create_backup(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    target: Path,
    *,
    force: bool = False,
    verify: bool = True,
    progress: Progress = _quietly,
) -> BackupInfo:
    """Write a backup to *target*, which appears there whole or not at all; *progress* hears of each blob.

    With *verify* it is restored into a scratch database beside the target first, and every hash, count and checksum is
    compared. It raises Unavailable where something differs, and the audit log keeps that.
    """
    require_admin(actor)
    current = not migrate.pending(_engine(db))
    try:
        info = _write(db, blobs, target, force=force, verify=verify, progress=progress, rows_only=False)
    except NotVerified as error:
        if current:
            _note_failure(db, actor, target, error)
        raise
    if current:
        with transaction(db):
            audit.record(db, actor, CREATED, target.name, verified=info.verified)
    return info


def _note_failure(db: Session, actor: Actor, target: Path, error: NotVerified) -> None:
    """Let the health of the house show that a backup could not be verified, where there is room to say so."""
    try:
        with transaction(db):
            audit.record(db, actor, FAILED, target.name, reason=str(error.reason))
    except QuintainError as trouble:
        logger.warning("the audit log could not be written: %s", trouble)


def last_backup(db: Session, actor: Actor) -> LastBackup:
    """Return when a backup was verified last, and whether a later one could not be (admins)."""
    require_admin(actor)
    verified, failed = log.newest_with(db, CREATED, "verified"), log.newest_with(db, FAILED)
    if failed is not None and verified is not None and failed.id < verified.id:
        failed = None
    return LastBackup(
        verified.at if verified else None,
        verified.subject if verified else "",
        failed.at if failed else None,
        str(failed.details.get("reason", "")) if failed else "",
    )


class NotVerified(Unavailable):
    """A backup was read back and could not be restored as it was; *reason* says why."""

    def __init__(self, target: Path, reason: object) -> None:
        super().__init__(
            "The backup {path} was not kept, because it could not be restored: {reason}.",
            path=target,
            reason=reason,
            remedy="Mend what is named and make it again; --no-verify keeps a backup as it is. "
            "Where a table is named, report it as a bug.",
        )
        self.reason = reason


def _write(
    db: Session, blobs: Blobs, target: Path, *, force: bool, verify: bool, progress: Progress, rows_only: bool
) -> BackupInfo:
    if target.exists() and not force:
        raise Conflict(
            "{path} is there already.", path=target, remedy="Name another file, or overwrite it with --force."
        )
    with backup_file.partial(target) as partial:
        with archive.snapshot(_engine(db)) as snapshot:
            manifest = backup_file.write(partial, snapshot, blobs, rows_only=rows_only, progress=progress)
        if verify:
            _verify(partial, target, progress)
        os.replace(partial, target)
    return backup_file.info_of(target, manifest, verified=verify)


def _verify(partial: Path, target: Path, progress: Progress) -> None:
    """Restore *partial* into a scratch database beside it, and compare what arrives with what was read."""
    try:
        with backup_file.opened(partial) as backup, _scratch(partial.parent) as engine:
            backup.check(progress)
            _load_on_trial(engine, backup, progress)
            _compare(engine, backup, progress)
    except DBAPIError as error:
        raise NotVerified(target, Text("the database does not take its rows ({orig})", orig=error.orig)) from error
    except Broken as error:
        raise NotVerified(target, error.reason) from error
    except QuintainError as error:
        raise NotVerified(target, error.message) from error


@contextmanager
def _scratch(folder: Path) -> Iterator[Engine]:
    """Yield an empty database in *folder*, which only its owner can read and which is removed afterwards."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".verifying-") as name:
        engine = connect(f"sqlite:///{Path(name) / 'scratch.db'}")
        try:
            yield engine
        finally:
            engine.dispose()


def _load_on_trial(engine: Engine, backup: BackupFile, progress: Progress) -> None:
    tables = backup.tables
    done = iter(range(1, len(tables) + 1))

    def rows(table: str) -> Iterator[dict[str, Any]]:
        progress("restoring on trial", next(done), len(tables))
        return backup.rows(table)

    archive.replace_all(engine, backup.migration, tables, rows, to=backup.migration)


def _compare(engine: Engine, backup: BackupFile, progress: Progress) -> None:
    """Compare the rows that were restored with those that were read, table by table."""
    with archive.snapshot(engine) as restored:
        for done, (name, expected) in enumerate(backup.manifest["tables"].items(), 1):
            total = RowSum()
            for row in restored.rows(name):
                total.add(row)
            if (total.rows, total.digest) != (expected["rows"], expected["content"]):
                raise BadInput(
                    "table {name} comes back with {rows} rows of checksum {sum}, not {expected} of {checksum}",
                    name=name,
                    rows=total.rows,
                    sum=total.digest[:12],
                    expected=expected["rows"],
                    checksum=expected["content"][:12],
                )
            progress("comparing", done, len(backup.tables))


def restore_backup(
    db: Session, blobs: Blobs, actor: Actor, source: Path, *, force: bool = False, progress: Progress = _quietly
) -> BackupInfo:
    """Put what *source* holds in the place of what is there; *force* is needed where that is not empty.

    The whole file is checked before anything is touched. Rows are replaced and blobs added in one transaction: where
    anything fails, the rows are as they were, and blobs that were not there before are gone again.
    """
    require_admin(actor)
    engine = _engine(db)
    with backup_file.opened(source) as backup:
        backup.check(progress)
        db.rollback()
        held = sum(archive.row_counts(engine).values())
        if held and not force:
            raise Conflict(
                "The workspace is not empty: its database has {held} rows.",
                held=held,
                remedy="Restore into a new workspace, or replace this one with --force.",
            )
        _require_left(backup, blobs)
        with _blobs_undone(blobs) as added:
            try:
                archive.replace_all(
                    engine,
                    backup.migration,
                    backup.tables,
                    backup.rows,
                    finish=lambda: _put_blobs(backup, blobs, added, progress),
                )
            except DBAPIError as error:
                reason = Text("the database does not take its rows ({orig})", orig=error.orig)
                raise Broken(source, reason) from error
        info = backup.info(verified=True)
    sign_kept(db, blobs)
    with transaction(db):
        # Whoever asks may not exist in what was restored, so the entry names nobody by id.
        audit.record(db, Actor(name=actor.name), "backup.restore", source.name)
    return info


def _require_left(backup: BackupFile, blobs: Blobs) -> None:
    """Refuse to restore rows alone where the blobs that they name are not."""
    left = set(backup.manifest.get("left", []))
    missing = left - set(blobs.keys()) if left else left
    if missing:
        raise Conflict(
            "{source} holds rows alone, and {missing} of the {all} blobs that belong to them are not here.",
            source=backup.path,
            missing=len(missing),
            all=len(left),
            remedy="Restore it into the workspace that it was made from. Nothing was changed.",
        )


@contextmanager
def _blobs_undone(blobs: Blobs) -> Iterator[list[str]]:
    """Yield a list for the keys of blobs that are added; they are removed again where the block fails."""
    added: list[str] = []
    try:
        yield added
    except BaseException:
        blobs.discard(added)
        raise


def _put_blobs(backup: BackupFile, blobs: Blobs, added: list[str], progress: Progress) -> None:
    keys: Sequence[str] = backup.manifest["blobs"]

    def put(key: str) -> None:
        if blobs.has(key):
            return
        added.append(key)
        with blobs.scratch() as path:
            with backup.bundle.open(f"blobs/{key}") as stream, path.open("wb") as out:
                shutil.copyfileobj(stream, out, CHUNK)
            blobs.put_file(path)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done, _ in enumerate(pool.map(put, keys), 1):
            progress("blobs", done, len(keys))


def upgrade_workspace(
    db: Session, blobs: Blobs, actor: Actor, folder: Path, *, verify: bool = True, progress: Progress = _quietly
) -> UpgradeReport:
    """Run the missing migrations, after an archive of all rows into *folder*. Does nothing where none is missing.

    Blobs stay where they are: a migration changes rows alone, and a blob is never changed or removed. With *verify* the
    archive is restored on trial first; where that fails no migration is run.
    """
    require_admin(actor)
    engine = _engine(db)
    missing = migrate.pending(engine)
    if not missing:
        return UpgradeReport((), None)
    archive = None
    if migrate.current(engine) is not None:
        file = folder / f"before-{missing[-1]}-{now():%Y%m%d-%H%M%S}.zip"
        archive = _write(db, blobs, file, force=False, verify=verify, progress=progress, rows_only=True)
    ran = migrate.upgrade(engine)
    sign_kept(db, blobs)
    with transaction(db):
        audit.record(db, actor, "upgrade", ran[-1] if ran else "", migrations=ran)
    return UpgradeReport(tuple(ran), archive)


def default_file(folder: Path) -> Path:
    """Name a new backup in *folder* after the moment."""
    return folder / f"quintain-{now():%Y%m%d-%H%M%S}.zip"


def _engine(db: Session) -> Engine:
    return cast(Engine, db.get_bind())
