"""An attempt whose writer never said whether others would give the label: kept, asked about again, and not counted."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.people import Actor
from quintain.services.collect.rounds.export import attempts_table
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.collect.rounds.round_figures import counters
from quintain.services.collect.writing.list_attempts import my_attempts
from quintain.services.collect.writing.sessions import give_up, start_session
from quintain.services.collect.writing.submit_attempt import confirm, get_verdict
from quintain.services.validate.console.manage import open_validation
from quintain.store.base import clock, now
from quintain.store.blobs import Blobs
from quintain.store.queries.collect import rounds as round_queries
from quintain.store.queries.trial import trials as trial_queries
from quintain.store.queries.validate import items as item_queries
from quintain.store.tables import Prompt
from tests.collecting import add_round, submit
from tests.refusals import refusal

pytestmark = pytest.mark.both_databases
FOOLING, OTHER = "What a nice evening it was.", "What a dreadful evening it was."


@pytest.fixture
def info(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> RoundInfo:
    """An open round with a model that is easily fooled."""
    return add_round(db, blobs, owner, tmp_path, more="attempts = 3")


def fooled(db: Session, blobs: Blobs, worker: Actor, info: RoundInfo) -> tuple[str, int]:
    """Fool the model and close the tab: give the session and the attempt."""
    key = start_session(db, blobs, worker, info.ref).key
    made = submit(db, blobs, worker, key, FOOLING, target="negative")
    assert (made.fooled, made.ask) == (True, "confirm")
    return key, made.attempt_id


def judged(db: Session, owner: Actor, info: RoundInfo, policy: str = "") -> int:
    """Count what comes to be judged."""
    validation = open_validation(db, owner, info.ref, policy or None)
    return item_queries.count_items(db, validation.id)


def counts(db: Session, owner: Actor, info: RoundInfo) -> tuple[int, int]:
    """Give how many attempts there are, and how many fooled the model."""
    found = counters(db, owner, info.ref)
    return found.attempts, found.fooled


@pytest.mark.parametrize("policy", ["", 'items = "fooling"'])
def test_it_is_not_judged_or_counted_until_it_is_confirmed(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, info: RoundInfo, policy: str
) -> None:
    """Neither where only what fooled is judged nor where everything is; a yes lets it in, also after others were."""
    _, attempt_id = fooled(db, blobs, worker, info)
    assert judged(db, owner, info, policy) == 0
    assert counts(db, owner, info) == (1, 0)
    assert round_queries.texts_up_to(db, info.id, 5, fooling=True) == 0
    assert trial_queries.count_final(db, info.id, fooling=True) == 0
    assert confirm(db, worker, attempt_id, True).outcome == "fooled"
    assert judged(db, owner, info, policy) == 1
    assert counts(db, owner, info) == (1, 1)
    assert round_queries.texts_up_to(db, info.id, 5, fooling=True) == 1
    assert trial_queries.count_final(db, info.id, fooling=True) == 1


def test_it_is_asked_about_at_the_next_visit(db: Session, blobs: Blobs, worker: Actor, info: RoundInfo) -> None:
    """The same session comes back with the question, also when its prompt went to somebody else meanwhile."""
    key, attempt_id = fooled(db, blobs, worker, info)
    later = now() + timedelta(days=3)
    with clock(lambda: later):
        db.execute(update(Prompt).values(generation=Prompt.generation + 1))  # somebody else has it now
        again = start_session(db, blobs, worker, info.ref)
        assert (again.key, again.pending, again.outcome) == (key, attempt_id, "")
        assert get_verdict(db, worker, attempt_id).ask == "confirm"
        assert confirm(db, worker, attempt_id, True).fooled is True


@pytest.mark.parametrize("policy", ["", 'items = "fooling"'])
def test_it_counts_as_not_confirmed_when_the_session_ends(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, info: RoundInfo, policy: str
) -> None:
    """The text is kept and seen as unanswered; nobody judges it, and no answer comes too late to be an answer."""
    key, attempt_id = fooled(db, blobs, worker, info)
    give_up(db, worker, key)
    shown = get_verdict(db, worker, attempt_id)
    assert (shown.fooled, shown.ask, shown.inputs["text"]) == (False, "", FOOLING)
    assert judged(db, owner, info, policy) == 0
    assert counts(db, owner, info) == (1, 0)
    with refusal(Conflict, "session_over"):
        confirm(db, worker, attempt_id, True)
    assert [one.fooled for one in my_attempts(db, worker)] == [False]
    row = attempts_table(db, owner, info.ref).row(0, named=True)
    assert (row["text"], row["fooled"], row["confirmed"]) == (FOOLING, False, None)


def test_a_no_takes_it_back_and_is_told_apart(db: Session, blobs: Blobs, worker: Actor, info: RoundInfo) -> None:
    """Who answers no goes on writing; who has answered may answer otherwise while the session lasts."""
    _, attempt_id = fooled(db, blobs, worker, info)
    assert confirm(db, worker, attempt_id, False).ask == ""
    again = start_session(db, blobs, worker, info.ref)
    assert (again.pending, again.attempts_left) == (None, 2)
    assert confirm(db, worker, attempt_id, True).outcome == "fooled"
