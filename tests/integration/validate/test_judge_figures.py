"""What was measured of the judges is kept until something happens, in this process or in another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy.orm import Session

from quintain.compose import Workspace, create_workspace
from quintain.core.people import Actor
from quintain.services.validate import adjudicate, handing_out, judge_figures, judges
from quintain.services.validate import items as validation_items
from quintain.services.validate import validations as validate
from quintain.services.validate.judge_figures import MeasuredJudges, measured
from quintain.services.validate.unqualify import requalify, unqualify
from quintain.settings import Settings
from tests.validation_support import REF, answer_page, judge_all, make_ground, make_judges


@pytest.fixture
def elsewhere(settings: Settings, workspace: Workspace) -> Iterator[Session]:
    """A session of another process on the same database: it shares no memory that is kept by engine."""
    other = create_workspace(settings)
    with other.session() as session:
        yield session
    other.engine.dispose()


def known(db: Session, ref: str = REF) -> MeasuredJudges:
    """Give what is known of the judges now."""
    db.rollback()
    return measured(db, validate.find(db, ref))


def test_nothing_is_read_again_while_nothing_happens(
    db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists, previews and the queue of contested items share one reading of the judgements."""
    make_ground(db, owner, 12)
    judge_all(db, make_judges(db, 5))
    first = known(db)
    monkeypatch.setattr(judge_figures, "gather", None)
    assert known(db) is first
    assert len(judges.judge_table(db, owner, REF)) == 5
    assert validation_items.list_items(db, owner, REF).counts["labelled"] == 12
    assert adjudicate.queue(db, owner, REF) == []


def test_every_act_elsewhere_is_seen(db: Session, owner: Actor, elsewhere: Session) -> None:
    """Judgements that are added, set aside and restored by one process change the figures of another."""
    make_ground(db, owner, 12, "automatic = false")
    people = make_judges(db, 6)
    judge_all(db, people[:5])
    assert len(known(elsewhere).evidence.counted) == 60
    unqualify(db, owner, REF, [people[0].name], reason="a test")
    assert len(known(elsewhere).evidence.counted) == 48
    page = handing_out.claim_page(db, people[5], REF)
    assert page is not None
    answer_page(db, people[5], page, lambda _: "mixed")
    assert len(known(elsewhere).evidence.counted) == 58
    assert {row["worker"]: row["judgements"] for row in judges.judge_table(elsewhere, owner, REF)}[people[5].name] == 10
    requalify(db, owner, REF, people[0].name, restore=True)
    assert len(known(elsewhere).evidence.counted) == 70
    assert known(elsewhere) is known(elsewhere)


def test_what_depends_on_more_than_judgements_is_always_as_it_is(db: Session, owner: Actor, elsewhere: Session) -> None:
    """An expert's decision and a changed policy show at once, though no judgement has come."""
    make_ground(db, owner, 3)
    turns = iter(["negative", "neutral", "positive", "mixed", "negative"] * 3)
    for actor in make_judges(db, 5):
        page = handing_out.claim_page(db, actor, REF)
        assert page is not None
        said = next(turns)
        answer_page(db, actor, page, lambda _: said)  # noqa: B023 - used at once
    assert [item.label for item in validation_items.list_items(elsewhere, owner, REF).items] == [None] * 3
    elsewhere.rollback()
    (first, *_) = adjudicate.queue(db, owner, REF)
    adjudicate.adjudicate(db, owner, REF, first.id, "neutral")
    assert [item.label for item in validation_items.list_items(elsewhere, owner, REF).items].count("neutral") == 1
    elsewhere.rollback()
    validate.set_policy(db, owner, REF, "minimum = 2")
    labels = [item.label for item in validation_items.list_items(elsewhere, owner, REF).items]
    assert sorted(str(label) for label in labels) == ["negative", "negative", "neutral"]


def test_few_validations_are_kept_and_no_huge_one(db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that was asked about longest ago is read again; one with too many judgements always is."""
    refs = [f"mood/v{number}" for number in range(judge_figures.KEPT + 1)]
    for ref in refs:
        make_ground(db, owner, 1, ref=ref)
    found = {ref: known(db, ref) for ref in refs}
    assert [known(db, ref) is found[ref] for ref in refs[1:]] == [True] * judge_figures.KEPT
    assert known(db, refs[0]) is not found[refs[0]]
    monkeypatch.setattr(judge_figures, "MOST_KEPT", 0)
    judge_all(db, make_judges(db, 5), ref=refs[0])
    assert known(db, refs[0]) is not known(db, refs[0])
