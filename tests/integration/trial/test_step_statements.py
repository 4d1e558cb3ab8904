"""A step in a trial asks the database seldom, however many steps there were; who asks is one statement."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, Actor, Scope
from quintain.services.access.tokens import actor_for_token, create_token
from quintain.services.collect.writing.sessions import start_session
from quintain.services.collect.writing.submit_attempt import submit_attempt
from quintain.services.pay import ledger
from quintain.services.pay.earnings import my_earnings
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.participation import answer_quiz, enter, quiz_step, trial_part
from quintain.services.trial.trials import open_trial, put_trial
from tests.beginnings import Build
from tests.collecting import TASK
from tests.integration.trial.life import WHERE, text
from tests.people import RoleName, make_person
from tests.statements import counted

Found = TypeVar("Found")
pytestmark = pytest.mark.both_databases
PLAIN = """
name = "plain"
[[stages]]
name = "tutorial"
[stages.tutorial]
pay = 350
[[stages.tutorial.quizzes]]
name = "first"
[[stages.tutorial.quizzes.pairs]]
ask = "Which is harder?"
first = "It rains."
second = "It has rained before it rained."
right = "second"
[[stages.tutorial.quizzes.pairs]]
ask = "Which is shorter?"
first = "It rains."
second = "It has rained before it rained."
right = "first"
[[stages]]
name = "writing"
writing = {items = 2, sessions = 50, final = true, pay = 350}
"""
# Statements of one step, with those that let nobody else in meanwhile (on PostgreSQL); who asks is one more.
WHO = 1
LOOK = 3
TAKE_IN = 5  # more, where a look finds something finished: what is shown and what is added to are brought up to date
QUIZ = 3
ROUNDS = 1  # more at the first look, as what a transaction has not committed is kept for nobody
FIRST_ANSWER = 6  # before which it is asked what may be spent
LAST_ANSWER = 27  # which ends the tutorial: it is paid, which may reach a cap, and one may write; a writer's own course
BEGIN = 15  # among them, whether the round is there for the person, how often they wrote, what they were shown; a lock
WRITE = 9  # one of them keeps the round's counts
END = 11  # more, where a text is the last of its session, which is then paid; the first opens accounts


def _begin(workspace: Workspace, folder: Path) -> None:
    with workspace.session() as db:
        put_task(db, OPERATOR, TASK)
        put_trial(db, OPERATOR, *WHERE, [PLAIN])
        open_trial(db, workspace.blobs, OPERATOR, *WHERE)


@pytest.fixture
def beginning() -> Build:
    """Begin with an open trial."""
    return _begin


def test_no_step_asks_more_than_it_must(workspace: Workspace) -> None:
    """Somebody goes through a trial; each step stays below its bound, the last as the first, and all is paid once."""
    with workspace.session() as db:
        person = make_person(db, "worker", RoleName.WORKER)
        secret, _ = create_token(db, person, "steps", scopes=Scope)
        actor_for_token(db, secret)  # notes that it was used, which the next ones need not

    def step(bound: int, do: Callable[[Session, Actor], Found]) -> Found:
        """Do one step as a request does: in a session of its own, and by somebody who has to be known first."""
        with counted(workspace) as sent, workspace.session() as db:
            found = do(db, actor_for_token(db, secret))
        assert len(sent) <= WHO + bound, "\n".join(sent)
        return found

    with workspace.session() as db:
        enter(db, person, *WHERE)
    for answer, bound in (("second", FIRST_ANSWER), ("first", LAST_ANSWER)):
        assert step(LOOK + 2, lambda db, actor: trial_part(db, actor, *WHERE)).quiz
        asked = step(QUIZ, lambda db, actor: quiz_step(db, actor, *WHERE))
        assert asked is not None
        step(
            bound,
            lambda db, actor, asked=asked, answer=answer: answer_quiz(
                db, actor, *WHERE, quiz=asked.quiz, step=asked.step, answer=answer
            ),
        )
    for number in range(4):
        part = step(LOOK + (TAKE_IN if number else ROUNDS), lambda db, actor: trial_part(db, actor, *WHERE))
        assert (part.what, part.sessions_left) == ("work", 50 - number)
        place = f"mood/{part.round}"
        key = step(BEGIN, lambda db, actor, place=place: start_session(db, workspace.blobs, actor, place)).key
        for bound in (WRITE, WRITE + END):
            step(
                bound,
                lambda db, actor, key=key: submit_attempt(
                    db, workspace.blobs, actor, key, {"text": text()}, target="neutral", token=text()[:80]
                ),
            )
    with workspace.session() as db:
        assert trial_part(db, person, *WHERE).sessions_left == 46
        assert len(my_earnings(db, person)) == 1 + 4
        assert not ledger.check(db, OPERATOR).discrepancies
