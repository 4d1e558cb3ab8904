"""Judging pairs of a contest is leased and paid like other judging, and waits for those who may do it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import Conflict, Forbidden
from quintain.core.people import Actor, RoleName
from quintain.core.records.contests import PairToJudge
from quintain.core.records.house import WaitingKind
from quintain.core.rounds import Money
from quintain.services.access.notify import list_notifications
from quintain.services.contest import judging, rulings, scores
from quintain.services.house.waiting import waiting_for
from quintain.services.pay import earnings
from quintain.services.pay.policy import put_policy
from quintain.store.blobs import Blobs
from quintain.store.tables import PanelDevice, PanelPerson
from tests.beginnings import Build
from tests.contests import REF, ask_otherwise, during, with_whole_contest
from tests.people import find_or_make_person
from tests.refusals import refusal

REASON = "The evening is still blamed in it."
HALF_AN_HOUR = timedelta(minutes=31).total_seconds()


@pytest.fixture
def beginning() -> Build:
    """A contest of three teams in which everybody did their part."""
    return with_whole_contest


def _contested(db: Session, blobs: Blobs, people: dict[str, Actor], name: str = "p1") -> int:
    """Let a pair be contested, and give its id."""
    pairs = scores.list_pairs(db, blobs, people["anna"], REF).pairs
    pair = next(one.id for one in pairs if one.name == name)
    rulings.contest_pair(db, people["anna"], REF, pair, REASON)
    return pair


def _take(db: Session, actor: Actor) -> PairToJudge:
    pair = judging.next_to_judge(db, actor, REF)
    assert pair is not None
    return pair


@pytest.mark.both_databases
def test_no_more_people_work_at_a_pair_than_are_asked(db: Session, blobs: Blobs, people: dict[str, Actor]) -> None:
    """Who has a pair has it for half an hour; then it is another's, and whoever is late is paid and settles nothing."""
    ask_otherwise(db, judges=1, judge_pay=7)
    with during("review"):
        pair = _contested(db, blobs, people)
        first = _take(db, people["jo"])
        assert (first.id, first.left, str(first.pay)) == (pair, 1, "0.07 USD")
        assert _take(db, people["jo"]).id == pair  # a second window has the same
        assert judging.next_to_judge(db, people["jim"], REF) is None
        with refusal(Conflict, "not_handed"):
            judging.judge_pair(db, people["jim"], REF, pair, "negative", "negative")
    with during("review", seconds=HALF_AN_HOUR):
        assert _take(db, people["jim"]).id == pair
        in_time = judging.judge_pair(db, people["jim"], REF, pair, "negative", "positive")
        late = judging.judge_pair(db, people["jo"], REF, pair, "negative", "negative")
        assert [(one.late, one.earned, one.left) for one in (in_time, late)] == [
            (False, Money(7, "USD"), 0),
            (True, Money(7, "USD"), 0),
        ]
        settled = scores.get_pair(db, blobs, people["anna"], REF, pair)
        assert settled is not None
        assert (settled.status, settled.modified_label) == ("settled", "positive")
    for name in ("jo", "jim"):
        [earned] = earnings.my_earnings(db, people[name])
        assert (earned.amount, earned.what, earned.status) == (7, "Judging a pair of mood/spring", "pending")


def test_pairs_are_given_back_some_times_and_then_judged(
    db: Session, blobs: Blobs, people: dict[str, Actor], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who gave back so many more than they judged keeps the next one, until they judge it or its time is over."""
    monkeypatch.setattr(judging, "MOST_RETURNED", 1)
    with during("review"):
        for name in ("p1", "p2"):
            _contested(db, blobs, people, name)
        judging.return_pair(db, people["jo"], REF, _take(db, people["jo"]).id)
        pair = _take(db, people["jo"]).id
        with pytest.raises(Conflict, match="given back 1 more pairs than you judged"):
            judging.return_pair(db, people["jo"], REF, pair)
        judging.judge_pair(db, people["jo"], REF, pair, "negative", "negative")


def test_people_of_one_source_judge_a_pair_once(db: Session, blobs: Blobs, people: dict[str, Actor]) -> None:
    """Who came from a panel by one browser is one voice until confirmed, and none if one of them is in a team."""
    with during("review"):
        pair = _contested(db, blobs, people)
        first, second, third = (_from_panel(db, f"p-{name}", device) for name, device in zip("abc", "xxy", strict=True))
        assert _take(db, first).id == pair
        assert judging.next_to_judge(db, second, REF) is None
        judging.judge_pair(db, first, REF, pair, "negative", "negative")
        assert judging.next_to_judge(db, second, REF) is None
        assert _take(db, third).id == pair
        _bring(db, people["anna"], "y")
        with pytest.raises(Forbidden, match="in no team"):
            judging.judge_pair(db, third, REF, pair, "negative", "negative")


def _from_panel(db: Session, name: str, device: str) -> Actor:
    return _bring(db, find_or_make_person(db, name, RoleName.WORKER), device)


def _bring(db: Session, actor: Actor, device: str) -> Actor:
    """Let somebody have come from a panel by a browser."""
    assert actor.user_id is not None
    db.add(PanelPerson(user_id=actor.user_id, provider="panel", outside_id=actor.name))
    db.add(PanelDevice(device=device, user_id=actor.user_id))
    db.commit()
    return actor


def test_a_pair_is_given_back_and_waits_for_others(db: Session, blobs: Blobs, people: dict[str, Actor]) -> None:
    """Who gives a pair back is not handed it again, and nothing waits for them; for others it does."""
    with during("review"):
        pair = _contested(db, blobs, people)
        _take(db, people["jo"])
        judging.return_pair(db, people["jo"], REF, pair)
        assert judging.next_to_judge(db, people["jo"], REF) is None
        with refusal(Conflict, "not_handed"):
            judging.judge_pair(db, people["jo"], REF, pair, "negative", "negative")
        assert _take(db, people["jim"]).id == pair


def test_judging_waits_at_home_and_judges_are_told_of_more(db: Session, blobs: Blobs, people: dict[str, Actor]) -> None:
    """What one has in hand comes first, and who has judged before is told when more is contested."""
    jim, jo = (find_or_make_person(db, name, RoleName.WORKER) for name in ("jim", "jo"))
    with during("review"):
        _contested(db, blobs, people)
        [offer] = [one for one in waiting_for(db, jim) if one.kind is WaitingKind.JUDGE_PAIRS]
        assert (offer.url, offer.begun, offer.count) == ("/tasks/mood/contests/spring/judge", False, 1)
        pair = _take(db, jo)
        assert next(iter(waiting_for(db, jo))).begun
        judging.judge_pair(db, jo, REF, pair.id, "negative", "negative")
        assert not list_notifications(db, jo)
        _contested(db, blobs, people, "p0")
        [told] = list_notifications(db, jo)
        assert (told.kind, told.url) == ("contest.judge", "/tasks/mood/contests/spring/judge")


def test_whoever_began_in_time_finishes_and_caps_pause_new_work(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """A pair in hand when labels are settled is paid and counts no more; at the cap none is handed out."""
    ask_otherwise(db, judge_pay=5)
    put_policy(db, owner, "mood", "project_cap = 5")
    left = timedelta(days=1, minutes=-5).total_seconds()
    with during("review", seconds=left):
        pair = _contested(db, blobs, people)
        for name in ("jo", "jim"):
            _take(db, people[name])
        judging.judge_pair(db, people["jim"], REF, pair, "negative", "negative")
        with pytest.raises(Conflict, match="New work pauses"):
            judging.next_to_judge(db, people["jule"], REF)
        assert any("Work on mood pauses" in one.text for one in list_notifications(db, owner))
    with during("review", seconds=left + 600):
        judged = judging.judge_pair(db, people["jo"], REF, pair, "negative", "negative")
        assert (judged.late, str(judged.earned)) == (True, "0.05 USD")
        with refusal(Conflict, "too_late"):
            judging.next_to_judge(db, people["jo"], REF)
