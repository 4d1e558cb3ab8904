"""What tests of pages, services and commands share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.links import make_link, redeem_link
from quintain.settings import Settings
from tests.evaluated import build
from tests.people import make_person
from tests.web_support import PASSWORD


@pytest.fixture(scope="session")
def evaluated_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace with two models that have been run, and people with passwords."""
    folder = tmp_path_factory.mktemp("evaluated")
    workspace = create_workspace(Settings(workspace=folder / "workspace", login_attempts=1000))
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        builder = make_person(db, "bert", RoleName.BUILDER)
        make_person(db, "boris", RoleName.BUILDER)
        for name in ("olga", "bert", "boris"):
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
        build(db, workspace, owner, builder, folder / "files")
    yield workspace
    workspace.engine.dispose()
