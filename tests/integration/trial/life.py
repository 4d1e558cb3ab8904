"""A small trial of two arms, and what its people do."""

from __future__ import annotations

from itertools import count

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.services.collect.writing.sessions import start_session
from quintain.services.collect.writing.submit_attempt import submit_attempt
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.participation import answer_quiz, quiz_step, trial_part
from quintain.services.trial.rubric import grade, next_to_grade
from quintain.services.trial.trials import OpenTrial, open_trial, put_trial
from quintain.store.blobs import Blobs
from tests.collecting import TASK

PLAIN = """
name = "plain"
workers = 4
[[stages]]
name = "writing"
writing = {items = 1, sessions = 2, final = true, pay = 100}
[validation]
votes = 2
many = 3
sample = 1
setting = 2
"""
TRAINED = """
name = "trained"
workers = 4
[[stages]]
name = "tutorial"
[stages.tutorial]
contexts = 1
items = 1
pay = 350
[[stages.tutorial.quizzes]]
name = "first"
feedback = true
[[stages.tutorial.quizzes.pairs]]
ask = "Which is harder?"
first = "It rains."
second = "It has rained before it rained."
right = "second"
why = "One reads it twice."
[[stages]]
name = "grades"
grading = {of = "tutorial", grades = 1, least = 1, hourly = 3000}
[[stages]]
name = "qualify"
qualification = {by = "grades", top = 0.5}
[[stages]]
name = "feedback"
feedback = {by = "grades"}
[[stages]]
name = "bonus"
bonus = {amount = 150}
[[stages]]
name = "final"
writing = {items = 1, sessions = 1, final = true, justification = true, pay = 100}
[validation]
votes = 2
many = 3
sample = 1
setting = 2
"""
WHERE = ("mood", "training")
_numbers = count(1)
THINGS = (
    "lantern",
    "orchard",
    "viola",
    "harbour",
    "saddle",
    "glacier",
    "kettle",
    "archive",
    "meadow",
    "violin",
    "quarry",
)
VERBS = ("sank", "burned", "returned", "dissolved", "whispered", "collapsed", "waited", "bloomed", "froze", "trembled")


def begin(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Put and open the trial."""
    put_task(db, owner, TASK)
    put_trial(db, owner, *WHERE, [PLAIN, TRAINED], title="Mood of texts")
    open_trial(db, blobs, owner, *WHERE, OpenTrial())


def text() -> str:
    """Give a text that nobody wrote before."""
    n = next(_numbers)
    return f"The {THINGS[n % 11]} of house {n} {VERBS[n % 10]} beside the {THINGS[(3 * n) % 11]} on day {7 * n}."


def write(db: Session, blobs: Blobs, actor: Actor) -> None:
    """Do one session where the trial wants one."""
    part = trial_part(db, actor, *WHERE)
    assert part.what == "work", part
    session = start_session(db, blobs, actor, f"mood/{part.round}")
    n = next(_numbers)
    why = (
        f"The {THINGS[n % 11]} {VERBS[(n + 3) % 10]} only in clause {n}, so hurried people pick {THINGS[(n + 5) % 11]}."
    )
    for _ in range(session.allowed):
        token = f"t{next(_numbers)}"
        submit_attempt(
            db, blobs, actor, session.key, {"text": text()}, target="neutral", token=token, justification=why
        )


def train(db: Session, blobs: Blobs, actor: Actor) -> None:
    """Do the tutorial: the quiz, then the exercise."""
    step = quiz_step(db, actor, *WHERE)
    assert step is not None
    assert answer_quiz(db, actor, *WHERE, quiz=step.quiz, step=step.step, answer="second") is None
    write(db, blobs, actor)


def grade_all(db: Session, actor: Actor) -> int:
    """Grade all that waits for an expert, each item a little better than the one before."""
    done = 0
    reading = ("none", "sentence", "sentences", "whole", "twice")
    while (task := next_to_grade(db, actor, *WHERE)) is not None:
        answers = {"answerable": "yes", "reading": reading[done % 5], "creative": "little", "distractors": "yes"}
        grade(db, actor, *WHERE, stage=task.stage, item=task.item, answers=answers)
        done += 1
    return done
