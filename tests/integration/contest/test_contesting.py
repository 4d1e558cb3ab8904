"""Contesting pairs costs, what was decided is not contested, and whoever has to decide is told and has the means."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import ANONYMOUS, Actor
from quintain.core.records.contests import ContestPair
from quintain.core.records.house import WaitingKind
from quintain.services.access.notify import list_notifications, mark_read
from quintain.services.contest import contests, freeze, judging, rulings, scores
from quintain.services.house.waiting import waiting_for
from quintain.store.blobs import Blobs
from tests.beginnings import Build
from tests.contests import REF, ask_otherwise, during, with_whole_contest
from tests.refusals import refusal

REASON = "The evening is still blamed in it."
JUDGES = ("jo", "jim", "jule")


@pytest.fixture
def beginning() -> Build:
    """A contest of three teams in which everybody did their part."""
    return with_whole_contest


def _pair(db: Session, blobs: Blobs, actor: Actor, name: str) -> ContestPair:
    listed = scores.list_pairs(db, blobs, actor, REF).pairs
    pair = scores.get_pair(db, blobs, actor, REF, next(one.id for one in listed if one.name == name))
    assert pair is not None
    return pair


def _judge(db: Session, people: dict[str, Actor], *labels: str) -> None:
    """Let judges say what the modified sentence of the next pair is."""
    for name, label in zip(JUDGES, labels, strict=False):
        pair = judging.next_to_judge(db, people[name], REF)
        assert pair is not None
        judging.judge_pair(db, people[name], REF, pair.id, "negative", label)


def _texts(db: Session, actor: Actor) -> list[str]:
    return [one.text for one in list_notifications(db, actor)]


def test_a_claim_says_something_once_and_is_given_back_where_it_was_right(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """Reasons without substance are refused, a second claim on a pair too; one that was upheld does not count."""
    ask_otherwise(db, disputes=1)
    with during("review"):
        first, second = (_pair(db, blobs, people["anna"], name) for name in ("p0", "p1"))
        for reason in ("", "x" * 40, "No. No. No. No. No.", "y" * 2001):
            with pytest.raises(BadInput, match="reason"):
                rulings.contest_pair(db, people["anna"], REF, second.id, reason)
        rulings.contest_pair(db, people["anna"], REF, second.id, REASON)
        with refusal(Conflict, "contested_already"):
            rulings.contest_pair(db, people["anna"], REF, second.id, REASON)
        with pytest.raises(Conflict, match="which is all that this contest allows"):
            rulings.contest_pair(db, people["anna"], REF, first.id, REASON)
        rulings.rule_pair(db, owner, REF, second.id, "drop", reason="It blames the evening.")
        claims = rulings.list_disputes(db, people["anna"], REF)
        assert (claims.used, claims.allowed, [one.upheld for one in claims.disputes]) == (0, 1, [True])
        rulings.contest_pair(db, people["anna"], REF, first.id, REASON)
        assert rulings.list_disputes(db, people["anna"], REF).used == 1
        assert [one.by for one in rulings.list_disputes(db, owner, REF).disputes] == ["words", "words"]
        with pytest.raises(Forbidden, match="for the teams"):
            rulings.list_disputes(db, people["jo"], REF)


def test_what_judges_have_settled_is_not_contested_and_organisers_decide_anew(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """A claim that would change nothing is refused, and says who could still change something."""
    with during("review"):
        pair = _pair(db, blobs, people["anna"], "p1")
        rulings.contest_pair(db, people["anna"], REF, pair.id, REASON)
        _judge(db, people, "negative", "positive", "negative")
        assert _pair(db, blobs, people["anna"], "p1").status == "settled"
        with refusal(Conflict, "pair_settled") as refused:
            rulings.contest_pair(db, people["cleo"], REF, pair.id, REASON)
        assert (refused.value.code, "decide anew" in refused.value.remedy) == ("pair_settled", True)
        rulings.rule_pair(db, owner, REF, pair.id, "keep", reason="Most people would praise it.")
        with refusal(Conflict, "pair_settled"):
            rulings.contest_pair(db, people["cleo"], REF, pair.id, REASON)
        assert _pair(db, blobs, people["anna"], "p1").modified_label == "positive"


def test_organisers_are_told_where_judges_disagree_and_teams_what_was_decided(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """It waits for the organisers, with what judges said; teams concerned read the reason, and nobody reads a name."""
    ask_otherwise(db, judges=2)
    with during("review"):
        pair = _pair(db, blobs, owner, "p1")
        rulings.contest_pair(db, people["anna"], REF, pair.id, REASON)
        assert any(REASON in text for text in _texts(db, people["ben"]))
        assert not any(one.kind is WaitingKind.RULE for one in waiting_for(db, owner))
        _judge(db, people, "negative", "positive")
        assert sum("wait for your decision" in text for text in _texts(db, owner)) == 1
        [errand] = [one for one in waiting_for(db, owner) if one.kind is WaitingKind.RULE]
        assert (errand.url, errand.count) == ("/tasks/mood/contests/spring/decide", 1)
        [waiting] = scores.list_pairs(db, blobs, owner, REF, status="waiting").pairs
        shown = scores.get_pair(db, blobs, owner, REF, waiting.id)
        assert shown is not None
        assert (shown.objections, shown.why) == ((REASON,), "no majority")
        assert shown.votes is not None
        assert [one.modified_label for one in shown.votes] == ["negative", "positive"]
        assert _pair(db, blobs, people["anna"], "p1").votes is None
        with pytest.raises(BadInput, match="Say why"):
            rulings.rule_pair(db, owner, REF, pair.id, "keep")
        rulings.rule_pair(db, owner, REF, pair.id, "keep", reason="Most would praise it.")
        for name, told in (("anna", True), ("ben", True), ("cleo", False)):
            ruling = _pair(db, blobs, people[name], "p1").ruling
            assert (ruling.reason if ruling else "") == ("Most would praise it." if told else "")
            texts = [text for text in _texts(db, people[name]) if "Most would praise it." in text]
            assert len(texts) == told
            assert not any("olga" in text.casefold() for text in texts)
        assert scores.list_pairs(db, blobs, owner, REF, status="waiting").total == 0


def test_final_results_wait_for_the_organisers_where_the_contest_says_so(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """Until they have decided, the end is for teams only, labels stay hidden, and the organisers are told once."""
    ask_otherwise(db, undecided="wait")
    with during("review"):
        pair = _pair(db, blobs, owner, "p1")
        rulings.contest_pair(db, people["anna"], REF, pair.id, REASON)
    with during("over"):
        for _ in range(2):
            freeze.freeze_due(db, blobs)
        assert sum("wait for your decision" in text for text in _texts(db, owner)) == 1
        with refusal(Conflict, "undecided") as refused:
            scores.results(db, blobs, ANONYMOUS, REF)
        assert refused.value.code == "undecided"
        seen = scores.results(db, blobs, people["anna"], REF)
        assert (seen.provisional, seen.waiting, seen.score.contested) == (True, 1, 1)
        assert freeze.parts_of(db, contests.find_contest(db, REF))["pairs"].hidden
        assert [one.kind for one in waiting_for(db, owner)].count(WaitingKind.RULE) == 1
        assert rulings.rule_rest(db, owner, REF, "Nobody showed that it is wrong.").pairs == 1
        assert rulings.rule_rest(db, owner, REF, "Nobody showed that it is wrong.").pairs == 0
        assert any("Nobody showed that it is wrong." in text for text in _texts(db, people["ben"]))
        found = scores.results(db, blobs, ANONYMOUS, REF)
        assert (found.provisional, found.waiting, found.expired) == (False, 0, 0)
        assert not freeze.parts_of(db, contests.find_contest(db, REF))["pairs"].hidden
        assert not any(one.kind is WaitingKind.RULE for one in waiting_for(db, owner))


def test_what_nobody_contests_is_to_be_judged_and_not_contested(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """Where judges look at all pairs, those that wait are called that, in the score and in the exported table."""
    ask_otherwise(db, minimality=True)
    with during("review"):
        first = _pair(db, blobs, people["anna"], "p0")
        assert first.status == "undecided"
        rulings.contest_pair(db, people["anna"], REF, first.id, REASON)
        found = scores.results(db, blobs, owner, REF).score
        assert (found.contested, found.undecided) == (1, 2)
        assert found.with_contested is not None
        assert scores.list_pairs(db, blobs, owner, REF, status="undecided").total == 2
        with pytest.raises(BadInput, match="'strange' is not one of"):
            scores.list_pairs(db, blobs, owner, REF, status="strange")
    with during("over"):
        assert scores.results(db, blobs, ANONYMOUS, REF).expired == 3


def test_organisers_contest_without_a_quota_and_are_asked_where_nobody_judges(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """Without judges a contested pair waits for the organisers at once; a message comes again once it was read."""
    ask_otherwise(db, validation="none", disputes=0)
    with during("review"):
        first, second = (_pair(db, blobs, owner, name) for name in ("p0", "p1"))
        with pytest.raises(Conflict, match="contested 0 pairs"):
            rulings.contest_pair(db, people["anna"], REF, first.id, REASON)
        rulings.contest_pair(db, owner, REF, first.id, REASON)
        assert scores.list_pairs(db, blobs, owner, REF, status="waiting").total == 1
        mark_read(db, owner)
        rulings.contest_pair(db, owner, REF, second.id, REASON)
        assert [one.read_at is None for one in list_notifications(db, owner)] == [True, False]
        with pytest.raises(NotFound):
            rulings.contest_pair(db, owner, REF, 999, REASON)
