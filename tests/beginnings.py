"""What a workspace may begin with: made once on each kind of database, and copied for each test."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from quintain.compose import Workspace, create_workspace
from quintain.core.people import RoleName
from quintain.services.evaluate.results.compute import results
from quintain.services.tasks.definitions import get_task
from quintain.settings import Settings
from tests.boards import small_board
from tests.people import make_person
from tests.postgres import TEMPLATE, PostgresServer

Build = Callable[[Workspace, Path], None]


class Template(NamedTuple):
    """A workspace to copy: its folder, and its PostgreSQL database where it has one."""

    folder: Path
    database: str


@dataclass
class Beginnings:
    """Workspaces that were built, by the kind of database and by what built them."""

    new_folder: Callable[[], Path]
    empty: Path
    server: Callable[[], PostgresServer]
    made: dict[tuple[str, Build], Template] = field(default_factory=dict)

    def template(self, kind: str, build: Build) -> Template:
        """Give the workspace that *build* makes on that *kind* of database."""
        if (kind, build) not in self.made:
            self.made[kind, build] = self._make(kind, build)
        return self.made[kind, build]

    def _make(self, kind: str, build: Build) -> Template:
        place = self.new_folder()
        folder = place / "workspace"
        folder.mkdir()
        if kind == "sqlite":
            shutil.copyfile(self.empty, folder / "quintain.db")
            url = ""
        else:
            url = self.server().create(TEMPLATE, to_copy=True)
        workspace = create_workspace(Settings(workspace=folder, database_url=url))
        build(workspace, place)
        workspace.close()
        return Template(folder, url.split("/")[3].partition("?")[0] if url else "")


def with_small_board(workspace: Workspace, folder: Path) -> None:
    """Begin with a board of three models on two data sets; olga owns the task, and bert the models."""
    with workspace.session() as db:
        people = (make_person(db, "olga", RoleName.OWNER), make_person(db, "bert", RoleName.BUILDER))
        small_board(db, workspace.blobs, *people, folder)
        results(db, workspace.blobs, get_task(db, "mood"))  # a worker would have computed them
