"""Claiming, extending, returning and lapsing of pages of slots, on both databases."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import Actor, RoleName
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import manage as validate
from quintain.services.validate.judging import claim_page, submit_page
from quintain.services.validate.judging.submit_page import Answer
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.validate import claims
from quintain.store.queries.validate import slots as slot_queries
from quintain.store.tables import Earning, Judgement, JudgingNote, Slot, ValidationItem
from tests.people import make_person
from tests.refusals import refusal
from tests.validation_support import REF, TASK, answer_page, judge_all, make_ground, make_judges, truth

pytestmark = pytest.mark.both_databases


def test_a_page_has_ten_different_items_and_is_given_again_while_it_is_held(db: Session, owner: Actor) -> None:
    """A double click gets the same page."""
    make_ground(db, owner, 30)
    (actor,) = make_judges(db, 1)
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    assert len(page.items) == 10
    assert len({item.inputs["text"] for item in page.items}) == 10
    assert claim_page.claim_page(db, actor, REF) == page
    assert claim_page.get_page(db, actor, page.token) == page


def test_asking_many_times_at_once_gives_one_page(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Whoever comes first makes the page, all others get it too, and no slot is leased twice."""
    ground = make_ground(db, owner, 200)
    (actor,) = make_judges(db, 1)

    def ask(_: int) -> claim_page.ClaimedPage | None:
        with workspace.session() as mine:
            return claim_page.claim_page(mine, actor, REF)

    with ThreadPoolExecutor(6) as pool:
        pages = list(pool.map(ask, range(12)))
    assert pages[0] is not None
    assert len({page.token for page in pages if page}) == 1
    assert all(page == pages[0] for page in pages)
    assert slot_queries.counts(db, ground.id) == {"leased": 10, "open": 990}


def test_a_page_kept_alive_at_the_last_moment_is_not_ended(
    db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had lapsed when the claim looked, and was extended before the claim wrote."""
    make_ground(db, owner, 30)
    (actor,) = make_judges(db, 1)
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    later = page.lease_until + timedelta(seconds=5)
    look = claims.outlook

    def look_and_extend(*given: Any) -> claims.Outlook:
        monkeypatch.setattr(claims, "outlook", look)
        found = look(*given)
        claim_page.extend_page(db, actor, page.token, moment=later - timedelta(seconds=6))
        return found

    monkeypatch.setattr(claims, "outlook", look_and_extend)
    again = claim_page.claim_page(db, actor, REF, moment=later)
    assert again is not None
    assert again.token == page.token
    assert again.lease_until > later


def test_every_item_gets_five_judgements_from_five_people(db: Session, owner: Actor) -> None:
    """Seven judges finish twenty items: a hundred judgements, nobody twice on an item."""
    ground = make_ground(db, owner, 20)
    judge_all(db, make_judges(db, 7))
    given = db.execute(select(Judgement.item_id, Judgement.user_id)).all()
    assert len(given) == 100
    assert set(Counter(item for item, _ in given).values()) == {5}
    assert slot_queries.counts(db, ground.id) == {"filled": 100}


def test_items_with_the_fewest_judgements_come_first(db: Session, owner: Actor) -> None:
    """After three pages of ten over thirty items, each was offered once; a returned page comes first again."""
    make_ground(db, owner, 30)
    people = make_judges(db, 5)
    pages = [claim_page.claim_page(db, actor, REF) for actor in people[:3]]
    texts = [item.inputs["text"] for page in pages if page for item in page.items]
    assert len(set(texts)) == 30
    assert pages[0] is not None
    claim_page.return_page(db, people[0], pages[0].token)
    again = claim_page.claim_page(db, people[3], REF)
    assert again is not None
    assert {item.inputs["text"] for item in again.items} == {item.inputs["text"] for item in pages[0].items}


def test_nobody_sees_an_item_twice(db: Session, owner: Actor) -> None:
    """Items that were returned, skipped or lapsed are not shown to the same person again."""
    make_ground(db, owner, 25)
    (actor,) = make_judges(db, 1)
    first = claim_page.claim_page(db, actor, REF)
    assert first is not None
    claim_page.return_page(db, actor, first.token)
    second = claim_page.claim_page(db, actor, REF)
    assert second is not None
    submit_page.submit_page(db, actor, second.token, [Answer(item.id, skip="unclear") for item in second.items])
    third = claim_page.claim_page(db, actor, REF, moment=now())
    assert third is not None
    seen = [item.inputs["text"] for page in (first, second, third) for item in page.items]
    assert len(seen) == len(set(seen)) == 25
    assert claim_page.claim_page(db, actor, REF, moment=now() + timedelta(hours=2)) is None


def test_nobody_judges_what_they_wrote(db: Session, owner: Actor) -> None:
    """An author gets no page of their own items, and an answer to one is refused."""
    make_ground(db, owner, 4)
    author, other = make_judges(db, 2)
    with transaction(db):
        db.query(Slot).update({"author_id": author.user_id})
    assert claim_page.claim_page(db, author, REF) is None
    page = claim_page.claim_page(db, other, REF)
    assert page is not None
    with transaction(db):
        db.query(ValidationItem).update({"author_id": other.user_id})
    with pytest.raises(Forbidden, match="wrote themselves"):
        answer_page(db, other, page)


def test_a_lapsed_lease_goes_back_and_a_late_answer_is_kept_and_paid(db: Session, owner: Actor) -> None:
    """The slot is filled by the one who holds it; the late judgement is extra."""
    ground = make_ground(db, owner, 5, "judgements = 1\nminimum = 1\n[reward]\namount = 100")
    slow, quick = make_judges(db, 2)
    start = now()
    page = claim_page.claim_page(db, slow, REF, moment=start)
    later = start + timedelta(seconds=ground.policy.lease_seconds + 1)
    taken = claim_page.claim_page(db, quick, REF, moment=later)
    assert page is not None
    assert taken is not None
    assert len(taken.items) == 5
    late = answer_page(db, slow, page)
    assert (late.judged, late.late) == (5, 5)
    assert answer_page(db, quick, taken).late == 0
    assert slot_queries.counts(db, ground.id) == {"filled": 5}
    fillers = set(db.scalars(select(Judgement.user_id).join(Slot, Slot.judgement_id == Judgement.id)))
    assert fillers == {quick.user_id}
    assert sorted(db.scalars(select(Earning.amount))) == [50, 50]


def test_a_late_answer_fills_its_slot_while_nobody_else_has_it(db: Session, owner: Actor) -> None:
    """A lapse alone loses no work."""
    ground = make_ground(db, owner, 5, "judgements = 1\nminimum = 1")
    (actor,) = make_judges(db, 1)
    page = claim_page.claim_page(db, actor, REF, moment=now() - timedelta(days=1))
    assert page is not None
    with transaction(db):
        claims.reclaim(db, ground.id, now())
    assert slot_queries.counts(db, ground.id) == {"open": 5}
    assert answer_page(db, actor, page).late == 0
    assert slot_queries.counts(db, ground.id) == {"filled": 5}


def test_nothing_is_paid_for_pages_that_were_given_back(db: Session, owner: Actor) -> None:
    """Claiming and giving back in a loop, then answering everything late, earns nothing; a replay stays harmless."""
    make_ground(db, owner, 20, "judgements = 1\nminimum = 1\npage_size = 5\n[reward]\namount = 100")
    (actor,) = make_judges(db, 1)
    returned = claim_page.claim_page(db, actor, REF)
    assert returned is not None
    claim_page.return_page(db, actor, returned.token)
    with refusal(Conflict, "page_over"):
        answer_page(db, actor, returned)
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    some = [Answer(item.id, "positive") for item in page.items]
    submit_page.submit_page(db, actor, page.token, some[:2])
    with refusal(Conflict, "page_over"):
        submit_page.submit_page(db, actor, page.token, some)
    assert submit_page.submit_page(db, actor, page.token, some[:2]).judged == 0
    assert len(list(db.scalars(select(Earning.amount)))) == 1


def test_nobody_holds_a_page_for_ever(db: Session, owner: Actor) -> None:
    """Heartbeats lengthen a lease so many times and no more; then the items go to others."""
    make_ground(db, owner, 5, "judgements = 1\nminimum = 1\nlease_seconds = 60")
    actor, other = make_judges(db, 2)
    start = now()
    page = claim_page.claim_page(db, actor, REF, moment=start)
    assert page is not None
    moments = [start + timedelta(seconds=50 * beat) for beat in range(1, 40)]
    held = [claim_page.extend_page(db, actor, page.token, moment=moment).held for moment in moments]
    assert held[0] == 5
    assert held[-1] == 0
    taken = claim_page.claim_page(db, other, REF, moment=moments[-1])
    assert taken is not None
    assert len(taken.items) == 5


def test_a_page_that_is_alive_keeps_its_slots(db: Session, owner: Actor) -> None:
    """A heartbeat begins the lease anew, so nobody else gets the items; an ended page cannot be extended."""
    make_ground(db, owner, 5, "judgements = 1\nminimum = 1\nlease_seconds = 60")
    actor, other = make_judges(db, 2)
    start = now()
    page = claim_page.claim_page(db, actor, REF, moment=start)
    assert page is not None
    lease = claim_page.extend_page(db, actor, page.token, moment=start + timedelta(seconds=50))
    assert lease.held == 5
    assert claim_page.claim_page(db, other, REF, moment=start + timedelta(seconds=100)) is None
    claim_page.return_page(db, actor, page.token)
    with pytest.raises(Conflict, match="returned"):
        claim_page.extend_page(db, actor, page.token)


def test_answers_can_be_handed_in_one_at_a_time_and_again(db: Session, owner: Actor) -> None:
    """A replay changes nothing; another answer to the same item is refused; a page pays its full reward once."""
    make_ground(db, owner, 10, "[reward]\namount = 25")
    (actor,) = make_judges(db, 1)
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    for item in page.items:
        receipt = submit_page.submit_page(db, actor, page.token, [Answer(item.id, truth(item.inputs))], finish=False)
    assert receipt.left == 0
    again = answer_page(db, actor, page)
    assert (again.judged, again.earned.amount) == (0, 25)
    assert sum(db.scalars(select(Earning.amount))) == 25
    with pytest.raises(Conflict, match="answered before"):
        submit_page.submit_page(db, actor, page.token, [Answer(page.items[0].id, "mixed")])


def test_labels_outside_the_set_are_named_and_nothing_is_kept(db: Session, owner: Actor) -> None:
    """One bad answer of ten keeps all of them out."""
    make_ground(db, owner, 10)
    (actor,) = make_judges(db, 1)
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    answers = [Answer(item.id, truth(item.inputs)) for item in page.items]
    answers[3] = Answer(page.items[3].id, "postive")
    with pytest.raises(BadInput, match="row 4, field 'label': label 'postive' is not one of negative, neutral"):
        submit_page.submit_page(db, actor, page.token, answers)
    assert not db.scalars(select(Judgement)).all()
    for wrong, message in (
        (Answer(page.items[0].id), "neither"),
        (Answer(page.items[0].id, "positive", skip="x"), "both"),
        (Answer(page.items[0].id, skip=" "), "needs a reason"),
        (Answer(10**6, "positive"), "not on this page"),
    ):
        with pytest.raises(BadInput, match=message):
            submit_page.submit_page(db, actor, page.token, [wrong])


def test_skips_and_flags_are_facts_and_a_skipped_slot_goes_back(db: Session, owner: Actor) -> None:
    """The owner can read why; the slot is open for others."""
    ground = make_ground(db, owner, 2, "judgements = 1\nminimum = 1")
    (actor,) = make_judges(db, 1)
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    one, two = page.items
    receipt = submit_page.submit_page(
        db, actor, page.token, [Answer(one.id, skip="no idea"), Answer(two.id, "neutral", flag="names a person")]
    )
    assert (receipt.judged, receipt.skipped, receipt.flagged) == (1, 1, 1)
    assert {(note.kind, note.text) for note in db.scalars(select(JudgingNote))} == {
        ("skip", "no idea"),
        ("flag", "names a person"),
    }
    assert slot_queries.counts(db, ground.id) == {"open": 1, "filled": 1}


def test_pages_belong_to_those_who_hold_them(db: Session, owner: Actor) -> None:
    """Somebody else's page is not there, and people without a role get none; a paused validation gives none."""
    make_ground(db, owner, 5)
    actor, other = make_judges(db, 2)
    page = claim_page.claim_page(db, actor, REF)
    assert page is not None
    with pytest.raises(NotFound, match="no such page"):
        answer_page(db, other, page)
    with pytest.raises(Forbidden, match="role"):
        claim_page.claim_page(db, make_person(db, "nobody"), REF)
    validate.set_state(db, owner, REF, validate.ValidationState.PAUSED)
    with pytest.raises(Conflict, match="paused"):
        claim_page.claim_page(db, other, REF)
    assert answer_page(db, actor, page).judged == 5
    with pytest.raises(NotFound, match="no validation"):
        claim_page.claim_page(db, actor, "mood/7")


def test_choices_are_judged_by_their_numbers_and_texts_as_right_or_wrong(db: Session, owner: Actor) -> None:
    """Kinds without labels are judged too."""
    tasks.put_task(db, owner, TASK)
    choice = '\nname = "quiz"\nkind = "multiple-choice"\ntitle = "Quiz"\n[[extra_labels]]\nname = "invalid"\n'
    spans = '\nname = "find"\nkind = "extractive-qa"\ntitle = "Find"\n[[extra_labels]]\nname = "no answer"\n'
    for toml in (choice, spans):
        tasks.put_task(db, owner, toml)
    validate.open_validation(db, owner, "quiz/check")
    inputs = {"passage": "Ida ran.", "question": "Who ran?", "options": ["Ida", "Bo"]}
    validate.add_items(db, owner, "quiz/check", [{"inputs": inputs, "answer": 0}])
    validate.open_validation(db, owner, "find/check")
    spans_row = {"inputs": {"passage": "Ida ran.", "question": "Who?"}, "answer": [{"text": "Ida", "start": 0}]}
    validate.add_items(db, owner, "find/check", [spans_row])
    actor = make_person(db, "jo", RoleName.WORKER)
    first, second = claim_page.claim_page(db, actor, "quiz/check"), claim_page.claim_page(db, actor, "find/check")
    assert first is not None
    assert second is not None
    assert [label.name for label in first.items[0].labels] == ["0", "1", "invalid"]
    assert first.items[0].answer is None
    assert [label.name for label in second.items[0].labels] == ["right", "wrong", "no answer"]
    assert second.items[0].answer == [{"text": "Ida", "start": 0}]
