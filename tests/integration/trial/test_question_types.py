"""Types of questions that a protocol asks for: enforced where people write, in the export, counted in the report."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor, RoleName
from quintain.protocols.reading import parse_protocol
from quintain.services.collect.rounds.export import attempts_table
from quintain.services.collect.writing.sessions import get_session, start_session
from quintain.services.collect.writing.submit_attempt import submit_attempt
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.participation import answer_quiz, enter, trial_part
from quintain.services.trial.reporting import open_pool, report
from quintain.services.trial.trials import open_trial, put_trial
from quintain.store.blobs import Blobs
from tests.collecting import TASK
from tests.integration.trial.life import PLAIN, TRAINED, WHERE, text
from tests.people import make_person
from tests.validation_support import judge_all, make_judges

TYPED = 'question_types = ["cause", "time", "number"]\n' + PLAIN.replace("items = 1, sessions = 2", "items = 2")


def _write(db: Session, blobs: Blobs, actor: Actor, key: str, of_type: str) -> None:
    submit_attempt(
        db, blobs, actor, key, {"text": text()}, target="neutral", token=f"{key}{text()}"[:80], of_type=of_type
    )


def test_the_items_of_a_session_are_of_different_types(db: Session, blobs: Blobs, owner: Actor) -> None:
    """A missing, unknown or repeated type is refused with those that are left, and nothing is used up by it."""
    put_task(db, owner, TASK)
    put_trial(db, owner, *WHERE, [TYPED])
    open_trial(db, blobs, owner, *WHERE)
    writer = make_person(db, "wanda", RoleName.WORKER)
    enter(db, writer, *WHERE)
    number = trial_part(db, writer, *WHERE).round
    session = start_session(db, blobs, writer, f"mood/{number}")
    assert session.types == ("cause", "time", "number")
    with pytest.raises(BadInput, match="field 'type': is missing; choose one of cause, time, number"):
        _write(db, blobs, writer, session.key, "")
    with pytest.raises(BadInput, match="'place' is not one of cause, time, number"):
        _write(db, blobs, writer, session.key, "place")
    _write(db, blobs, writer, session.key, "time")
    with pytest.raises(BadInput, match="you have written one of type 'time' here; choose cause, number"):
        _write(db, blobs, writer, session.key, "time")
    assert get_session(db, writer, session.key).types == ("cause", "number")
    assert get_session(db, writer, session.key).attempts_left == 1
    _write(db, blobs, writer, session.key, "cause")
    assert trial_part(db, writer, *WHERE).what == "end"
    assert sorted(attempts_table(db, owner, f"mood/{number}")["type"]) == ["cause", "time"]
    open_pool(db, owner, *WHERE)
    judge_all(db, make_judges(db, 4), lambda inputs: "neutral", ref="mood/trial-training")
    sections = {one.key: one for one in report(db, blobs, owner, *WHERE).sections}
    assert [row[1:] for row in sections["make-up"].tables[0].rows] == [
        ["cause", "plain", 1, 0.5],
        ["time", "plain", 1, 0.5],
    ]


def test_types_are_asked_for_in_exercises_of_a_tutorial(db: Session, blobs: Blobs, owner: Actor) -> None:
    """An item of an exercise without a type is refused, and so is a tutorial with more items than there are types."""
    typed = 'question_types = ["cause", "time"]\n' + TRAINED
    with pytest.raises(BadInput, match="'tutorial' has 3 items in a session, and there are only 2 types"):
        parse_protocol(typed.replace("contexts = 1\nitems = 1", "contexts = 1\nitems = 3"))
    put_task(db, owner, TASK)
    put_trial(db, owner, *WHERE, [typed])
    open_trial(db, blobs, owner, *WHERE)
    writer = make_person(db, "wanda", RoleName.WORKER)
    enter(db, writer, *WHERE)
    answer_quiz(db, writer, *WHERE, quiz="first", step=1, answer="second")
    session = start_session(db, blobs, writer, f"mood/{trial_part(db, writer, *WHERE).round}")
    assert session.types == ("cause", "time")
    with pytest.raises(BadInput, match="choose one of cause, time"):
        _write(db, blobs, writer, session.key, "")
    _write(db, blobs, writer, session.key, "cause")
    assert trial_part(db, writer, *WHERE).what == "wait"


def test_fewer_types_than_items_of_a_session_are_refused() -> None:
    """They could not differ."""
    with pytest.raises(BadInput, match="2 items in a session, and there are only 1 types"):
        parse_protocol(TYPED.replace('"cause", ', "").replace(', "number"', ""))
