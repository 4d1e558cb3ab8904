"""Quizzes and qualifications: who may do which work, and why."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Forbidden, NotFound, TooMany
from quintain.core.people import Actor
from quintain.core.records.work import Reason
from quintain.core.rounds import Money
from quintain.services.collect.writing.readiness import readiness, record_choice
from quintain.services.collect.writing.sessions import start_session
from quintain.services.pay.earnings import decide, earn, my_earnings
from quintain.services.tasks.definitions import find_row, put_task
from quintain.services.work import quizzes
from quintain.services.work.qualify import (
    add_fact,
    eligibility,
    fooling_fact,
    qualification_history,
    record_fact,
    require_eligible,
    set_qualification,
    state_fact,
    why,
)
from quintain.services.work.quizzes import get_quiz, practise, put_quiz, take_quiz
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.tables import User, WorkerFact
from tests.collecting import TASK, add_round, writers
from tests.refusals import refusal

QUIZ = {
    "instructions": "Read this.",
    "questions": [
        {"text": "Which is positive?", "options": ["good", "bad"], "answer": 0, "explanation": "Good is."},
        {"text": "Which is negative?", "options": ["good", "bad"], "answer": 1},
    ],
    "practice": [{"text": "And 'meh'?", "options": ["positive", "neutral"], "answer": 1, "explanation": "Neither."}],
}


def add_quiz(db: Session, owner: Actor) -> None:
    """Add a task with a quiz."""
    put_task(db, owner, TASK)
    put_quiz(db, owner, "mood", "intro", QUIZ)


@pytest.mark.both_databases
def test_a_quiz_hides_its_answers_and_all_must_be_right(db: Session, owner: Actor, worker: Actor) -> None:
    """A worker sees no answers, learns how many were right, and gets the explanations after passing."""
    add_quiz(db, owner)
    seen = get_quiz(db, worker, "mood", "intro")
    assert [question.answer for question in (*seen.questions, *seen.practice)] == [None, None, None]
    assert get_quiz(db, owner, "mood", "intro").questions[0].answer == 0
    assert (seen.tries_left, seen.right, seen.passed) == (5, 2, False)
    failed = take_quiz(db, worker, "mood", "intro", [0, 0])
    assert (failed.passed, failed.right, failed.tries_left, failed.explanations) == (False, 1, 4, ())
    passed = take_quiz(db, worker, "mood", "intro", [0, 1])
    assert (passed.passed, passed.explanations) == (True, ("Good is.", ""))
    assert get_quiz(db, worker, "mood", "intro").passed


def test_after_five_failures_there_is_a_rest(
    db: Session, owner: Actor, worker: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sixth try is refused until the rest is over."""
    add_quiz(db, owner)
    for _ in range(5):
        last = take_quiz(db, worker, "mood", "intro", [1, 1])
    assert last.tries_left == 0
    assert last.rest_until is not None
    with pytest.raises(TooMany, match="rest until") as caught:
        take_quiz(db, worker, "mood", "intro", [0, 1])
    assert 23 * 3600 < caught.value.retry_after <= 24 * 3600 + 1
    monkeypatch.setattr(quizzes, "now", lambda: now() + timedelta(hours=25))
    assert take_quiz(db, worker, "mood", "intro", [0, 1]).passed


def test_practice_explains_and_keeps_nothing(db: Session, owner: Actor, worker: Actor) -> None:
    """Every answer in practice gets feedback."""
    add_quiz(db, owner)
    feedback = practise(db, worker, "mood", "intro", 0, 0)
    assert (feedback.right, feedback.answer, feedback.explanation) == (False, 1, "Neither.")
    assert get_quiz(db, worker, "mood", "intro").tries_left == 5
    with pytest.raises(NotFound):
        practise(db, worker, "mood", "intro", 1, 0)


def test_a_bad_quiz_is_refused_with_every_fault(db: Session, owner: Actor, worker: Actor) -> None:
    """Missing questions, wrong answers and unknown keys are named; only owners may put one."""
    put_task(db, owner, TASK)
    questions = [{"text": "", "options": ["a"], "answer": 3}, {"text": "x", "options": ["a", "b"], "answer": 2}]
    bad = {"tries": 0, "colour": 1, "questions": questions}
    with pytest.raises(BadInput) as caught:
        put_quiz(db, owner, "mood", "Intro!", bad)
    questions_of = {"questions.text", "questions.options", "questions.answer"}
    assert {fault.field for fault in caught.value.faults} == {"tries", "colour", "name"} | questions_of
    assert "entry 2: is 2, not an option's number from 0 to 1" in [fault.reason for fault in caught.value.faults]
    with pytest.raises(Forbidden):
        put_quiz(db, worker, "mood", "intro", QUIZ)
    add_quiz(db, owner)
    with pytest.raises(BadInput, match="answer each"):
        take_quiz(db, worker, "mood", "intro", [0])


@pytest.mark.both_databases
def test_each_rule_gives_a_reason(db: Session, owner: Actor, worker: Actor) -> None:
    """Account age, quizzes, rates, work done, country, language, roles and qualifications, met and unmet."""
    add_quiz(db, owner)
    user_id = worker.user_id or 0
    rules = [
        {"rule": "account_age", "days": 3},
        {"rule": "quiz", "name": "intro"},
        {"rule": "approval_rate", "at_least": 0.95, "of": 2},
        {"rule": "validated_fooling", "at_least": 0.2, "of": 10},
        {"rule": "completed", "at_least": 1},
        {"rule": "country", "one_of": ["DE", "AT"]},
        {"rule": "language", "one_of": ["de"]},
        {"rule": "role", "role": "expert"},
        {"rule": "holds", "name": "validator"},
        {"rule": "lacks", "name": "resting"},
    ]
    before = eligibility(db, user_id, rules, task="mood")
    assert [reason.ok for reason in before] == [False] * 3 + [True] + [False] * 5 + [True]
    with pytest.raises(Forbidden, match=r"0 days old; 3 are needed.*“intro” has not been passed"):
        require_eligible(db, user_id, rules, task="mood")
    take_quiz(db, worker, "mood", "intro", [0, 1])
    state_fact(db, worker, "country", "de")
    state_fact(db, worker, "language", "de")
    set_qualification(db, owner, "mood", worker.name, "validator", held=True)
    set_qualification(db, owner, "mood", worker.name, "resting", held=True, reason="too fast")
    with transaction(db):
        db.get_one(User, user_id).created_at = now() - timedelta(days=4)
        add_fact(db, user_id, "approval_rate", "0.98", source="prolific")
        add_fact(db, user_id, "validated_fooling:mood", "3/12", source="validation")
    after = {reason.rule: reason for reason in why(db, worker, "mood", rules)}
    assert {rule for rule, reason in after.items() if not reason.ok} == {"completed", "role", "lacks"}
    assert after["validated_fooling"].text.endswith("25% (3 of 12); 20% is needed.")
    assert "said by prolific" in after["approval_rate"].text
    assert why(db, owner, "mood", rules, worker.name) == list(after.values())
    with pytest.raises(Forbidden):
        why(db, writers(db, 1)[0], "mood", rules, worker.name)


@pytest.mark.both_databases
def test_a_low_rate_of_validated_fooling_bars_for_a_while_and_newcomers_never(
    db: Session, owner: Actor, worker: Actor
) -> None:
    """Too little evidence passes; a bar says until when, and ends by itself; a better rate ends it at once."""
    put_task(db, owner, TASK)
    user_id, rule = worker.user_id or 0, {"rule": "validated_fooling", "at_least": 0.5, "of": 4, "rest_days": 3}

    def decide() -> Reason:
        return eligibility(db, user_id, [rule], task="mood")[0]

    def found(rate: str) -> None:
        with transaction(db):
            add_fact(db, user_id, fooling_fact("mood"), rate, source="validation")

    assert decide().ok
    assert decide().text.endswith("counts from 4 decided examples on; there are 0.")
    found("0/3")
    assert decide().ok
    found("1/4")
    barred = decide()
    until = now() + timedelta(days=3)
    assert not barred.ok
    assert f"You can write again from {until:%Y-%m-%d}" in barred.text
    found("3/5")
    assert decide().ok
    found("3/8")
    assert not decide().ok
    with transaction(db):
        fact = db.scalars(select(WorkerFact).order_by(WorkerFact.id.desc()).limit(1)).one()
        db.execute(update(WorkerFact).where(WorkerFact.id == fact.id).values(created_at=now() - timedelta(days=4)))
    assert decide().ok
    assert "over since" in decide().text
    with pytest.raises(BadInput, match="whole number of days"):
        eligibility(db, user_id, [{**rule, "rest_days": 0}], task="mood")


def test_completed_takes_a_panels_count(db: Session, owner: Actor, admin: Actor, worker: Actor) -> None:
    """A thousand tasks done elsewhere count, and it is said who says so; what is no number is refused."""
    put_task(db, owner, TASK)
    rules = [{"rule": "completed", "at_least": 1000}]
    assert not eligibility(db, worker.user_id or 0, rules, task="mood")[0].ok
    with pytest.raises(BadInput, match="not a whole number"):
        record_fact(db, admin, worker.name, "completed", "many", source="mturk")
    record_fact(db, admin, worker.name, "completed", "1200", source="mturk")
    (reason,) = eligibility(db, worker.user_id or 0, rules, task="mood")
    assert reason.ok
    assert reason.text == "1200 tasks have been completed (said by mturk); 1000 are needed."


def test_own_decisions_count_before_what_a_panel_says(db: Session, owner: Actor, worker: Actor) -> None:
    """Once enough work was decided on here, the approval rate is ours."""
    put_task(db, owner, TASK)
    user_id, rule = worker.user_id or 0, {"rule": "approval_rate", "at_least": 0.9, "of": 2}
    with transaction(db):
        add_fact(db, user_id, "approval_rate", "1.0", source="panel")
        for number in range(2):
            task_id = find_row(db, "mood").id
            earn(db, user_id, task_id, kind="base", work=f"w{number}", money=Money(10), what="Work")
    assert eligibility(db, user_id, [rule], task="mood")[0].ok
    first, second = (one.id for one in my_earnings(db, worker))
    decide(db, owner, "mood", [first])
    decide(db, owner, "mood", [second], approved=False, reason="Copied.")
    reason = eligibility(db, user_id, [rule], task="mood")[0]
    assert (reason.ok, "50% (1 of 2)" in reason.text) == (False, True)


def test_qualifications_end_without_losing_their_history(db: Session, owner: Actor, worker: Actor) -> None:
    """Giving and ending are facts; saying the same twice adds none."""
    put_task(db, owner, TASK)
    set_qualification(db, owner, "mood", worker.name, "validator", held=True)
    set_qualification(db, owner, "mood", worker.name, "validator", held=True)
    set_qualification(db, owner, "mood", worker.name, "validator", held=False, reason="disagrees too often")
    history = qualification_history(db, worker, "mood")
    assert [(one.held, one.reason) for one in history] == [(True, ""), (False, "disagrees too often")]
    reason = eligibility(db, worker.user_id or 0, [{"rule": "holds", "name": "validator"}], task="mood")[0]
    assert reason.text == "The qualification “validator” is needed. It ended: disagrees too often"
    with pytest.raises(BadInput, match="there is no 'height' to state"):
        state_fact(db, worker, "height", "1.80")


def test_a_round_asks_for_consent_warning_quiz_and_rules(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """A worker is told what is missing, one thing after the other, and may opt out."""
    add_quiz(db, owner)
    more = 'content_warning = "Rude."\nquizzes = ["intro"]'
    rule = '[[qualifications]]\nrule = "country"\none_of = ["DE"]'
    info = add_round(db, blobs, owner, tmp_path, more=more, tables=rule)
    found = readiness(db, worker, info.ref)
    assert (found.ready, found.needs_consent, found.needs_warning, found.quizzes) == (False, False, True, ("intro",))
    with refusal(Forbidden, "consent_needed"):
        start_session(db, blobs, worker, info.ref)
    record_choice(db, worker, info.ref, "warning")
    with pytest.raises(Forbidden, match=r"quiz “intro” has not been passed.*The country is not known"):
        start_session(db, blobs, worker, info.ref)
    take_quiz(db, worker, "mood", "intro", [0, 1])
    state_fact(db, worker, "country", "DE")
    assert readiness(db, worker, info.ref).ready
    record_choice(db, worker, info.ref, "opt_out")
    with pytest.raises(Exception, match="opted out"):
        start_session(db, blobs, worker, info.ref)
    assert record_choice(db, worker, info.ref, "opt_in").ready
    assert start_session(db, blobs, worker, info.ref).attempts_left == 10
