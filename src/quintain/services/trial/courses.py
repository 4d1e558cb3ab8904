"""Where each arm stands: its course, replayed from the record once and kept, then brought up to date.

A course in memory is no more than the record says. It is thrown away whenever the record holds another event at the
place up to which it was followed, as after a transaction that was rolled back.

The record is asked once in a transaction, not each time that somebody wants to know: who reads goes on with what they
saw first, and who holds an arm knows that nobody adds to it. While somebody here is adding to an arm, others who only
read see it already; nothing is ever written by it, since who writes holds the arm first.
"""

from __future__ import annotations

import secrets
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session, SessionTransaction

from quintain.protocols.engine import Course
from quintain.protocols.events import Event
from quintain.protocols.reading import parse_protocol
from quintain.protocols.stages import Stage
from quintain.services.trial.grades import GradingFigures, figures_of
from quintain.store.database import lock
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import CrowdArm, CrowdTrial

MOST = 64  # arms that are kept in memory


Rounds = Mapping[str, tuple[int, int]]  # by stage: id and number


@dataclass(slots=True)
class _Kept:
    store: weakref.ref[object]
    toml: str
    course: Course
    number: int
    token: str
    adding: SessionTransaction | None = None  # in which the newest event was added
    figures: tuple[str, dict[str, GradingFigures]] | None = None
    rounds: Rounds = field(default_factory=dict)


@dataclass(slots=True)
class _Seen:
    """What a session knows in its transaction: the event up to which it saw each arm, and the arms that it holds."""

    within: tuple[object, object]
    tokens: dict[int, str] = field(default_factory=dict)
    held: set[int] = field(default_factory=set)


_kept: dict[tuple[int, int], _Kept] = {}
_guard = threading.RLock()


@contextmanager
def course_of(db: Session, trial: CrowdTrial, arm: CrowdArm) -> Iterator[Course]:
    """Give the course of an arm as its record has it now; nobody changes it meanwhile."""
    with _guard:
        yield _fresh(db, trial, arm).course


def kept_figures(db: Session, trial: CrowdTrial, arm: CrowdArm) -> dict[str, GradingFigures]:
    """Give how the gradings of an arm stand, by stage: as computed since its record last changed, or anew."""
    with _guard:
        kept = _fresh(db, trial, arm)
        if kept.figures is None or kept.figures[0] != kept.token:
            course = kept.course
            stages = [one for one in course.protocol.stages if one.grading is not None and _has_begun(course, one)]
            kept.figures = (kept.token, {one.name: figures_of(course, one) for one in stages})
        return kept.figures[1]


def rounds_of(db: Session, trial: CrowdTrial, arm: CrowdArm) -> Rounds:
    """Give the rounds of an arm of a trial that was opened; from then on they are always the same."""
    with _guard:
        kept = _fresh(db, trial, arm)
        if not kept.rounds:
            kept.rounds = queries.rounds(db, arm.id)
        return kept.rounds


def _has_begun(course: Course, stage: Stage) -> bool:
    came = any(stage.name in one.been for one in course.arm.people.values())
    return came and (stage.name in course.arm.closed or not course.hindrances_before(stage.name))


def record(db: Session, trial: CrowdTrial, arm: CrowdArm, event: Event, user_id: int | None = None) -> None:
    """Add an event to an arm's record, inside a transaction; one that cannot be is refused, and nothing changes."""
    hold(db, arm)  # before the guard: who waits for the database keeps nobody else waiting
    with _guard:
        kept = _fresh(db, trial, arm)
        kept.course.apply(event)
        number, token = kept.number + 1, secrets.token_urlsafe(12)
        kept.number, kept.token, kept.adding = number, token, db.get_transaction()
        queries.add_event(db, arm_id=arm.id, number=number, token=token, body=event.as_dict(), user_id=user_id)
        _seen(db).tokens[arm.id] = token


def hold(db: Session, arm: CrowdArm) -> None:
    """Let nobody else add to an arm's record until this transaction ends."""
    if arm.id not in _seen(db).held:
        lock(db, f"trial arm {arm.id}")
        seen = _seen(db)
        seen.held.add(arm.id)
        seen.tokens.pop(arm.id, None)  # others may have added to it before


def _seen(db: Session) -> _Seen:
    """Give what is known in this transaction, or in this part of it that may be undone by itself."""
    within = (db.get_transaction(), db.get_nested_transaction())
    found = db.info.get("trial arms")
    if not isinstance(found, _Seen) or within[0] is None or found.within != within:
        found = db.info["trial arms"] = _Seen(within)
    return found


def _fresh(db: Session, trial: CrowdTrial, arm: CrowdArm) -> _Kept:
    key = (id(db.get_bind()), arm.id)
    kept = _kept.get(key)
    if kept is not None and kept.store() is db.get_bind() and kept.toml == arm.toml:
        seen = _seen(db)
        if seen.tokens.get(arm.id) == kept.token or (_is_added_to(kept) and arm.id not in seen.held):
            return kept
        newer = queries.events_from(db, arm.id, kept.number)
        if not kept.number or (newer and newer[0][:2] == (kept.number, kept.token)):
            return _follow(db, arm, kept, newer[1:] if kept.number else newer)
    kept = _Kept(weakref.ref(db.get_bind()), arm.toml, Course(parse_protocol(arm.toml), trial.seed), 0, "")
    while len(_kept) >= MOST:
        _kept.pop(next(iter(_kept)))
    _kept[key] = kept
    return _follow(db, arm, kept, queries.events_from(db, arm.id, 1))


def _is_added_to(kept: _Kept) -> bool:
    """Say whether the transaction that added the newest event is still going on."""
    if kept.adding is not None and not kept.adding.is_active:
        kept.adding = None
    return kept.adding is not None


def _follow(db: Session, arm: CrowdArm, kept: _Kept, events: Sequence[tuple[int, str, dict[str, Any]]]) -> _Kept:
    """Bring a course up to date."""
    for number, token, body in events:
        kept.course.apply(Event.of(body))
        kept.number, kept.token = number, token
    _seen(db).tokens[arm.id] = kept.token
    return kept
