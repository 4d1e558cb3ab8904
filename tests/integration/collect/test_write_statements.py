"""Writing asks the database seldom, and what is kept between requests is never stale."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import Conflict
from quintain.core.people import Actor
from quintain.services.access.actors import actor_of, find_user
from quintain.services.access.sign_in import open_session, start_session
from quintain.services.collect.rounds.manage import put_round
from quintain.services.collect.writing.sessions import find_place
from quintain.services.collect.writing.sessions import start_session as start
from quintain.services.collect.writing.submit_attempt import desk
from quintain.services.models.registry import get_model, update_card, versions_by_id
from quintain.services.tasks.definitions import get_task, list_tasks, put_task
from quintain.store.blobs import Blobs
from quintain.store.queries.collect import attempts as queries
from quintain.store.tables import Attempt, AttemptBand
from tests.collecting import ONE, ROUND, TASK, add_round, submit
from tests.evaluation import CARD
from tests.refusals import refusal
from tests.statements import counted

pytestmark = pytest.mark.both_databases
BOUND = 13  # of an attempt on a prompt, two of them counts; one more on PostgreSQL, where the text is locked
DESK = 7


def test_an_attempt_asks_the_database_few_times(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """However many attempts there are, the next one takes no more statements; nor does the page after them."""
    info = add_round(db, blobs, owner, tmp_path)
    key = start(db, blobs, worker, info.ref).key
    for number in range(3):
        db.rollback()
        with counted(workspace) as sent:
            submit(db, blobs, worker, key, f"It was bad in ways that number {number * 977} cannot tell.")
        locks = sum("advisory" in statement for statement in sent)
        assert len(sent) - locks <= BOUND, "\n".join(sent)
    with counted(workspace) as sent:
        assert len(desk(db, worker, key).verdicts) == 3
    assert len(sent) <= DESK, "\n".join(sent)


def test_who_asks_is_one_statement(workspace: Workspace, db: Session, owner: Actor) -> None:
    """A browser's session is found together with its person and all roles that they hold."""
    put_task(db, owner, TASK)
    token = start_session(db, owner).token
    expected = actor_of(db, find_user(db, owner.name))
    assert len(expected.grants) > 1
    db.rollback()
    with counted(workspace) as sent:
        found = open_session(db, token)
    assert found is not None
    assert found.actor == expected
    assert len(sent) == 1


def test_a_changed_task_or_round_is_seen_at_once(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """Files are read once and kept by their text, so that a new one is never taken for the old one."""
    info = add_round(db, blobs, owner, tmp_path)
    key = start(db, blobs, worker, info.ref).key
    assert find_place(db, worker, key).task.label_names == ("negative", "neutral", "positive")
    put_task(db, owner, TASK.replace('"positive"]', '"positive", "mixed"]'))
    for found in (get_task(db, "mood"), find_place(db, worker, key).task, list_tasks(db)[0].task):
        assert found.label_names == ("negative", "neutral", "positive", "mixed")
    text = ROUND.format(more="number = 1", targets=ONE, tables="").replace("Fool the word counter", "Again")
    put_round(db, owner, text)
    assert find_place(db, worker, key).info.spec.title == "Again"


def test_the_newest_card_comes_with_a_version(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """A version that is found by its id says the same as one that is found by its name."""
    add_round(db, blobs, owner, tmp_path)
    for card in (CARD, CARD + "\nEdited.\n", CARD + "\nEdited again.\n"):
        update_card(db, owner, "mood/counter", card)
        version = get_model(db, owner, "mood/counter").version
        assert versions_by_id(db, [version.id]) == {version.id: version}
        assert version.card == card


def test_the_same_text_is_found_among_many_that_are_like_it(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """The same text comes first, however many newer ones share a band with it; a retracted one is none."""
    info = add_round(db, blobs, owner, tmp_path)
    key = start(db, blobs, worker, info.ref).key
    first = submit(db, blobs, worker, key, "It was bad, and the evening went on for ever and ever after that.")
    submit(db, blobs, worker, key, "It was bad, and the evening went on for ever and ever after that!!! Yes.")
    made = db.get_one(Attempt, first.attempt_id)
    bands = list(db.scalars(select(AttemptBand.band)))
    assert [(one.id, one.same) for one in queries.like(db, made.text_key, bands, limit=1)] == [(made.id, True)]
    with refusal(Conflict, "duplicate_text"):
        submit(db, blobs, worker, key, "it was bad and the evening went on for ever and ever after that")


def test_a_token_belongs_to_one_session(db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path) -> None:
    """An attempt is found again by its session and its token; another token, an empty one or a NUL finds none."""
    info = add_round(db, blobs, owner, tmp_path)
    key = start(db, blobs, worker, info.ref).key
    made = submit(db, blobs, worker, key, "It was bad.", token="one")
    assert find_place(db, worker, key, "one").before == made.attempt_id
    assert [find_place(db, worker, key, other).before for other in ("two", "", "one\x00")] == [None] * 3
