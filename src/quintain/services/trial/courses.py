"""Where each arm stands: its course, replayed from the record once and kept, then brought up to date.

A course in memory is no more than the record says. It is thrown away whenever the record holds another event at the
place up to which it was followed, as after a transaction that was rolled back.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.protocols.engine import Course
from quintain.protocols.events import Event
from quintain.protocols.reading import parse_protocol
from quintain.protocols.stages import Stage
from quintain.services.trial.grades import GradingFigures, figures_of
from quintain.store.database import lock, transaction
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import CrowdArm, CrowdEvent, CrowdTrial

MOST = 64  # arms that are kept in memory


@dataclass(slots=True)
class _Kept:
    toml: str
    course: Course
    number: int
    token: str
    figures: tuple[str, dict[str, GradingFigures]] | None = None


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


def _has_begun(course: Course, stage: Stage) -> bool:
    came = any(stage.name in one.been for one in course.arm.people.values())
    return came and (stage.name in course.arm.closed or not course.hindrances_before(stage.name))


def record(db: Session, trial: CrowdTrial, arm: CrowdArm, event: Event, user_id: int | None = None) -> None:
    """Add an event to an arm's record, inside a transaction; one that cannot be is refused, and nothing changes."""
    with transaction(db):
        hold(db, arm)  # before the guard: who waits for the database keeps nobody else waiting
        with _guard:
            kept = _fresh(db, trial, arm)
            kept.course.apply(event)
            number, token = kept.number + 1, secrets.token_urlsafe(12)
            db.add(CrowdEvent(arm_id=arm.id, number=number, token=token, body=event.as_dict(), user_id=user_id))
            db.flush()
            kept.number, kept.token = number, token


def hold(db: Session, arm: CrowdArm) -> None:
    """Let nobody else add to an arm's record until this transaction ends."""
    lock(db, f"trial arm {arm.id}")


def _fresh(db: Session, trial: CrowdTrial, arm: CrowdArm) -> _Kept:
    key = (id(db.get_bind()), arm.id)
    kept = _kept.get(key)
    if kept is None or kept.toml != arm.toml or queries.token_at(db, arm.id, kept.number) != kept.token:
        kept = _Kept(arm.toml, Course(parse_protocol(arm.toml), trial.seed), 0, "")
        while len(_kept) >= MOST:
            _kept.pop(next(iter(_kept)))
        _kept[key] = kept
    for number, token, body in queries.events_after(db, arm.id, kept.number):
        kept.course.apply(Event.of(body))
        kept.number, kept.token = number, token
    return kept
