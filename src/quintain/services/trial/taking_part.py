"""Taking part in a trial: entering, what comes next, quizzes of a tutorial, letters.

Whoever takes part stays in their arm and never learns of others. What they finish in the arm's rounds is found there
and put on record whenever somebody looks, so that nothing is lost where something was interrupted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.hashing import canonical_json
from quintain.core.people import Actor, RoleName
from quintain.core.records.trial import QuizStep, ReceivedLetter, TrialPart
from quintain.core.texts import joined
from quintain.protocols import grading
from quintain.protocols.assignment import Draw
from quintain.protocols.engine import Course
from quintain.protocols.events import entered, finished, left
from quintain.protocols.reading import parse_protocol
from quintain.protocols.stages import TutorialStage
from quintain.services.access import audit
from quintain.services.access.permissions import require_role, require_user
from quintain.services.trial.courses import course_of, hold, record
from quintain.services.trial.earnings import settle
from quintain.services.trial.rounds import pass_of
from quintain.services.trial.trials import find
from quintain.services.work.qualify import eligibility, put_qualification
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.trial import trials as queries
from quintain.store.queries.work.qualify import worker_fact
from quintain.store.tables import CrowdAnswer, CrowdArm, CrowdMember, CrowdTrial

LONGEST_STRATUM = 200  # what the column holds
MAY_WORK = (RoleName.WORKER, RoleName.EXPERT, RoleName.OWNER)


def my_part(db: Session, actor: Actor, task: str, name: str) -> TrialPart:
    """Say where somebody stands in a trial, and what they can do next."""
    user_id = require_user(actor)
    trial = find(db, task, name)
    if trial.state == "draft":
        raise NotFound("There is no trial '{task}/{name}'.", task=task, name=name)
    arm = arm_of(db, trial, user_id)
    if arm is None:
        reasons = _against(db, trial, user_id, task)
        what = "shut" if trial.state != "open" or trial.data or reasons else "enter"
        return TrialPart(name, trial.title, what, "", 0, None, False, False, reasons, [])
    sync(db, trial, arm)
    rounds = queries.rounds(db, arm.id)
    letters = [
        ReceivedLetter(one.stage, one.text, one.sent_at, one.reply, one.appeal)
        for one in queries.letters_to(db, arm.id, user_id)
    ]
    with course_of(db, trial, arm) as course:
        todo = course.todo(str(user_id))
        tutorial = _tutorial(course, todo.stage)
        quiz = tutorial is not None and len(queries.answers(db, arm.id, user_id)) < _steps(tutorial)
        waiting = any(
            grading.to_grade(course.arm, stage, course.sample(stage), str(user_id))
            for stage in course.gradings()
            if stage.name in todo.grading
        )
        number = rounds.get(todo.stage, (None, None))[1] if todo.what == "work" and not quiz else None
        return TrialPart(name, trial.title, todo.what, todo.stage, todo.left, number, quiz, waiting, [], letters)


def enter(db: Session, actor: Actor, task: str, name: str) -> TrialPart:
    """Take part: an arm is drawn by the trial's seed, in balance with those who came before, once and for all."""
    user_id = require_user(actor)
    require_role(actor, *MAY_WORK, task=task)
    with transaction(db):
        trial = find(db, task, name)
        lock(db, f"entering trial {trial.id}")
        if queries.member(db, trial.id, user_id) is None:
            if trial.state != "open" or trial.data:
                raise Conflict("Trial {task}/{name} takes nobody in.", task=task, name=name)
            reasons = _against(db, trial, user_id, task)
            if reasons:
                raise Forbidden("You cannot do this work yet. {missing}", missing=joined(reasons), code="not_qualified")
            arms = {one.name: one for one in queries.arms(db, trial.id)}
            stratum = _stratum(db, user_id, parse_protocol(next(iter(arms.values())).toml).strata)
            taken = queries.member_counts(db, trial.id, stratum)
            draw = Draw(f"person {user_id}", dict.fromkeys(arms, 1), taken, stratum)
            arm = arms[draw.made(trial.seed)]
            row = CrowdMember(trial_id=trial.id, user_id=user_id, arm_id=arm.id, stratum=stratum, drawn=draw.as_dict())
            db.add(row)
            db.flush()
            record(db, trial, arm, entered(str(user_id)), user_id)
            give_passes(db, trial, arm)
            audit.record(db, actor, "trial.enter", f"{task}/{name}")
    return my_part(db, actor, task, name)


def _stratum(db: Session, user_id: int, names: Sequence[str]) -> str:
    """Name the stratum that somebody is in by what is known of them; what is not known is a value, too.

    A name of many long values is hashed, so that two strata never share one.
    """
    known = {name: worker_fact(db, user_id, name) for name in names}
    values = {name: "" if one is None else one.value.strip().lower() for name, one in known.items()}
    text = canonical_json(values).decode() if values else ""
    return text if len(text) <= LONGEST_STRATUM else hashlib.sha256(text.encode()).hexdigest()


def leave(db: Session, actor: Actor, task: str, name: str) -> TrialPart:
    """Leave a trial; what was finished is paid."""
    user_id = require_user(actor)
    with transaction(db):
        trial = find(db, task, name)
        arm = arm_of(db, trial, user_id)
        if arm is None:
            raise Conflict("You do not take part in this trial.")
        sync(db, trial, arm)
        record(db, trial, arm, left(str(user_id)), user_id)
        give_passes(db, trial, arm)
    return my_part(db, actor, task, name)


def quiz_step(db: Session, actor: Actor, task: str, name: str) -> QuizStep | None:
    """Give the next step of the tutorial's quizzes, with what is told of the one before; None where all are done."""
    user_id = require_user(actor)
    _, arm, tutorial = _at_tutorial(db, user_id, task, name)
    answered = queries.answers(db, arm.id, user_id)
    steps = [(quiz, place) for quiz in tutorial.quizzes for place in range(len(quiz.pairs))]
    told, right = "", None
    if answered:
        quiz, place = steps[len(answered) - 1]
        if quiz.feedback:
            told, right = quiz.pairs[place].why, answered[-1].right
    if len(answered) >= len(steps):
        return None
    quiz, place = steps[len(answered)]
    pair = quiz.pairs[place]
    return QuizStep(quiz.name, place + 1, len(quiz.pairs), pair.ask, pair.context, pair.first, pair.second, told, right)


def answer_quiz(
    db: Session, actor: Actor, task: str, name: str, *, quiz: str, step: int, answer: str
) -> QuizStep | None:
    """Answer one step; an answer that was given stays. Gives the next step."""
    user_id = require_user(actor)
    if answer not in {"first", "second"}:
        raise BadInput("Choose one of the two.")
    with transaction(db):
        trial, arm, tutorial = _at_tutorial(db, user_id, task, name)
        lock(db, f"quiz of {arm.id}:{user_id}")
        asked = quiz_step(db, actor, task, name)
        if asked is not None and (asked.quiz, asked.step) == (quiz, step):
            pair = next(one for one in tutorial.quizzes if one.name == quiz).pairs[step - 1]
            db.add(
                CrowdAnswer(
                    arm_id=arm.id, user_id=user_id, quiz=quiz, step=step, answer=answer, right=answer == pair.right
                )
            )
            db.flush()
        sync(db, trial, arm)
    return quiz_step(db, actor, task, name)


def reply(db: Session, actor: Actor, task: str, name: str, stage: str, text: str, *, appeal: bool = False) -> None:
    """Answer a letter, or appeal against what it says; its owner reads it."""
    user_id = require_user(actor)
    if not text.strip() or len(text) > 5000 or "\x00" in text:
        raise BadInput("Write 1 to 5,000 characters.")
    with transaction(db):
        trial = find(db, task, name)
        arm = arm_of(db, trial, user_id)
        found = queries.letters(db, arm.id, stage).get(user_id) if arm is not None else None
        if found is None or found.sent_at is None:
            raise NotFound("There is no such letter to you.")
        found.reply, found.appeal, found.replied_at = text.strip(), appeal, now()


def arm_of(db: Session, trial: CrowdTrial, user_id: int) -> CrowdArm | None:
    """Give the arm that somebody is in."""
    found = queries.member(db, trial.id, user_id)
    return db.get(CrowdArm, found.arm_id) if found is not None else None


def sync(db: Session, trial: CrowdTrial, arm: CrowdArm) -> None:
    """Put on record what was finished in the arm's rounds since somebody last looked, and what that earns."""
    with transaction(db):
        hold(db, arm)
        protocol = parse_protocol(arm.toml)
        for stage_name, (round_id, _) in queries.rounds(db, arm.id).items():
            stage = protocol.stage(stage_name)
            if stage.tutorial is not None:
                _sync_tutorial(db, trial, arm, stage_name, stage.tutorial, round_id)
                continue
            with course_of(db, trial, arm) as course:
                known = {unit for one in course.arm.people.values() for unit in one.units.get(stage_name, ())}
                here = {*course.at(stage_name)}
            for session_id, user_id in queries.finished_sessions(db, round_id):
                if str(session_id) not in known and str(user_id) in here:
                    fooling = stage.writing is not None and stage.writing.target
                    items = queries.items_of_session(db, session_id, fooling=fooling)
                    event = finished(str(user_id), stage_name, str(session_id), tuple(map(str, items)))
                    record(db, trial, arm, event, user_id)
                    with course_of(db, trial, arm) as course:
                        here = {*course.at(stage_name)}
        give_passes(db, trial, arm)
        with course_of(db, trial, arm) as course:
            settle(db, trial, arm, course)


def _sync_tutorial(
    db: Session, trial: CrowdTrial, arm: CrowdArm, stage: str, rule: TutorialStage, round_id: int
) -> None:
    """Finish the tutorial of those who have answered all quizzes and written for all contexts."""
    with course_of(db, trial, arm) as course:
        here = course.at(stage)
    for person in here:
        sessions = queries.finished_sessions(db, round_id, int(person))[: rule.contexts]
        if len(sessions) >= rule.contexts and len(queries.answers(db, arm.id, int(person))) >= _steps(rule):
            items = [
                str(one) for session, _ in sessions for one in queries.items_of_session(db, session, fooling=False)
            ]
            record(db, trial, arm, finished(person, stage, "tutorial", tuple(items)), int(person))


def give_passes(db: Session, trial: CrowdTrial, arm: CrowdArm) -> None:
    """Let exactly those write in each of the arm's rounds who can do so now, inside a transaction."""
    protocol = parse_protocol(arm.toml)
    with course_of(db, trial, arm) as course:
        for stage_name in queries.rounds(db, arm.id):
            tutorial = protocol.stage(stage_name).tutorial
            for person in course.arm.people.values():
                if not person.name.isdecimal():
                    continue
                may = person.at == stage_name and course.room(person.name) > 0
                if may and tutorial is not None:
                    may = len(queries.answers(db, arm.id, int(person.name))) >= _steps(tutorial)
                held = stage_name in person.been or may
                if held:
                    put_qualification(
                        db, trial.task_id, int(person.name), pass_of(arm.id, stage_name), held=may, reason=trial.name
                    )


def _steps(tutorial: TutorialStage) -> int:
    return sum(len(one.pairs) for one in tutorial.quizzes)


def _tutorial(course: Course, stage: str) -> TutorialStage | None:
    return next((one.tutorial for one in course.protocol.stages if one.name == stage), None)


def _at_tutorial(db: Session, user_id: int, task: str, name: str) -> tuple[CrowdTrial, CrowdArm, TutorialStage]:
    trial = find(db, task, name)
    arm = arm_of(db, trial, user_id)
    if arm is None:
        raise Conflict("You do not take part in this trial.")
    with course_of(db, trial, arm) as course:
        tutorial = _tutorial(course, course.person(str(user_id)).at)
    if tutorial is None:
        raise Conflict("There is no quiz for you now.")
    return trial, arm, tutorial


def _against(db: Session, trial: CrowdTrial, user_id: int, task: str) -> list[str]:
    """Say what keeps somebody from entering: the rules of entry of all arms, so that who comes in suits each."""
    rules = [
        rule
        for arm in queries.arms(db, trial.id)
        for stage in parse_protocol(arm.toml).stages
        if stage.entry is not None
        for rule in stage.entry.qualifications
    ]
    unique = [rule for place, rule in enumerate(rules) if rule not in rules[:place]]
    return [one.text for one in eligibility(db, user_id, unique, task=task) if not one.ok] if unique else []
