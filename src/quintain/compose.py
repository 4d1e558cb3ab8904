"""The only place where parts are put together."""

from __future__ import annotations

import logging
import os
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from quintain.adapters.contract import Outside
from quintain.conditions import AS_SERVED, LOCKS, SERVING, conditions_here
from quintain.core.errors import BadInput, OutOfOrder
from quintain.data.limits import AT_ONCE, MIB, FileLimits, read_at_once
from quintain.engine.companion import Companion
from quintain.engine.jobs import LocalEngine
from quintain.engine.loops import LoopBook
from quintain.engine.machine_hold import machine_taken
from quintain.engine.presence import running_server, serving
from quintain.services.access.mail import Mail
from quintain.services.board.snapshots import sign_kept
from quintain.services.evaluate.cells.run_cell import Engine as CellEngine
from quintain.services.evaluate.cells.warm_models import LiveModels, LiveRunners
from quintain.services.evaluate.submissions.submit import SubmissionRules
from quintain.services.evaluate.training.train_recipe import TrainingPlace
from quintain.services.evaluate.training.trainings import Trainer
from quintain.services.house.health import HouseReadiness, blobs_readiness, database_readiness
from quintain.services.house.probes import Watch
from quintain.services.models.outside import read_outside
from quintain.settings import Settings, settings_environment
from quintain.store.blobs import Blobs
from quintain.store.database import connect
from quintain.store.migrate import require_current, upgrade
from quintain.store.remote_blobs import open_blobs
from quintain.store.state import State

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - what listens on all addresses is reached on this one
RAY_PORT = 10001  # of Ray's client, where an address names none
ENGINE_SECONDS = 5.0
log = logging.getLogger("quintain")
SERVER_SECONDS = 15.0  # a server finishes requests for ten seconds, then closes its models


@dataclass(frozen=True, slots=True)
class Workspace:
    """An opened workspace: its settings, its database and its blobs."""

    settings: Settings
    engine: Engine
    blobs: Blobs
    state: State = field(default_factory=State, repr=False, compare=False)  # from opening to `close`
    demo: bool = False  # set by `quintain demo` alone, never from outside
    _live: list[LiveModels] = field(default_factory=list, repr=False, compare=False)
    _watches: list[Watch] = field(default_factory=list, repr=False, compare=False)

    @property
    def loops(self) -> LoopBook:
        """What goes on in this process: services write their loops into the same book."""
        return self.state.part(LoopBook)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Yield a database session that is closed afterwards."""
        with Session(self.engine, expire_on_commit=False) as db:
            yield db

    @property
    def watch(self) -> Watch:
        """Who knows whether all parts work."""
        if not self._watches:
            self._watches.append(Watch({"database": self._try_database, "blobs": self._try_blobs}))
        return self._watches[0]

    def _try_database(self) -> HouseReadiness:
        with self.session() as db:
            return database_readiness(db, self.loops.states())

    def _try_blobs(self) -> HouseReadiness:
        return blobs_readiness(self.blobs)

    @property
    def runners(self) -> LiveRunners:
        """Who answers for live models; the sandboxes are started when somebody first asks."""
        if not self._live:
            self._live.append(LiveModels(self.session, conditions_here(self.settings), book=self.loops))
        return LiveRunners(self._live[0])

    def close(self) -> None:
        """End live models and close the connections to the database."""
        for live in self._live:
            live.close()
        self._live.clear()
        self.state.clear()
        self.engine.dispose()

    @property
    def outside(self) -> Outside:
        """What the operator lets be reached elsewhere, with the keys for it."""
        return read_outside(self.settings.endpoints, self.settings.secrets, self.settings.workspace / "cache")

    @property
    def file_limits(self) -> FileLimits:
        """How much a file that somebody sends may hold."""
        return FileLimits(self.settings.import_mib * MIB, self.settings.import_rows)

    @property
    def limits_at_once(self) -> FileLimits:
        """How much a file may hold that is read while whoever sent it waits: items, prompts, pairs, answers."""
        return read_at_once(self.file_limits, AT_ONCE)

    @property
    def mail(self) -> Mail:
        """Where e-mail is handed over, and who it is from."""
        return Mail(self.settings.smtp_url, self.settings.mail_from)


@dataclass(frozen=True, slots=True)
class Address:
    """The address that links lead to. *known* is false where no server runs here and none was named."""

    url: str
    known: bool


def base_address(settings: Settings) -> Address:
    """Return the address that links lead to: the one that is set, or that of the running server, or a guess."""
    if settings.public_url:
        return Address(settings.public_url, known=True)
    running = running_server(settings.workspace / SERVING)
    return Address(running.url if running else settings.address, known=running is not None)


def announced(settings: Settings) -> AbstractContextManager[None]:
    """Let commands know that a server listens at the host and the port of *settings*, for as long as it does."""
    folder = settings.workspace / SERVING
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return nullcontext()  # with its database elsewhere a server can do without a folder of its own
    if not os.access(folder, os.W_OK):
        return nullcontext()
    host = EVERYWHERE.get(settings.host, settings.host)
    url = f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"
    return serving(folder, url, {name: getattr(settings, name) for name in AS_SERVED})


def make_engine(settings: Settings) -> CellEngine:
    """Make the engine that *settings* name: this machine, or a Ray cluster."""
    if settings.engine == "local":
        return LocalEngine(settings.workspace / LOCKS)
    if settings.engine.startswith("ray://"):
        from quintain.engine.cluster import RayEngine

        return RayEngine(settings.engine)
    raise BadInput("QUINTAIN_ENGINE is '{engine}'.", engine=settings.engine, remedy="It is `local` or ray://host:port.")


def require_engine(settings: Settings) -> None:
    """Refuse an engine that cannot be reached: nothing that is queued would be run, and nobody would be told."""
    if settings.engine == "local":
        return
    parts = urlsplit(settings.engine)
    try:
        socket.create_connection((parts.hostname or "", parts.port or RAY_PORT), timeout=ENGINE_SECONDS).close()
    except OSError as error:
        raise OutOfOrder(
            "Nothing answers at {engine}, which QUINTAIN_ENGINE names ({error}).",
            engine=settings.engine,
            error=error.strerror or error,
            remedy="Start the cluster with `ray start --head`, or set QUINTAIN_ENGINE=local.",
        ) from error


def busy(settings: Settings) -> AbstractContextManager[None]:
    """Keep workers on this machine from measuring for as long as the block runs; they do what else there is."""
    return machine_taken(settings.workspace / LOCKS)


def workers_beside(settings: Settings, book: LoopBook | None = None) -> AbstractContextManager[object]:
    """Return the workers that a server runs beside itself, in a process of their own; none where none are asked for.

    Who sees to it that they run is in the *book*.
    """
    if settings.workers < 1:
        return nullcontext()
    command = [sys.executable, "-m", "quintain", "worker", "--attached", "--parallel", str(settings.workers)]
    return Companion(command, settings_environment(settings), name="workers", book=book)


def servers_beside(settings: Settings, count: int, listener: int, ready: int, book: LoopBook) -> list[Companion]:
    """Return *count* processes that answer requests on the socket *listener*, and write a byte to *ready* each.

    They do not run evaluations: `workers_beside` is for whoever starts them.
    """
    command = [sys.executable, "-m", "quintain", "serve", "--listener", str(listener), "--ready", str(ready)]
    environment = settings_environment(settings)
    options: dict[str, Any] = {"files": (listener, ready), "grace": SERVER_SECONDS, "book": book}
    return [Companion(command, environment, name=f"server {number}", **options) for number in range(1, count + 1)]


def rules_of(settings: Settings) -> SubmissionRules:
    """Return the rules that submissions are held to."""
    conditions = conditions_here(settings)
    elsewhere = settings.workers < 1 or settings.engine != "local"
    return SubmissionRules(
        settings.submissions_per_day, conditions.sandbox, conditions.outside, tryout=conditions, elsewhere=elsewhere
    )


def checkpoints_of(settings: Settings) -> Path | None:
    """Return the folder of the checkpoints that recipes on pages may begin with; None where there is none."""
    return Path(settings.checkpoints) if settings.checkpoints else None


def training_of(settings: Settings, base: Path | None = None) -> TrainingPlace:
    """Return where training keeps what it needs to go on; *base* is the folder of the operator's own recipe."""
    return TrainingPlace(settings.workspace / "training", checkpoints_of(settings), base)


def trainer_of(settings: Settings) -> Trainer:
    """Return what a worker needs to train recipes that people have started."""
    return Trainer(training_of(settings), rules_of(settings))


def open_workspace(settings: Settings, *, check: bool = True) -> Workspace:
    """Open the workspace that *settings* name; *check* refuses a database that has not been brought up to date."""
    workspace = _workspace(settings)
    if check:
        require_current(workspace.engine)
    _shut_out_others(settings)
    return workspace


def _workspace(settings: Settings) -> Workspace:
    state = State()
    cache = settings.workspace / "cache"
    return Workspace(
        settings=settings,
        engine=connect(settings.database, state),
        blobs=open_blobs(settings.blobs, cache=cache, endpoint=settings.blobs_endpoint, state=state),
        state=state,
    )


def _shut_out_others(settings: Settings) -> None:
    """Let only the owner and the group of the database's file read it: the key that we sign with is in it."""
    file = settings.workspace / "quintain.db"
    if not settings.database_url and file.exists() and file.stat().st_uid == os.getuid():
        file.chmod(stat.S_IMODE(file.stat().st_mode) & 0o770)


@contextmanager
def workspace_to_fill(settings: Settings) -> Iterator[Workspace]:
    """Open the workspace that *settings* name for what a backup holds; its folder is made where there is none.

    Where the block fails, what was not there before is gone again: folders, the database's file, blobs.
    """
    workspace = _workspace(settings)
    absent = _absent(workspace)
    try:
        _make_folder(settings)
        yield workspace
    except BaseException:
        workspace.close()
        for path in absent:
            _take_away(path)
        raise
    _shut_out_others(settings)


def _absent(workspace: Workspace) -> list[Path]:
    """List what may be made in a workspace and is not there yet, the innermost first."""
    folder, file = workspace.settings.workspace, workspace.engine.url.database
    paths = [folder / "cache", workspace.blobs.root / "scratch", workspace.blobs.root]
    if workspace.engine.dialect.name == "sqlite" and file:
        paths += [Path(f"{file}{ending}") for ending in ("-wal", "-shm", "")]
    paths += [folder, *folder.absolute().parents]
    return [path for path in paths if not path.exists()]


def _take_away(path: Path) -> None:
    """Remove a file, or a folder in which nothing is left."""
    with suppress(OSError):  # it was never made, or others have put something there
        path.rmdir() if path.is_dir() else path.unlink()


def create_workspace(settings: Settings) -> Workspace:
    """Make the workspace that *settings* name, with all tables and no people, or bring an old one up to date."""
    _make_folder(settings)
    workspace = open_workspace(settings, check=False)
    if upgrade(workspace.engine):
        with workspace.session() as db:
            sign_kept(db, workspace.blobs)
    _shut_out_others(settings)
    return workspace


def _make_folder(settings: Settings) -> None:
    try:
        settings.workspace.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutOfOrder(
            "The folder {workspace} cannot be made: {strerror}.",
            workspace=settings.workspace,
            strerror=error.strerror,
            remedy="Name another one.",
        ) from error
