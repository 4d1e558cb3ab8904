"""The only place where parts are put together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from quintain.settings import Settings
from quintain.store.blobs import Blobs
from quintain.store.database import connect
from quintain.store.migrate import upgrade


@dataclass(frozen=True, slots=True)
class Workspace:
    """An opened workspace: its settings, its database and its blobs."""

    settings: Settings
    engine: Engine
    blobs: Blobs

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Give a database session that is closed afterwards."""
        with Session(self.engine, expire_on_commit=False) as db:
            yield db


def open_workspace(settings: Settings) -> Workspace:
    """Open the workspace that *settings* name."""
    return Workspace(settings=settings, engine=connect(settings.database), blobs=Blobs(Path(settings.blobs)))


def create_workspace(settings: Settings) -> Workspace:
    """Make the workspace that *settings* name, with all tables and no people, or bring an old one up to date."""
    settings.workspace.mkdir(parents=True, exist_ok=True)
    workspace = open_workspace(settings)
    upgrade(workspace.engine)
    return workspace
