"""Nobody chooses what they are shown: a session in which nothing was written is followed by one with the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.collect import WritingSession
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.collect.writing.sessions import give_up, start_session
from quintain.services.validate.judging.retraction import retract
from quintain.store.blobs import Blobs
from tests.collecting import add_round, submit
from tests.people import make_person


@pytest.fixture
def info(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> RoundInfo:
    """An open round with prompts, in which the label to aim at is drawn."""
    return add_round(db, blobs, owner, tmp_path, more='attempts = 2\naiming = "assign"')


def begun(db: Session, blobs: Blobs, worker: Actor, info: RoundInfo) -> WritingSession:
    """Begin a session and give it up with nothing written."""
    session = start_session(db, blobs, worker, info.ref)
    give_up(db, worker, session.key)
    return session


def prompt_of(session: WritingSession) -> int:
    """Give the number of the session's prompt."""
    assert session.prompt is not None
    return session.prompt.id


def test_empty_sessions_show_the_same_again(db: Session, blobs: Blobs, worker: Actor, info: RoundInfo) -> None:
    """Twelve sessions that were ended at once show one prompt and one label; what is written from it ends that."""
    sessions = [begun(db, blobs, worker, info) for _ in range(12)]
    assert len({prompt_of(one) for one in sessions}) == 1
    assert len({one.target for one in sessions}) == 1
    again = start_session(db, blobs, worker, info.ref)
    assert (prompt_of(again), again.target) == (prompt_of(sessions[0]), sessions[0].target)
    submit(db, blobs, worker, again.key, "A dull day by the sea.", target=str(again.target))
    give_up(db, worker, again.key)
    assert prompt_of(start_session(db, blobs, worker, info.ref)) != prompt_of(again)


def test_a_prompt_that_somebody_else_has_is_not_waited_for(
    db: Session, blobs: Blobs, worker: Actor, info: RoundInfo
) -> None:
    """Who gave it back may find it taken: then it is another one's turn."""
    first = begun(db, blobs, worker, info)
    other = start_session(db, blobs, make_person(db, "willa", *(grant.role for grant in worker.grants)), info.ref)
    assert prompt_of(other) == prompt_of(first)
    assert prompt_of(start_session(db, blobs, worker, info.ref)) != prompt_of(first)


def test_taking_back_what_was_written_shows_the_same_again(
    db: Session, blobs: Blobs, worker: Actor, info: RoundInfo
) -> None:
    """Who writes anything, takes it back and goes has chosen nothing; also where they take it back later."""
    shown = []
    for number in range(4):
        session = start_session(db, blobs, worker, info.ref)
        shown.append((prompt_of(session), session.target))
        text = f"The sea was number {number} of dull things."
        written = submit(db, blobs, worker, session.key, text, target=str(session.target))
        retract(db, worker, written.attempt_id)
        give_up(db, worker, session.key)
    assert len(set(shown)) == 1
    session = start_session(db, blobs, worker, info.ref)
    written = submit(db, blobs, worker, session.key, "It stays dull here.", target=str(session.target))
    give_up(db, worker, session.key)
    later = begun(db, blobs, worker, info)
    assert prompt_of(later) != prompt_of(session)
    retract(db, worker, written.attempt_id)
    assert prompt_of(start_session(db, blobs, worker, info.ref)) == prompt_of(later)
    submit(
        db,
        blobs,
        worker,
        start_session(db, blobs, worker, info.ref).key,
        "A fine day inland.",
        target=str(later.target),
    )
