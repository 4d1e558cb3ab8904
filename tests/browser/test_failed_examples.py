"""What failed examples do to a figure, as the results, the board and the owner's settings show it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.engine.jobs import LocalEngine
from quintain.services.access.links import make_link, redeem_link
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells.worker import work
from quintain.services.tasks.board_settings import board_spec, set_board
from quintain.settings import Settings
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from tests.browser.visitor import Visitor
from tests.evaluated import CONDITIONS, MORE
from tests.evaluation import SENTENCES, add_data, add_model, add_task
from tests.people import make_person
from tests.web_support import PASSWORD, running

pytestmark = pytest.mark.slow

FRAGILE = """
    def predict(batch):
        if any("witty" in item["text"] for item in batch):
            raise ValueError("too witty")
        return ["positive"] * len(batch)
"""


@pytest.fixture(scope="module")
def fragile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace with a model that has failed on one of its examples."""
    folder: Path = tmp_path_factory.mktemp("fragile")
    workspace = create_workspace(Settings(workspace=folder / "w", login_attempts=1000))
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        builder = make_person(db, "bert", RoleName.BUILDER)
        redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
        add_task(db, owner)
        add_data(db, workspace.blobs, owner, folder, name="open", rows=[*SENTENCES, *MORE], hidden=False)
        add_model(db, workspace.blobs, builder, folder, name="fragile", code=FRAGILE)
        set_board(db, owner, "mood", {"metric": "accuracy", "datasets": {"open": 1.0}})
        evaluate.fill(db)
        with transaction(db):
            for row in queries.rows(db):
                if row.cell.variant != "plain":
                    row.cell.state = "cancelled"
        db.rollback()
        work(
            workspace.session,
            workspace.blobs,
            LocalEngine(folder / "l"),
            CONDITIONS,
            threading.Event(),
            until_empty=True,
        )
    yield workspace
    workspace.engine.dispose()


@pytest.fixture(scope="module")
def site(fragile: Workspace) -> Iterator[str]:
    """The workspace, served."""
    with running(fragile) as url:
        yield url


def test_bounds_stand_beside_the_figure(visitor: Visitor) -> None:
    """The results page says what the metric is with the failed example wrong and right, in every look."""
    page = visitor.go_in_looks("/tasks/mood/models/fragile/results/open")
    expect(page.locator("main")).to_contain_text("With 1 failed example wrong or right, it is between")


def test_owners_say_how_many_may_fail(visitor: Visitor, fragile: Workspace) -> None:
    """The field shows the share in percent, and what is typed is kept."""
    visitor.sign_in("olga")
    page = visitor.go_in_looks("/tasks/mood/board/settings")
    field = page.get_by_label("Examples that may fail, in percent")
    expect(field).to_have_value("5")
    field.fill("12.5")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/board**")
    with fragile.session() as db:
        assert board_spec(db, "mood").failure_limit == 0.125
