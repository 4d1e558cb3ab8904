"""People of one source are one voice wherever something is judged: in grading for a trial and in pairs of a contest."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.services.collect.panels.admission import Visitor
from quintain.services.collect.panels.panel_people import confirm_guests
from quintain.services.tasks.definitions import put_task
from quintain.services.trial import panel_entry
from quintain.services.trial.participation import enter, trial_part
from quintain.services.trial.rubric import grade, next_to_grade
from quintain.services.trial.stages import close_stage
from quintain.services.trial.trials import OpenTrial, open_trial, put_trial
from quintain.store.blobs import Blobs
from tests.collecting import TASK
from tests.integration.trial.life import WHERE, write
from tests.integration.trial.test_grading import FAIR, PROMOTED
from tests.integration.trial.test_trial_entry import BASE, DOORS, key_in

HERE = Visitor(device="one browser", address="192.0.2.7")
ELSEWHERE = Visitor(device="another browser", address="192.0.2.99")


@pytest.fixture
def keys(db: Session, blobs: Blobs, owner: Actor) -> tuple[str, str]:
    """An open trial that experts come to by a door: the keys of its two addresses."""
    put_task(db, owner, TASK)
    put_trial(db, owner, *WHERE, [PROMOTED])
    open_trial(db, blobs, owner, *WHERE, OpenTrial())
    entries = panel_entry.put_doors(db, owner, *WHERE, f"experts = true\n{DOORS}", base_url=BASE)
    return key_in(entries.entry), key_in(entries.grading)


def _come(db: Session, key: str, person: str, visitor: Visitor) -> Actor:
    actor = panel_entry.enter(db, key, {"pid": person}, visitor).actor
    assert actor is not None
    return actor


def _grade_all(db: Session, actor: Actor) -> list[str]:
    """Grade whatever somebody is given, and return what it was."""
    graded = []
    while (item := next_to_grade(db, actor, *WHERE)) is not None:
        graded.append(item.item)
        grade(db, actor, *WHERE, stage=item.stage, item=item.item, answers=FAIR)
    return graded


@pytest.mark.parametrize("confirmed", [False, True])
def test_nobody_grades_their_own_texts_by_an_invented_id(
    db: Session, blobs: Blobs, owner: Actor, keys: tuple[str, str], confirmed: bool
) -> None:
    """From the writer's browser no id is given the writer's texts, though the writer be confirmed; elsewhere one is."""
    to_write, to_grade = keys
    writer = _come(db, to_write, "P1", HERE)
    enter(db, writer, *WHERE)
    for _ in range(2):
        write(db, blobs, writer)
    trial_part(db, writer, *WHERE)
    if confirmed:
        confirm_guests(db, owner, "mood", everybody=True)
    close_stage(db, owner, *WHERE, "graded", "first")
    assert [_grade_all(db, _come(db, to_grade, person, HERE)) for person in ("E1", "E2")] == [[], []]
    assert len(_grade_all(db, _come(db, to_grade, "E3", ELSEWHERE))) == 2
