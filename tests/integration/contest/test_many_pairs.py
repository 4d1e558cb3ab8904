"""The figures of a contest of many pairs are computed by a worker, when something is said, and kept."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import Unavailable
from quintain.core.people import ANONYMOUS, OPERATOR, Actor
from quintain.services.access.links import make_link, redeem_link
from quintain.services.contest import contests, figures, rulings, scores
from quintain.services.contest.figures import LISTED, SCORE
from quintain.services.jobs.figures import refresh
from quintain.store.blobs import Blobs
from tests.beginnings import Build
from tests.contests import REF, ask_otherwise, during, move_to, with_whole_contest
from tests.refusals import refusal
from tests.web_support import PASSWORD, browser_of

REASON = "The evening is still blamed in it."


@pytest.fixture
def beginning() -> Build:
    """A contest of three teams in which everybody did their part."""
    return with_whole_contest


@pytest.fixture(autouse=True)
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let three pairs be many."""
    monkeypatch.setattr(figures, "AT_ONCE", -1)
    for name in ("LISTED", "SCORE"):
        monkeypatch.setattr(figures, name, replace(getattr(figures, name), at_once=-1))


def _work(db: Session, blobs: Blobs, *subjects: str) -> None:
    """Do what waits, as a worker does."""
    refresh(db, blobs, LISTED, REF)
    for subject in subjects or (REF,):
        refresh(db, blobs, SCORE, subject)


def test_nobody_waits_for_the_figures_of_many_pairs(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """First they are being computed, then shown as they were counted last, while what was said is counted in."""
    with during("review"):
        for look in (
            lambda: scores.results(db, blobs, owner, REF),
            lambda: scores.list_pairs(db, blobs, owner, REF, broke="words"),
        ):
            with refusal(Unavailable, "figures_pending") as early:
                look()
            assert (early.value.code, early.value.retry_after) == ("figures_pending", 5)
        nothing, shown = scores.shown_results(db, blobs, owner, REF)
        assert nothing is None
        assert shown.job is not None
        assert len(scores.list_pairs(db, blobs, owner, REF).pairs) == 3
        _work(db, blobs)
        first = scores.results(db, blobs, owner, REF)
        assert (first.fresh, first.score.contested) == (True, 0)
        pair = scores.list_pairs(db, blobs, owner, REF, broke="words").pairs[0]
        rulings.contest_pair(db, people["anna"], REF, pair.id, REASON)
        assert figures.figures.is_refresh_scheduled(db, SCORE, REF)
        stale = scores.results(db, blobs, owner, REF)
        assert (stale.fresh, stale.score.contested, stale.computed_at) == (False, 0, first.computed_at)
        _work(db, blobs)
        assert scores.results(db, blobs, owner, REF).score.contested == 1
        assert scores.list_pairs(db, blobs, owner, REF, status="contested").total == 1


def test_each_team_sees_figures_under_the_names_that_it_knows(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """While systems have no names, figures are kept for each who calls them otherwise, and pairs are found by both."""
    ask_otherwise(db, anonymous=True)
    with during("review"):
        views = list(SCORE.subjects(db))
        assert views == [REF, f"{REF}#", f"{REF}#mixed", f"{REF}#words"]
        _work(db, blobs, *views)
        by_anna = scores.results(db, blobs, people["anna"], REF).score.systems
        by_ben = scores.results(db, blobs, people["ben"], REF).score.systems
        assert ("words" in by_anna, "mixed" in by_anna, "words" in by_ben) == (True, False, False)
        assert set(scores.results(db, blobs, owner, REF).score.systems) == {"mixed", "words"}
        alias = next(name for name in by_anna if name != "words")
        assert scores.list_pairs(db, blobs, people["anna"], REF, broke=alias).total == 2
        assert scores.list_pairs(db, blobs, people["anna"], REF, broke="mixed").total == 0
    with during("over"):
        _work(db, blobs)
        assert set(scores.results(db, blobs, ANONYMOUS, REF).score.systems) == {"mixed", "words"}
        assert list(SCORE.subjects(db)) == [contests.find_contest(db, REF).ref]


def test_pages_of_many_pairs_say_that_figures_are_on_the_way(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """No filter of the list is refused before a worker has counted; afterwards it says of when the figures are."""
    move_to(db, "review")
    redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
    pair = _pair(db, blobs, owner)
    db.commit()
    browser, place = browser_of(workspace, "olga"), "/tasks/mood/contests/spring/pairs"
    for asked in ("broke=words", "status=contested", "label=negation"):
        early = browser.get(f"{place}?{asked}")
        assert early.status_code == 200
        assert "This is being computed for the first time." in early.text
        assert "No pair is like that." not in early.text
    _work(db, blobs)
    fresh = browser.get(f"{place}?broke=words").text
    assert "and is being counted" not in fresh
    assert f"/pairs/{pair}" in fresh
    rulings.contest_pair(db, people["anna"], REF, pair, REASON)
    assert "more has come in since, and is being counted" in browser.get(f"{place}?status=contested").text


def test_organisers_see_at_once_what_waits_for_them(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """What only they can settle is looked at live, by page, command and call: it comes and goes without a worker."""
    ask_otherwise(db, validation="none")
    move_to(db, "review")
    redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
    pair = _pair(db, blobs, owner)
    rulings.contest_pair(db, people["anna"], REF, pair, REASON)
    db.commit()
    page = browser_of(workspace, "olga").get("/tasks/mood/contests/spring/decide")
    assert page.status_code == 200
    assert REASON in page.text
    assert [one.id for one in scores.list_pairs(db, blobs, owner, REF, status="waiting").pairs] == [pair]
    assert scores.list_pairs(db, blobs, owner, REF, status="waiting", offset=1).pairs == []
    rulings.rule_pair(db, owner, REF, pair, "keep", reason="Most people would praise it.")
    assert scores.list_pairs(db, blobs, owner, REF, status="waiting").total == 0


def _pair(db: Session, blobs: Blobs, owner: Actor) -> int:
    """Find the pair of another team that broke a system of anna's."""
    return next(one.id for one in scores.list_pairs(db, blobs, owner, REF).pairs if one.name == "p1")
