"""What becomes of texts that are retracted and submitted again, and of attempts that are committed out of order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.compose import Workspace, create_workspace
from quintain.core.people import Actor, RoleName
from quintain.services.collect.writing import list_attempts
from quintain.services.validate.console import audit_trail as validation_trail
from quintain.services.validate.console import export as judged_export
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console import status as validation_status
from quintain.services.validate.judging import adjudicate, claim_page, retraction, submit_page
from quintain.services.validate.judging import retraction as leaving_items
from quintain.services.validate.quality import gold, gold_list, vmer
from quintain.services.validate.quality.final_labels import final_labels
from quintain.services.validate.quality.unqualify import unqualify
from quintain.settings import Settings
from quintain.store.database import transaction
from quintain.store.tables import Attempt, AttemptNote, Round, ValidationItem
from tests.judged_rounds import REF, attempt, make_round
from tests.people import make_person
from tests.validation_support import answer_page, judge_all, make_judges

pytestmark = pytest.mark.both_databases
TEXT = "a feels positive"


@pytest.fixture
def writer(db: Session) -> Actor:
    """Somebody who writes."""
    return make_person(db, "wanda", RoleName.WORKER)


def submit(db: Session, actor: Actor, text: str = TEXT, aim: str = "positive", said: str = "negative") -> int:
    """Write an attempt to round 1, and give its id."""
    with transaction(db):
        row = Attempt(round_id=db.scalar(select(Round.id)), **attempt(actor, text, aim, said))
        db.add(row)
        db.flush()
        return row.id


def only_attempt(db: Session) -> int:
    """Give the id of the first attempt."""
    return db.scalars(select(Attempt.id).order_by(Attempt.id)).all()[0]


def retract(db: Session, actor: Actor) -> None:
    """Retract the first attempt, which its writer submitted."""
    with transaction(db):
        first = only_attempt(db)
        db.add(AttemptNote(attempt_id=first, user_id=actor.user_id, kind="retracted"))
        db.flush()
        leaving_items.stop_judging(db, first)


def shown(db: Session, actor: Actor) -> list[str]:
    """Claim a page, and give the texts on it."""
    page = claim_page.claim_page(db, actor, REF)
    return [item.inputs["text"] for item in page.items] if page else []


@pytest.mark.parametrize("policy", ["", "minimum = 2\n[adaptive]\nthreshold = 0.999\nleast = 2\n"])
def test_a_text_submitted_again_after_its_retraction_is_judged(
    db: Session, owner: Actor, writer: Actor, policy: str
) -> None:
    """Those who saw it are not asked twice, others are until it is complete; it counts for the new attempt."""
    make_round(
        db, owner, [attempt(writer, TEXT, "negative", "positive")], f"judgements = 3\nautomatic = false\n{policy}"
    )
    people = make_judges(db, 3)
    page = claim_page.claim_page(db, people[0], REF)
    assert page is not None
    answer_page(db, people[0], page)
    retract(db, writer)
    assert shown(db, people[1]) == []
    again = submit(db, writer)
    assert shown(db, people[0]) == []
    judge_all(db, people[1:], ref=REF)
    final = final_labels(db, validate.find_validation(db, REF))
    assert (final.names(), final.votes.sum(), final.complete.all()) == (["positive"], 3, True)
    assert db.scalars(select(ValidationItem.attempt_id)).all() == [again]
    rates = vmer.error_rates(db, owner, REF)
    assert (rates["collected"], rates["successes"]) == (1, 1)
    (mine,) = [one for one in vmer.my_outcomes(db, writer, REF).attempts if one["state"] == "validated"]
    assert mine["success"]


def test_a_judge_who_submits_the_text_themselves_does_not_count_for_it(
    db: Session, owner: Actor, writer: Actor
) -> None:
    """Their judgement stays in the record, its slot is filled by somebody else, and they are not shown it."""
    make_round(db, owner, [attempt(writer, TEXT, "positive", "negative")], "judgements = 2\nminimum = 2")
    people = make_judges(db, 3)
    for actor in people[:2]:
        page = claim_page.claim_page(db, actor, REF)
        assert page is not None
        answer_page(db, actor, page, lambda _: "neutral" if actor is people[0] else "positive")  # noqa: B023 - at once
    retract(db, writer)
    submit(db, people[0])
    assert shown(db, people[0]) == []
    judge_all(db, [people[2], people[0]], ref=REF)
    final = final_labels(db, validate.find_validation(db, REF))
    assert (final.names(), final.votes.sum()) == (["positive"], 2)


def test_what_was_set_aside_while_a_text_was_away_is_asked_again(db: Session, owner: Actor, writer: Actor) -> None:
    """A slot that an unqualified judge had filled is open when the text comes back."""
    make_round(db, owner, [attempt(writer, TEXT, "positive", "negative")], "judgements = 1\nminimum = 1")
    people = make_judges(db, 2)
    page = claim_page.claim_page(db, people[0], REF)
    assert page is not None
    answer_page(db, people[0], page)
    retract(db, writer)
    unqualify(db, owner, REF, [people[0].name], reason="a test")
    submit(db, writer)
    assert shown(db, people[1]) == [TEXT]


def test_a_text_that_two_wrote_outlives_the_retraction_of_one(db: Session, owner: Actor, writer: Actor) -> None:
    """The item is the first writer's; when they retract it, it is the other's, who was not shown it and will not be."""
    other = make_person(db, "otto", RoleName.WORKER)
    make_round(db, owner, [attempt(one, TEXT, "positive", "negative") for one in (writer, other)])
    assert db.scalars(select(ValidationItem.author_id)).all() == [writer.user_id]
    retract(db, writer)
    assert shown(db, other) == []
    assert shown(db, make_judges(db, 1)[0]) == [TEXT]
    db.rollback()
    assert db.scalars(select(ValidationItem.author_id)).all() == [other.user_id]


def test_what_an_owner_withholds_is_not_judged_by_submitting_it_again(db: Session, owner: Actor, writer: Actor) -> None:
    """A new attempt with the same text does not bring it back; the owner's change of mind does."""
    make_round(db, owner, [attempt(writer, TEXT, "positive", "negative")])
    (actor,) = make_judges(db, 1)
    with transaction(db):
        list_attempts.report(db, actor, only_attempt(db), "personal data")
    (flag,) = list_attempts.flag_queue(db, owner, REF).flags
    retraction.decide_flag(db, owner, flag.id, withhold=True)
    submit(db, writer)
    assert shown(db, actor) == []
    retraction.decide_flag(db, owner, flag.id, withhold=False)
    assert shown(db, actor) == [TEXT]


def test_what_is_retracted_is_read_by_nobody_and_counts_nowhere(
    db: Session, owner: Actor, writer: Actor, tmp_path: Path
) -> None:
    """Neither experts nor owners meet the text: not as contested, gold, noted, or in what they export or count."""
    make_round(db, owner, [attempt(writer, TEXT, "positive", "negative"), attempt(writer, "b", "positive", "negative")])
    people = make_judges(db, 5)
    quarrel = ["negative", "neutral", "positive", "mixed", "negative"]
    for actor, said in zip(people, quarrel, strict=True):
        page = claim_page.claim_page(db, actor, REF)
        assert page is not None
        answers = [submit_page.Answer(item.id, said, flag="odd") for item in page.items]
        submit_page.submit_page(db, actor, page.token, answers)
    first = db.scalars(select(ValidationItem.id).where(ValidationItem.attempt_id == only_attempt(db))).one()
    assert len(adjudicate.adjudication_queue_of(db, owner, REF)) == 2
    adjudicate.adjudicate(db, owner, REF, first, "positive")
    gold.gold_from_item(db, owner, REF, first)
    retract(db, writer)
    assert [one.inputs["text"] for one in adjudicate.adjudication_queue_of(db, owner, REF)] == ["b"]
    assert gold_list.list_gold(db, owner, REF).gold == []
    assert {one.inputs["text"] for one in validation_trail.notes(db, owner, REF)} == {"b"}
    assert judged_export.export_labels(db, owner, REF, tmp_path / "labels.csv") == 1
    assert TEXT not in (tmp_path / "labels.csv").read_text()
    found = validation_status.status(db, owner, REF)
    assert (found["progress"]["items"], found["progress"]["complete"], found["progress"]["kept"]) == (1, 1, 5)
    assert found["labels"]["positive"] == 0
    assert found["agreement"]["items"] == 1
    assert validation_status.progress(db, owner, REF)["items"] == 1


@pytest.mark.postgres
def test_an_attempt_that_is_committed_out_of_order_is_judged(
    new_database: Callable[[str], str], tmp_path: Path
) -> None:
    """Of two open transactions the second gets the higher id and ends first; what the first wrote is taken in later."""
    workspace: Workspace = create_workspace(Settings(workspace=tmp_path / "w", database_url=new_database("postgres")))
    with workspace.session() as db, workspace.session() as early, workspace.session() as late:
        owner = make_person(db, "olga", RoleName.OWNER)
        writer = make_person(db, "wanda", RoleName.WORKER)
        make_round(db, owner, [])
        round_id = db.scalar(select(Round.id))
        db.rollback()
        early.add(Attempt(round_id=round_id, **attempt(writer, "early feels positive", "positive", "negative")))
        early.flush()
        late.add(Attempt(round_id=round_id, **attempt(writer, "late feels positive", "positive", "negative")))
        late.commit()
        first, second = make_judges(db, 2)
        assert shown(db, first) == ["late feels positive"]
        early.commit()
        assert sorted(shown(db, second)) == ["late feels positive"]
        page = claim_page.claim_page(db, first, REF)
        assert page is not None
        answer_page(db, first, page)
        assert shown(db, first) == ["early feels positive"]
    workspace.engine.dispose()
