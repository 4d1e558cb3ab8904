"""Simulated people at work: accounts, writing sessions and pages of judgements, all through the real services.

Every function can be interrupted and called again: what was submitted stands, and the rest is done then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.errors import Conflict, Forbidden, NotFound, Unavailable
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.records.collect import WritingSession
from quintain.core.task import Task
from quintain.services.access import accounts
from quintain.services.access.actors import actor_of, find_user
from quintain.services.collect.writing import readiness, sessions
from quintain.services.collect.writing import submit_attempt as attempts
from quintain.services.harvest.model import sentence_field
from quintain.services.tasks.definitions import get_task
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.judging.claim_page import ClaimedPage, claim_page
from quintain.services.validate.judging.submit_page import Answer, submit_page
from quintain.simulate.judges import Judge, judge
from quintain.simulate.people import SimulatedPerson
from quintain.simulate.writers import Draft, SimulatedWriter
from quintain.store.blobs import Blobs

Done = Callable[[int], None]  # called with how much is done by now
Wait = Callable[[float], None]  # called with the seconds that somebody takes


def at_once(seconds: float) -> None:
    """Take no time."""


WRITING_TAKES = 4  # times as long as judging the same text
REWRITES = 20  # times that somebody writes anew because the text, or one like it, is there already


class NothingLeftError(Exception):
    """A writer can think of nothing more to make of a prompt."""


def hire(db: Session, people: Iterable[SimulatedPerson], *, role: RoleName = RoleName.WORKER) -> dict[str, Actor]:
    """Make an account for each of *people* who has none, and return all as actors by their names."""
    actors: dict[str, Actor] = {}
    for person in people:
        try:
            user = find_user(db, person.name)
        except NotFound:
            accounts.invite(db, OPERATOR, person.name, display_name=f"Simulated {person.name}", roles=[role])
            user = find_user(db, person.name)
        actors[person.name] = actor_of(db, user)
    return actors


def judge_all(
    db: Session,
    rng: np.random.Generator,
    ref: str,
    people: Sequence[tuple[SimulatedPerson, Actor]],
    *,
    way: Judge = judge,
    pages: int | None = None,
    wait: Wait = at_once,
    done: Done | None = None,
) -> int:
    """Let *people* judge validation *ref*, page by page in turn, until nobody gets a page; count judgements.

    Who is unqualified on the way leaves. With *pages*, it ends after so many of them.
    """
    field = sentence_field(find_validation(db, ref).task)
    at_work = list(people)
    judged = pages_given = 0
    while at_work:
        idle = []
        for person, actor in list(at_work):
            if pages_given == pages:
                return judged
            try:
                page = claim_page(db, actor, ref)
            except Forbidden:
                at_work.remove((person, actor))
                continue
            if page is None:
                idle.append(person)
                continue
            pages_given += 1
            answers = _answers(rng, person, page, field, way)
            wait(sum(answer.seconds or 0.0 for answer in answers))
            judged += submit_page(db, actor, page.token, answers).judged
            if done is not None:
                done(judged)
        if len(idle) == len(at_work):
            break
    return judged


def _answers(
    rng: np.random.Generator, person: SimulatedPerson, page: ClaimedPage, field: str, way: Judge
) -> list[Answer]:
    answers = []
    for item in page.items:
        judged = way(rng, person, str(item.inputs[field]), [label.name for label in item.labels])
        answers.append(Answer(item.id, judged.label, seconds=round(judged.seconds, 2)))
    return answers


@dataclass(frozen=True, slots=True)
class Pen:
    """A writer with their account."""

    writer: SimulatedWriter
    actor: Actor


def write_all(
    db: Session,
    blobs: Blobs,
    rng: np.random.Generator,
    ref: str,
    pens: Sequence[Pen],
    goal: int,
    *,
    wait: Wait = at_once,
    done: Done | None = None,
) -> int:
    """Let writers have sessions in round *ref*, in turn, until *goal* texts were submitted; return their number.

    It ends earlier where nobody is given anything to write any more.
    """
    task = get_task(db, ref.rpartition("/")[0])
    written = 0
    at_work = list(pens)
    while at_work and written < goal:
        for pen in list(at_work):
            if written >= goal:
                break
            try:
                session = begin(db, blobs, pen.actor, ref)
            except (Unavailable, Forbidden):
                at_work.remove(pen)
                continue
            try:
                written += write_session(db, blobs, rng, pen, task, session, most=goal - written, wait=wait)
            except NothingLeftError:  # and they would be shown the same prompt again
                at_work.remove(pen)
            if done is not None:
                done(written)
    return written


def begin(db: Session, blobs: Blobs, actor: Actor, ref: str) -> WritingSession:
    """Begin a session after agreeing to what the round asks one to agree to."""
    asked = readiness.readiness(db, actor, ref)
    for kind, needed in (("consent", asked.needs_consent), ("warning", asked.needs_warning)):
        if needed:
            readiness.record_choice(db, actor, ref, kind)
    return sessions.start_session(db, blobs, actor, ref)


def write_session(
    db: Session,
    blobs: Blobs,
    rng: np.random.Generator,
    pen: Pen,
    task: Task,
    session: WritingSession,
    *,
    most: int | None = None,
    wait: Wait = at_once,
) -> int:
    """Write in a session until the model is fooled, or no attempts (or *most* of them) are left; count the texts.

    Whoever has written something and can think of nothing more gives the session up; who has written nothing in it
    raises NothingLeftError.
    """
    desk = _Desk(db, blobs, rng, pen, task, session, wait)
    if session.pending is not None:  # an earlier run was interrupted before the writer could say so
        attempts.confirm(db, pen.actor, session.pending, yes=True)
        return 0
    allowed = session.attempts_left if most is None else min(session.attempts_left, most)
    for number in range(1, allowed + 1):
        try:
            if desk.attempt():
                return number
        except NothingLeftError:
            sessions.give_up(db, pen.actor, session.key)
            if number == 1:
                raise
            return number - 1
    return allowed


@dataclass(frozen=True, slots=True)
class _Desk:
    """A writer in a session."""

    db: Session
    blobs: Blobs
    rng: np.random.Generator
    pen: Pen
    task: Task
    session: WritingSession
    wait: Wait

    def attempt(self) -> bool:
        """Submit one text, another one where it was there already; return whether the session is over."""
        labels = list(self.task.label_names)
        field = sentence_field(self.task)
        prompt = str(self.session.prompt.inputs.get(field, "")) if self.session.prompt else ""
        aim = None if self.session.target is None else str(self.session.target)
        drafts = self.pen.writer.drafts(self.rng, prompt, aim, labels)
        for tries, draft in enumerate(drafts, 1):
            self.wait(WRITING_TAKES * self.pen.writer.person.takes(self.rng, draft.sentence.text))
            try:
                return self.submit(draft, {field: draft.sentence.text})
            except Conflict as error:
                if error.code != "duplicate_text" or tries == REWRITES:
                    raise
        raise NothingLeftError

    def submit(self, draft: Draft, inputs: Mapping[str, str]) -> bool:
        actor, token = self.pen.actor, self.rng.bytes(12).hex()
        verdict = attempts.submit_attempt(
            self.db, self.blobs, actor, self.session.key, inputs, target=draft.aim, token=token
        )
        self.pen.writer.learn(draft.sentence.construction, fooled=bool(verdict.fooled))
        if verdict.ask == "confirm":
            yes = self.pen.writer.confirms(self.rng, draft.sentence, draft.aim)
            verdict = attempts.confirm(self.db, actor, verdict.attempt_id, yes)
        return verdict.ended
