"""Evaluation in a real browser: results, flips, comparisons, and a run that is followed live."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from tests.browser.visitor import Visitor
from tests.evaluated import evaluated_workspace
from tests.web_support import made_once, running

BRITTLE = "/tasks/mood/models/brittle"


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace with two models that have been run."""
    workspace = made_once(tmp_path_factory, "evaluated", evaluated_workspace, login_attempts=1000)
    yield workspace
    workspace.engine.dispose()


@pytest.fixture(scope="module")
def site(evaluated: Workspace) -> Iterator[str]:
    """The workspace, served."""
    with running(evaluated) as url:
        yield url


@pytest.mark.parametrize(
    "path",
    [
        BRITTLE,
        f"{BRITTLE}/results/open",
        f"{BRITTLE}/results/secret",
        f"{BRITTLE}/results/open/flips",
        "/tasks/mood/compare?a=brittle&b=constant",
        "/tasks/mood/compare",
        "/tasks/mood/runs",
        "/tasks/mood/runs?state=failed",
        "/runs/1",
    ],
)
def test_pages_are_sound(visitor: Visitor, path: str) -> None:
    """No page breaks the policy, scrolls sideways or fails an accessibility rule, in any look."""
    assert visitor.go_in_looks(path).locator("h1").count() == 1


def test_flips_are_filtered_without_leaving(visitor: Visitor) -> None:
    """Choosing a perturbation changes the list and the address."""
    page = visitor.go(f"{BRITTLE}/results/open/flips")
    page.select_option("#family", "word_case")
    page.wait_for_url("**family=word_case**")
    chips = page.locator("ol.flips li .chip:first-child")
    expect(chips.filter(has_text="typos")).to_have_count(0)
    expect(chips.filter(has_text="word_case").first).to_be_visible()


def test_the_confusion_matrix_is_drawn(visitor: Visitor) -> None:
    """The heat map appears with one square for each pair of labels."""
    page = visitor.go(f"{BRITTLE}/results/open")
    expect(page.locator(".chart svg").first).to_be_visible()
    expect(page.locator(".chart svg .mark-rect path")).to_have_count(4)


def test_a_run_is_followed_live(visitor: Visitor, evaluated: Workspace) -> None:
    """The page shows the queue, then the progress, then the end, and nobody reloads it."""
    with evaluated.session() as db:
        number = queries.rows(db, states=["cancelled"])[0].cell.id
        with transaction(db):
            row = queries.row(db, number)
            assert row
            row.cell.state = "queued"
    page = visitor.page
    page.goto(f"{visitor.base}/runs/{number}")  # the open stream keeps the network busy, so not by `go`
    expect(page.locator("#run-text")).to_contain_text("before it")
    with evaluated.session() as db:
        lease = evaluate.claim(db, "test")
        assert lease
        assert lease.cell_id == number
        assert evaluate.heartbeat(db, lease, done=3)
    expect(page.locator("#run-text")).to_contain_text("3 of 12", timeout=15_000)
    with evaluated.session() as db:
        assert evaluate.complete(db, lease, predictions=None, measurements={}, rows=12)
    expect(page.locator(".chip.good")).to_have_text("done", timeout=15_000)
    expect(page.locator("#run-share")).to_have_text("100.0%")
