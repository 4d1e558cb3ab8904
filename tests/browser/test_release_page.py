"""Releasing in a real browser: what must hold, what would come of it, and the release itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace
from quintain.services.access.actors import actor_of, find_user
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs.running import run_all
from quintain.services.release import release_jobs
from quintain.services.release.releases import parse_release, release
from tests.browser.judging import make_judging
from tests.browser.visitor import Visitor
from tests.released import REF, judged_round, mood_items
from tests.web_support import running

PAGE = "/tasks/mood/validation/1/release"


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A round that was judged to the end and released."""
    made = make_judging(tmp_path_factory.mktemp("release"))
    with made.session() as db:
        owner = actor_of(db, find_user(db, "olga"))
        judged_round(db, owner, mood_items(5))
        spec = parse_release('dev = 18\ntest = 18\nchecked = []\neven = []\nwriters = "any"')
        release(db, made.blobs, owner, REF, spec)
    yield made
    made.close()


@pytest.fixture(scope="module")
def site(released: Workspace) -> Iterator[str]:
    """The address of that workspace."""
    with running(released) as url:
        yield url


def test_the_release_page_is_sound(visitor: Visitor) -> None:
    """Form, report and the choice to release once more fit in light, dark and on a phone."""
    visitor.sign_in("olga")
    page = visitor.go_in_looks(PAGE)
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("main")).to_contain_text("round-1-test")
    expect(page.get_by_label("Release once more")).to_have_count(1)


def test_a_look_that_a_worker_takes_comes_by_itself(
    visitor: Visitor, released: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page that waits keeps the form and is sound; then it shows what the release would be."""
    monkeypatch.setattr(release_jobs, "is_large", lambda db, validation: True)
    visitor.sign_in("olga")
    page = visitor.go(PAGE)
    page.get_by_label("Release once more").check()
    visitor.press("Look at it")
    expect(page.locator("#release-state progress")).to_be_visible()
    visitor.check_looks()
    expect(page.get_by_label("Release once more")).to_be_checked()
    run_all(released.session, released.blobs, job_handlers())
    expect(page.locator("#looked")).to_be_visible()
