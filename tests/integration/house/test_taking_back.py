"""What can be undone is undone where it was done: a task comes back into the lists, and a model into its runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import select
from typer.testing import Result

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import Conflict, Forbidden
from quintain.core.people import OPERATOR
from quintain.services.access.actors import actor_of, find_user
from quintain.services.contest.contests import put_contest
from quintain.services.evaluate.cells.lifecycle import cancel, fill
from quintain.services.models.registry import get_model, restore, withdraw
from quintain.services.tasks.definitions import is_archived
from quintain.services.work.quizzes import put_quiz, quiz_definition
from quintain.store.database import transaction
from quintain.store.queries.models.tried import REFUSED
from quintain.store.tables import Cell, Tryout
from tests.integration.house.test_stale_edits import CONTEST, QUIZ
from tests.web_support import browser_of, on_one_line, post, running, token_for

TASK = "/tasks/sentiment"
MODEL = f"{TASK}/models/tfidf"


def test_an_archived_task_comes_back_where_it_went(own_demo: Workspace) -> None:
    """The page leads back to its button, and names the contest that goes on."""
    owner, settings = browser_of(own_demo, "demo-owner"), f"{TASK}/settings"
    with own_demo.session() as db:
        put_contest(db, OPERATOR, CONTEST)
    assert "Its contest “Build it, break it” is not over" in on_one_line(owner.get(settings))
    answer = post(owner, settings, f"{TASK}/archive")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{settings}#archive")
    page = on_one_line(owner.get(settings))
    assert "It can be put back here." in page
    assert "Put this task back" in page
    assert 'href="/tasks/sentiment"' not in owner.get("/").text
    assert post(owner, settings, f"{TASK}/restore").status_code == 303
    assert 'href="/tasks/sentiment"' in owner.get("/").text
    stranger = browser_of(own_demo, "demo-worker")
    assert post(stranger, "/account", f"{TASK}/restore").status_code == 403


def test_programs_take_back_what_they_took_away(own_demo: Workspace, cli: Callable[..., Result]) -> None:
    """API, client and commands know the way back for tasks and models."""
    with running(own_demo) as url:
        program = Client(url, token_for(own_demo, "demo-owner"))
        program.archive_task("nli")
        program.restore_task("nli")
        assert program.withdraw_model("sentiment/tfidf@1").withdrawn_at
        assert program.restore_model("sentiment/tfidf@1").withdrawn_at is None
    at = ("-w", own_demo.settings.workspace)
    assert cli(*at, "model", "withdraw", "sentiment/tfidf@1").exit_code == 0
    assert "is back" in cli(*at, "model", "restore", "sentiment/tfidf@1").stderr
    with own_demo.session() as db:
        assert not is_archived(db, "nli")
        assert get_model(db, OPERATOR, "sentiment/tfidf@1").version.withdrawn_at is None


def test_a_model_comes_back_with_the_runs_that_it_lost(own_demo: Workspace) -> None:
    """What its withdrawal cancelled is queued again; what somebody cancelled before stays so."""
    owner = browser_of(own_demo, "demo-owner")
    with own_demo.session() as db:
        fill(db, "sentiment")
        number = get_model(db, OPERATOR, "sentiment/tfidf").version.id
        states = select(Cell.id, Cell.state).where(Cell.model_version_id == number).order_by(Cell.id)
        before = dict(db.execute(states).tuples().all())
        queued = [cell for cell, state in before.items() if state == "queued"]
        cancel(db, OPERATOR, queued[0])
        assert post(owner, MODEL, f"{MODEL}/withdraw", version="1").status_code == 303
        db.rollback()
        assert {state for cell, state in db.execute(states) if cell in queued} == {"cancelled"}
        assert "Take version 1 back" in on_one_line(owner.get(f"{MODEL}?version=1"))
        assert post(owner, f"{MODEL}?version=1", f"{MODEL}/restore", version="1").status_code == 303
        db.rollback()
        assert dict(db.execute(states).tuples().all()) == {**before, queued[0]: "cancelled"}


def test_what_was_refused_does_not_come_back_by_that(own_demo: Workspace) -> None:
    """A version that failed its trial is mended and sent again; and nobody takes back what is not theirs."""
    with own_demo.session() as db:
        with pytest.raises(Forbidden):
            restore(db, actor_of(db, find_user(db, "demo-worker")), "sentiment/tfidf")
        version = withdraw(db, OPERATOR, "sentiment/tfidf@1")
        with transaction(db):
            db.merge(Tryout(version_id=version.id, state=REFUSED))
        with pytest.raises(Conflict, match="was refused when it was tried"):
            restore(db, OPERATOR, "sentiment/tfidf@1")


def test_a_retired_quiz_is_taken_into_use_again(own_demo: Workspace, cli: Callable[..., Result]) -> None:
    """Where it was retired its button brings it back; so do programs and commands."""
    with own_demo.session() as db:
        put_quiz(db, OPERATOR, "sentiment", "entry", QUIZ)
    owner, results = browser_of(own_demo, "demo-owner"), f"{TASK}/quizzes/entry/results"
    assert post(owner, results, f"{TASK}/quizzes/entry/retire").headers["location"] == results
    assert "Take it into use again" in on_one_line(owner.get(results))
    assert post(owner, results, f"{TASK}/quizzes/entry/restore").status_code == 303
    with running(own_demo) as url:
        program = Client(url, token_for(own_demo, "demo-owner"))
        assert program.retire_quiz("sentiment/entry").retired
        assert not program.restore_quiz("sentiment/entry").retired
    at = ("-w", own_demo.settings.workspace, "task", "quiz")
    assert cli(*at, "retire", "sentiment/entry").exit_code == 0
    assert "in use again" in cli(*at, "restore", "sentiment/entry").stderr
    with own_demo.session() as db:
        assert quiz_definition(db, OPERATOR, "sentiment", "entry") == QUIZ
