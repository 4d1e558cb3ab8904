"""Harvesting in a real browser: from a corpus to a round, what the worker is offered then, and the datasheet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs.running import run_all
from tests.browser.visitor import Visitor
from tests.web_support import copy_demo, running
from tests.writing_rounds import add_round

REVIEWS = [
    ("The soup was cold and the waiter ignored us all evening.", 5),
    ("What a lovely garden, and the cake was a delight.", 1),
    ("We sat near the door because the other tables were taken.", 3),
    ("Nothing on the menu tasted of anything at all.", 2),
    ("The staff remembered our names, which made our day.", 4),
    ("The room faces the street and has two chairs.", 3),
]


@pytest.fixture(scope="module")
def harvested(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A copy of the demo."""
    return copy_demo(demo, tmp_path_factory.mktemp("harvest") / "demo")


@pytest.fixture
def is_open(harvested: Workspace, tmp_path: Path) -> str:
    """The address of a round in which people write."""
    return f"/tasks/sentiment/rounds/{add_round(harvested, tmp_path, 'sentiment').number}/write"


@pytest.fixture(scope="module")
def site(harvested: Workspace) -> Iterator[str]:
    """The address of that workspace."""
    with running(harvested) as url:
        yield url


@pytest.mark.slow
def test_an_owner_goes_from_a_corpus_to_a_round(visitor: Visitor, harvested: Workspace, tmp_path: Path) -> None:
    """What is wrong is said on the form; the job is followed until the round is there; all of it is sound."""
    file = tmp_path / "reviews.jsonl"
    file.write_text("".join(json.dumps({"text": text, "stars": stars}) + "\n" for text, stars in REVIEWS))
    visitor.expected = ("422",)
    visitor.sign_in("demo-owner")
    page = visitor.go("/tasks/sentiment/rounds")
    page.get_by_role("link", name="Harvest sentences").click()
    visitor.arrive("#dataset")
    visitor.check_looks()
    visitor.press("Harvest")
    expect(page.get_by_role("alert")).to_contain_text("The corpus is a file or a data set.")
    visitor.check_looks()
    page.set_input_files("#file", file)
    page.fill("#size", "4")
    page.fill("#title", "From reviews")
    visitor.press("Harvest")
    expect(page.locator("#harvest progress")).to_be_visible()
    visitor.check_looks()
    run_all(harvested.session, harvested.blobs, job_handlers())
    expect(page.locator("#harvest")).to_contain_text("4 sentences of 6 are round")
    visitor.check_looks()
    page.get_by_role("link", name="Round 1", exact=True).click()
    visitor.arrive(".stations")
    expect(page.locator("h1")).to_have_text("From reviews")
    visitor.check_looks()


@pytest.mark.slow
def test_a_worker_goes_on_with_what_was_begun(visitor: Visitor, is_open: str) -> None:
    """A session that was begun stands first on the own page, and leads back to the text."""
    visitor.sign_in("demo-worker")
    page = visitor.go(is_open)
    visitor.press("Start writing")
    place = page.url
    page = visitor.go_in_looks("/work")
    page.get_by_role("link", name="Go on writing").first.click()
    visitor.arrive("form#write")
    assert page.url == place
    expect(visitor.go_in_looks(is_open).get_by_role("link", name="Go on writing")).to_be_visible()


@pytest.mark.slow
def test_the_datasheet_is_answered_beside_the_release(visitor: Visitor) -> None:
    """Open questions come first; once answered they fold away, and the form leads back to the release."""
    visitor.sign_in("demo-owner")
    release = "/tasks/sentiment/validation/1/release"
    page = visitor.go_in_looks(release)
    page.get_by_role("link", name="Datasheet", exact=True).first.click()
    visitor.arrive("#makers")
    visitor.check_looks()
    page.fill("#makers", "The people of the demo.")
    visitor.press("Save")
    assert page.url.endswith(release)
    page = visitor.go_in_looks("/tasks/sentiment/datasheet")
    expect(page.locator("details summary", has_text="1 answered question")).to_be_visible()
