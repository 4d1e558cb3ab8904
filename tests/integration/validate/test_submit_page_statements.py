"""What handing in a page asks of the database: little, and no more however much was judged before."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import Actor
from quintain.services.validate.console import manage
from quintain.services.validate.judging import claim_page, submit_page
from quintain.services.validate.judging.submit_page import Answer
from quintain.services.validate.quality import gold, unqualify
from quintain.store.queries.validate import judgements
from quintain.store.tables import Earning, Notification, Slot
from tests.statements import counted
from tests.validation_support import LABELS, REF, answer_page, judge_all, make_ground, make_judges, truth

POLICY = "judgements = 2\nminimum = 2\n[gold]\nrate = 0.4\nafter = 4\nbonus = 50\nbonus_every = 4\n"
PAID = "[reward]\namount = 10"
MOST = 24  # where nothing is folded it is 22


def hand_in(workspace: Workspace, db: Session, actor: Actor) -> list[str]:
    """Let somebody hand in a page, and give what was sent."""
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    with counted(workspace) as sent:
        answer_page(db, actor, page)
    return sent


def add_gold(db: Session, owner: Actor, count: int) -> None:
    """Add gold items."""
    rows = [{"inputs": {"text": f"gold {n} feels {LABELS[n % 3]}"}, "label": LABELS[n % 3]} for n in range(count)]
    gold.add_gold(db, owner, REF, rows)


@pytest.mark.both_databases
def test_a_judge_of_many_pages_asks_no_more_than_a_new_one(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Each page costs as many statements as the one before, although each ends a run of gold items that is paid."""
    make_ground(db, owner, 120, POLICY + PAID)
    add_gold(db, owner, 40)
    actor, other = make_judges(db, 2)
    for judge in (actor, other):
        answer_page(db, judge, claim_page.claim_page(db, judge, REF))  # type: ignore[arg-type]  # there is enough
    sent = [len(hand_in(workspace, db, actor)) for _ in range(6)]
    assert max(sent) <= MOST + 12  # a bonus is booked as the base pay is
    assert max(sent) - min(sent) <= 8  # folding a tail takes some
    paid = select(func.count()).where(Earning.kind == "bonus", Earning.user_id == actor.user_id)
    assert db.scalar(paid) == 7


@pytest.mark.both_databases
def test_a_page_of_ten_takes_few_statements(workspace: Workspace, db: Session, owner: Actor) -> None:
    """However many items and slots a page has, all are read and written together."""
    make_ground(db, owner, 60, PAID)
    actor, other = make_judges(db, 2)
    for judge in (actor, other):
        answer_page(db, judge, claim_page.claim_page(db, judge, REF))  # type: ignore[arg-type]  # there is enough
    sent = hand_in(workspace, db, actor)
    assert len(sent) <= MOST, "\n".join(sent)
    assert sum("INTO judgements" in one for one in sent) == 1
    assert not any("'open', lease_until = NULL" in one for one in sent)  # nothing is left to give back


@pytest.mark.both_databases
def test_a_bonus_that_is_promised_later_is_paid_for_what_was_done(db: Session, owner: Actor) -> None:
    """Runs of gold items that were right before the owner promised anything are paid with the next page, once."""
    make_ground(db, owner, 80, POLICY.replace("bonus = 50", "bonus = 0") + PAID)
    add_gold(db, owner, 40)
    (actor,) = make_judges(db, 1)
    bonuses = select(Earning.work).where(Earning.kind == "bonus").order_by(Earning.id)
    for _ in range(2):
        answer_page(db, actor, claim_page.claim_page(db, actor, REF))  # type: ignore[arg-type]  # there is enough
    assert db.scalars(bonuses).all() == []
    manage.set_policy(db, owner, REF, POLICY + PAID)
    for _ in range(2):
        answer_page(db, actor, claim_page.claim_page(db, actor, REF))  # type: ignore[arg-type]  # there is enough
    works = list(db.scalars(bonuses))
    assert [work.rsplit(":", 1)[-1] for work in works] == ["0", "1", "2", "3"]


@pytest.mark.both_databases
def test_who_begins_anew_is_known_for_one_as_for_all(db: Session, owner: Actor) -> None:
    """The last judgement before a judge was qualified again; none for who never was, or is not now."""
    validation = make_ground(db, owner, 40)
    back, never, gone = make_judges(db, 3)
    for judge in (back, never, gone):
        answer_page(db, judge, claim_page.claim_page(db, judge, REF))  # type: ignore[arg-type]  # there is enough
    mine = max(one[0] for one in judgements.of_user(db, validation.id, back.user_id or 0))
    unqualify.unqualify(db, owner, REF, [back.name, gone.name], reason="to see")
    unqualify.requalify(db, owner, REF, back.name)
    answer_page(db, back, claim_page.claim_page(db, back, REF))  # type: ignore[arg-type]  # there is enough
    assert judgements.begun_anew(db, validation.id) == {back.user_id: mine}
    found = [judgements.begun_anew_by(db, validation.id, one.user_id or 0) for one in (back, never, gone)]
    assert found == [mine, 0, 0]


@pytest.mark.both_databases
def test_what_was_skipped_goes_back_and_the_owner_hears_once_that_all_is_judged(db: Session, owner: Actor) -> None:
    """A page that is not all judged gives its slots back; the last answer of the last batch is told of."""
    make_ground(db, owner, 20, "judgements = 1\nminimum = 1")
    first, second = make_judges(db, 2)
    page = claim_page.claim_page(db, first, REF)
    assert page is not None
    answers: Sequence[Answer] = [
        Answer(item.id, skip="unclear") if number == 0 else Answer(item.id, truth(item.inputs))
        for number, item in enumerate(page.items)
    ]
    submit_page.submit_page(db, first, page.token, answers)
    states = select(Slot.state, func.count(), func.count(Slot.lease_until)).group_by(Slot.state).order_by(Slot.state)
    assert [tuple(row) for row in db.execute(states)] == [("filled", 9, 0), ("open", 11, 0)]
    told = select(func.count()).where(Notification.kind == "judging.done")
    assert db.scalar(told) == 0
    judge_all(db, [first, second])
    assert db.scalar(told) == 1
