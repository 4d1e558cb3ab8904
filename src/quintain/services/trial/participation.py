"""Taking part in a trial: entering, what comes next, quizzes of a tutorial, letters.

Whoever takes part stays in their arm and never learns of others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.hashing import canonical_json, content_id
from quintain.core.people import Actor, RoleName
from quintain.core.records.trial import QuizStep, TrialPart
from quintain.core.texts import Text, joined
from quintain.protocols.assignment import Draw
from quintain.protocols.engine import Course
from quintain.protocols.events import entered, left
from quintain.protocols.feedback import REASONS, reason_in_words
from quintain.protocols.reading import parse_protocol
from quintain.protocols.stages import EntryStage, TutorialStage, WritingStage
from quintain.services.access import audit
from quintain.services.access.permissions import require_role, require_user
from quintain.services.pay.caps import require_room
from quintain.services.trial.courses import course_of, hold, record, rounds_of
from quintain.services.trial.earnings import pay_unfinished, steps_of
from quintain.services.trial.entry import OVER, entering, is_over, require_entry
from quintain.services.trial.letters import received
from quintain.services.trial.progress import arm_of, give_stage_qualifications, news_of, sync_person, take_news
from quintain.services.trial.terms import terms_of
from quintain.services.trial.trials import find_trial_id
from quintain.services.work.qualify import eligibility
from quintain.store.database import lock, transaction
from quintain.store.queries.collect.rounds import open_session, texts_up_to
from quintain.store.queries.trial import trials as queries
from quintain.store.queries.work.qualify import worker_fact
from quintain.store.tables import CrowdAnswer, CrowdArm, CrowdMember, CrowdTrial

LONGEST_STRATUM = 200  # what the column holds
MAY_WORK = (RoleName.WORKER, RoleName.EXPERT, RoleName.OWNER)


def trial_part(db: Session, actor: Actor, task: str, name: str) -> TrialPart:
    """Return where somebody stands in a trial, and what they can do next; NotFound for who has no part in it."""
    user_id = require_user(actor)
    trial, arm = find_trial_id(db, task, name, user_id)
    if trial.state == "draft":
        raise NotFound("There is no trial '{task}/{name}'.", task=task, name=name)
    if arm is None:
        entries = _entries(db, trial)
        reasons: list[str] = [OVER] if is_over(db, trial) else _against(db, entries, user_id, task)
        what = "shut" if trial.state != "open" or trial.data or reasons else "enter"
        terms = terms_of([parse_protocol(arm.toml) for arm in queries.arms(db, trial.id)])
        return TrialPart(name, trial.title, what, "", 0, None, False, False, reasons, [], consent_of(entries), terms)
    news = news_of(db, trial, arm, user_id)
    if not news:
        return _part(db, trial, arm, user_id)
    with transaction(db):
        take_news(db, trial, arm, user_id, news)
        return _part(db, trial, arm, user_id)


def _part(db: Session, trial: CrowdTrial, arm: CrowdArm, user_id: int) -> TrialPart:
    """Return where somebody stands by the record."""
    person, rounds = str(user_id), rounds_of(db, trial, arm)
    with course_of(db, trial, arm) as course:
        todo = course.todo(person)
        tutorial, closed = _tutorial(course, todo.stage), bool(course.arm.closed)
        writing = next((stage.writing for stage in course.protocol.stages if stage.name == todo.stage), None)
        waiting = any(course.waiting(stage, person) for stage in course.gradings() if stage.name in todo.grading)
        reasons: list[str] = [*_turned_away(course, person)] if todo.what == "end" else []
    if todo.what == "work" and writing is not None and _is_full(db, writing, rounds[todo.stage][0], user_id):
        todo = replace(todo, what="wait", left=0)  # before the record of others, who have not looked yet, says so
    quiz = tutorial is not None and len(queries.answers(db, arm.id, user_id)) < steps_of(tutorial)
    return TrialPart(
        trial.name,
        trial.title,
        todo.what,
        todo.stage,
        todo.left,
        rounds.get(todo.stage, (None, None))[1] if todo.what == "work" and not quiz else None,
        quiz,
        waiting,
        reasons,
        received(db, arm, user_id) if closed else [],  # no letter goes out before
    )


def _is_full(db: Session, rule: WritingStage, round_id: int, user_id: int) -> bool:
    """Whether all that a stage wants is written, and nothing of somebody's is under way there."""
    if not rule.wanted or texts_up_to(db, round_id, rule.wanted, fooling=rule.target) < rule.wanted:
        return False
    return open_session(db, round_id, user_id) is None


def enter(db: Session, actor: Actor, task: str, name: str, *, consent: bool = False) -> TrialPart:
    """Take part: an arm is drawn by the trial's seed, in balance with those who came before, once and for all.

    Where the trial asks for *consent*, it takes that; the hash of the text that was agreed to is kept.
    """
    user_id = require_user(actor)
    require_role(actor, *MAY_WORK, task=task)
    with transaction(db):
        trial, arm = find_trial_id(db, task, name, user_id)
        if arm is None:
            lock(db, entering(trial.id))
            arm = arm_of(db, trial, user_id) or _enter(db, actor, task, trial, consent=consent)
            return _part(db, trial, arm, user_id)
    return trial_part(db, actor, task, name)


def _enter(db: Session, actor: Actor, task: str, trial: CrowdTrial, *, consent: bool) -> CrowdArm:
    user_id = require_user(actor)
    if trial.state != "open" or trial.data:
        raise Conflict("Trial {task}/{name} takes nobody in.", task=task, name=trial.name)
    require_entry(db, trial)
    entries = _entries(db, trial)
    reasons = _against(db, entries, user_id, task)
    if reasons:
        raise Forbidden("You cannot do this work yet. {missing}", missing=joined(reasons), code="not_qualified")
    agreed = consent_of(entries)
    if agreed and not consent:
        raise Forbidden(
            "Read what you agree to first, and say whether you do.",
            remedy="Say `consent`.",
            page="Tick that you agree.",
            code="consent_needed",
        )
    arms = {arm.name: arm for arm in queries.arms(db, trial.id)}
    stratum = _stratum(db, user_id, parse_protocol(next(iter(arms.values())).toml).strata)
    taken = queries.member_counts(db, trial.id, stratum)
    draw = Draw(f"person {user_id}", dict.fromkeys(arms, 1), taken, stratum)
    arm = arms[draw.pick(trial.seed)]
    db.add(
        CrowdMember(
            trial_id=trial.id,
            user_id=user_id,
            arm_id=arm.id,
            stratum=stratum,
            drawn=draw.as_dict(),
            consent=content_id(agreed) if agreed else None,
        )
    )
    db.flush()
    record(db, trial, arm, entered(str(user_id)), user_id)
    give_stage_qualifications(db, trial, arm, [str(user_id)])
    audit.record(db, actor, "trial.enter", f"{task}/{trial.name}")
    return arm


def _stratum(db: Session, user_id: int, names: Sequence[str]) -> str:
    """Name the stratum that somebody is in by what is known of them; what is not known is a value, too.

    A name of many long values is hashed, so that two strata never share one.
    """
    known = {name: worker_fact(db, user_id, name) for name in names}
    values = {name: "" if one is None else one.value.strip().lower() for name, one in known.items()}
    text = canonical_json(values).decode() if values else ""
    return text if len(text) <= LONGEST_STRATUM else hashlib.sha256(text.encode()).hexdigest()


def leave(db: Session, actor: Actor, task: str, name: str) -> TrialPart:
    """Leave a trial; what was done is paid, of a tutorial that is not finished its share."""
    user_id = require_user(actor)
    with transaction(db):
        trial, arm = find_trial_id(db, task, name, user_id)
        if arm is None:
            raise Conflict("You do not take part in this trial.")
        sync_person(db, trial, arm, user_id)
        hold(db, arm)
        pay_unfinished(db, trial, arm, [str(user_id)])
        record(db, trial, arm, left(str(user_id)), user_id)
        give_stage_qualifications(db, trial, arm, [str(user_id)])
    return trial_part(db, actor, task, name)


def last_notice(db: Session, actor: Actor, task: str, name: str) -> tuple[bool, str] | None:
    """Return whether the last answer of a tutorial was right, and why; None where its quiz does not tell."""
    user_id = require_user(actor)
    trial, arm = find_trial_id(db, task, name, user_id)
    if arm is None:
        return None
    answered = queries.answers(db, arm.id, user_id)
    with course_of(db, trial, arm) as course:
        quizzes = [
            quiz for stage in course.protocol.stages if stage.tutorial is not None for quiz in stage.tutorial.quizzes
        ]
    quiz = next((quiz for quiz in quizzes if answered and quiz.name == answered[-1].quiz), None)
    if quiz is None or not quiz.feedback:
        return None
    return answered[-1].right, quiz.pairs[answered[-1].step - 1].why


def quiz_step(db: Session, actor: Actor, task: str, name: str) -> QuizStep | None:
    """Return the next step of the tutorial's quizzes, with what is told of the one before; None where all are done."""
    user_id = require_user(actor)
    _, arm, tutorial = _at_tutorial(db, user_id, task, name)
    return _next_step(tutorial, queries.answers(db, arm.id, user_id))


def _next_step(tutorial: TutorialStage, answered: Sequence[CrowdAnswer]) -> QuizStep | None:
    steps = [(quiz, place) for quiz in tutorial.quizzes for place in range(len(quiz.pairs))]
    explanation, right = "", None
    if answered:
        quiz, index = steps[len(answered) - 1]
        if quiz.feedback:
            explanation, right = quiz.pairs[index].why, answered[-1].right
    if len(answered) >= len(steps):
        return None
    quiz, index = steps[len(answered)]
    pair = quiz.pairs[index]
    return QuizStep(
        quiz.name, index + 1, len(quiz.pairs), pair.ask, pair.context, pair.first, pair.second, explanation, right
    )


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
        answered = [*queries.answers(db, arm.id, user_id)]
        asked = _next_step(tutorial, answered)
        if not answered:
            require_room(db, trial.task_id, user_id, trial=trial.id)  # a cap pauses what is new
        if asked is not None and (asked.quiz, asked.step) == (quiz, step):
            pair = next(one for one in tutorial.quizzes if one.name == quiz).pairs[step - 1]
            columns = {"arm_id": arm.id, "user_id": user_id, "quiz": quiz, "step": step, "answer": answer}
            answered.append(queries.add_answer(db, **columns, right=answer == pair.right))
        following = _next_step(tutorial, answered)
        if following is None:
            _end_quizzes(db, trial, arm, user_id)
        return following


def _end_quizzes(db: Session, trial: CrowdTrial, arm: CrowdArm, user_id: int) -> None:
    """Let somebody go on who has answered all quizzes: past the tutorial or, where it asks for that, to writing."""
    news = news_of(db, trial, arm, user_id)
    if news:
        take_news(db, trial, arm, user_id, news)
    else:
        give_stage_qualifications(db, trial, arm, [str(user_id)])


def _tutorial(course: Course, stage: str) -> TutorialStage | None:
    return next((one.tutorial for one in course.protocol.stages if one.name == stage), None)


def _at_tutorial(db: Session, user_id: int, task: str, name: str) -> tuple[CrowdTrial, CrowdArm, TutorialStage]:
    trial, arm = find_trial_id(db, task, name, user_id)
    if arm is None:
        raise Conflict("You do not take part in this trial.")
    with course_of(db, trial, arm) as course:
        tutorial = _tutorial(course, course.person(str(user_id)).at)
    if tutorial is None:
        raise Conflict("There is no quiz for you now.")
    return trial, arm, tutorial


def _entries(db: Session, trial: CrowdTrial) -> list[EntryStage]:
    """Return what all arms ask of whoever comes in: who enters is to suit each of them."""
    entries = []
    for arm in queries.arms(db, trial.id):
        entries += [stage.entry for stage in parse_protocol(arm.toml).stages if stage.entry is not None]
    return entries


def consent_of(entries: Sequence[EntryStage]) -> str:
    """Put together what people agree to before they enter; nothing where no arm asks."""
    return "\n\n".join(dict.fromkeys(entry.consent.strip() for entry in entries if entry.consent.strip()))


def _against(db: Session, entries: Sequence[EntryStage], user_id: int, task: str) -> list[str]:
    """Return what keeps somebody from entering."""
    rules = [rule for entry in entries for rule in entry.qualifications]
    unique = [rule for place, rule in enumerate(rules) if rule not in rules[:place]]
    return [one.text for one in eligibility(db, user_id, unique, task=task) if not one.ok] if unique else []


def _turned_away(course: Course, person: str) -> Iterator[Text]:
    """Yield why somebody did not go on, if a decision ended it for them."""
    for decisions in course.arm.decisions.values():
        decision = decisions.get(person)
        if (
            decision is not None
            and not decision.passed
            and decision.reason in REASONS
            and decision.reason != "promoted"
        ):
            stage = course.protocol.stage(decision.stage)
            if stage.qualification is not None:
                yield reason_in_words(decision.reason, course.protocol.questions)
