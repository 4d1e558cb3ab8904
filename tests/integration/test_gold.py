"""Gold items: mixed in within limits, bonus and end of the qualification, and the entry quiz."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import Actor
from quintain.services import gold, judges, quizzes, slots
from quintain.store.tables import Earning, Judgement, Offer, ValidationItem
from tests.validation_support import LABELS, REF, answer_page, judge_all, make_ground, make_judges, truth


def add(db: Session, owner: Actor, count: int) -> int:
    """Add gold items."""
    rows = [
        {"inputs": {"text": f"gold {n} feels {LABELS[n % 3]}"}, "label": LABELS[n % 3], "note": "it says so"}
        for n in range(count)
    ]
    return gold.add_gold(db, owner, REF, rows)


def wrong_on_gold(inputs: dict[str, Any]) -> str:
    """Say the truth, except on gold items."""
    return "mixed" if inputs["text"].startswith("gold") else truth(inputs)


def test_one_item_in_ten_is_gold_and_looks_like_the_others(db: Session, owner: Actor) -> None:
    """Pages keep their size; gold items take no slots and do not count as votes."""
    make_ground(db, owner, 60)
    assert add(db, owner, 30) == 30
    assert add(db, owner, 30) == 0
    (actor,) = make_judges(db, 1)
    for _ in range(4):
        page = slots.claim_page(db, actor, REF)
        assert page is not None
        assert len(page.items) == 10
        assert sum(item.inputs["text"].startswith("gold") for item in page.items) == 1
        assert "gold" not in str(set(page.as_dict()["items"][0]))
        answer_page(db, actor, page)
    (row,) = judges.judge_table(db, owner, REF)
    assert (row["judgements"], row["gold_seen"], row["gold"]["value"]) == (36, 4, 1.0)


def test_exposure_is_limited_per_item_and_per_person(db: Session, owner: Actor) -> None:
    """An item is shown at most twice, a person sees at most one; the least shown come first."""
    make_ground(db, owner, 60, "[gold]\nrate = 0.5\nexposures = 2\nper_worker = 1")
    add(db, owner, 2)
    people = make_judges(db, 6)
    judge_all(db, people)
    shown = select(Offer.user_id, Offer.item_id).where(Offer.slot_id.is_(None))
    pairs = db.execute(shown).all()
    assert len(pairs) <= 4 + 6
    listed = gold.list_gold(db, owner, REF)
    assert all(item.shown >= 1 for item in listed)
    assert all(item.shown == item.answered == item.right for item in listed)


def test_doing_badly_on_gold_ends_the_qualification_and_doing_well_earns_a_bonus(db: Session, owner: Actor) -> None:
    """Below half of at least four control items, no more pages; three of four right earn the bonus, once."""
    policy = "judgements = 2\nminimum = 2\n[gold]\nrate = 0.4\nafter = 4\nbonus = 50\n[reward]\namount = 10"
    make_ground(db, owner, 40, policy)
    add(db, owner, 20)
    bad, good = make_judges(db, 2)
    page = slots.claim_page(db, bad, REF)
    assert page is not None
    receipt = answer_page(db, bad, page, wrong_on_gold)
    assert not receipt.qualified
    assert receipt.feedback == "0 of 4 control items were right; 50% is needed"
    with pytest.raises(Forbidden, match="control items"):
        slots.claim_page(db, bad, REF)
    fine = slots.claim_page(db, good, REF)
    assert fine is not None
    assert answer_page(db, good, fine).qualified
    bonuses = db.execute(select(Earning.user_id, Earning.amount).where(Earning.kind == "bonus")).all()
    assert bonuses == [(good.user_id, 50)]
    base = select(func.sum(Earning.amount)).where(Earning.kind == "base", Earning.user_id == bad.user_id)
    assert db.scalar(base) == 10
    assert db.scalar(select(func.count()).select_from(Judgement).where(Judgement.user_id == bad.user_id)) == 10


def test_the_entry_quiz_is_five_gold_questions_of_which_three_must_be_right(db: Session, owner: Actor) -> None:
    """Without it there is no page; its questions are not shown on pages."""
    make_ground(db, owner, 10, "[quiz]\nname = 'judge'")
    with pytest.raises(Conflict, match="5 gold questions, and there are 0"):
        gold.make_quiz(db, owner, REF)
    add(db, owner, 5)
    assert gold.make_quiz(db, owner, REF) == "judge"
    (actor,) = make_judges(db, 1)
    with pytest.raises(Forbidden, match="quiz"):
        slots.claim_page(db, actor, REF)
    asked = quizzes.get_quiz(db, owner, "mood", "judge")
    assert (len(asked.questions), asked.right) == (5, 3)
    assert asked.questions[0].options == ("negative", "neutral", "positive", "mixed")
    right = [question.answer or 0 for question in asked.questions]
    quizzes.take_quiz(db, actor, "mood", "judge", [*right[:3], 3, 3])
    page = slots.claim_page(db, actor, REF)
    assert page is not None
    assert not any(item.inputs["text"].startswith("gold") for item in page.items)


def test_gold_items_are_checked_and_can_be_retired(db: Session, owner: Actor) -> None:
    """A label outside the set is named with its row; a retired item is shown no more."""
    make_ground(db, owner, 10)
    with pytest.raises(BadInput, match="row 1, field 'label': label 'sad' is not one of"):
        gold.add_gold(db, owner, REF, [{"inputs": {"text": "oh"}, "label": "sad"}])
    with pytest.raises(BadInput, match="no inputs"):
        gold.add_gold(db, owner, REF, [{"label": "neutral"}])
    add(db, owner, 1)
    item = db.scalar(select(ValidationItem.id).where(ValidationItem.gold.is_not(None)))
    assert item is not None
    gold.retire_gold(db, owner, REF, item)
    assert gold.list_gold(db, owner, REF)[0].retired
    (actor,) = make_judges(db, 1)
    page = slots.claim_page(db, actor, REF)
    assert page is not None
    assert not any(one.inputs["text"].startswith("gold") for one in page.items)
    with pytest.raises(NotFound, match="no gold item"):
        gold.retire_gold(db, owner, REF, 10**6)
