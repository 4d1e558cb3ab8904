"""Comparing what is kept with what its facts say: kind by kind, subject by subject, and reporting what disagreed.

A figure that disagrees is repaired by the check of its kind. `walk` reports it to the log and to the audit log. Boards
that are kept in memory rest on the audit log, so that none is shown from before a repair.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from quintain.core.errors import Unavailable
from quintain.core.people import OPERATOR
from quintain.core.records.jobs import FigureFault
from quintain.core.untrusted import storable
from quintain.services.access import audit
from quintain.store.blobs import Blobs
from quintain.store.database import transaction

REPAIRED = "figure.repair"
MOST_WRITTEN = 20  # faults of one subject that the audit log names
LONGEST_VALUE = 500
LONGEST_REASON = 300
CLOSE = 1e-9

log = logging.getLogger("quintain.jobs")


@dataclass(frozen=True, slots=True)
class Checked:
    """What one check found: how many figures it compared, how many facts have outrun, and the faults it repaired."""

    number: int = 0
    outrun: int = 0
    faults: Sequence[FigureFault] = ()


@dataclass(frozen=True, slots=True)
class CheckKind:
    """A kind of what is kept: of what *subjects*, always in the same order, and how one is checked and repaired."""

    name: str
    subjects: Callable[[Session], Iterable[str]]
    check: Callable[[Session, Blobs, str], Checked]


def walk(db: Session, blobs: Blobs, kind: CheckKind, subjects: Iterable[str]) -> Iterator[tuple[str, Checked]]:
    """Check subjects one after the other, and report what disagreed. One that cannot be counted is a fault, too."""
    for subject in subjects:
        db.rollback()  # facts as they are now
        try:
            checked = kind.check(db, blobs, subject)
        except (SQLAlchemyError, Unavailable):
            raise  # the database cannot be asked, which says nothing of the figure
        except Exception as error:  # one file that cannot be read must not end the check of all others
            log.exception("The figure %s of %s could not be counted", kind.name, subject)
            reason = storable(f"{type(error).__name__}: {error}", LONGEST_REASON)
            checked = Checked(1, faults=[FigureFault(kind.name, subject, {}, {"error": reason})])
        if checked.faults:
            _report(db, checked.faults)
        yield subject, checked


def _report(db: Session, faults: Sequence[FigureFault]) -> None:
    for fault in faults[:MOST_WRITTEN]:
        log.warning("The figure %s of %s disagreed with its facts: %s", fault.kind, fault.subject, fault.kept)
    db.rollback()
    with transaction(db):
        for fault in faults[:MOST_WRITTEN]:
            subject = f"{fault.kind} {fault.subject}".strip()
            audit.record(db, OPERATOR, REPAIRED, subject, kept=shortened(fault.kept), counted=shortened(fault.counted))
        if len(faults) > MOST_WRITTEN:
            audit.record(db, OPERATOR, REPAIRED, faults[0].kind, more=len(faults) - MOST_WRITTEN)


def compared(kind: str, subject: str, stored: Mapping[str, Any], counted: Mapping[str, Any]) -> list[FigureFault]:
    """Return what disagrees of a figure that is one object, part by part; nothing where it agrees."""
    wrong = [name for name in {**stored, **counted} if not agrees(stored.get(name), counted.get(name))]
    if not wrong:
        return []
    parts = ({name: given[name] for name in wrong if name in given} for given in (stored, counted))
    return [FigureFault(kind, subject, *map(shortened, parts))]


def agrees(stored: Any, counted: Any) -> bool:
    """Whether two figures are the same as JSON, but for the last digits, which another processor may round.

    >>> agrees({"share": [0.1 + 0.2]}, {"share": [0.3]}), agrees({"share": 0.3}, {"share": 0.31}), agrees(1, True)
    (True, False, False)
    """
    if isinstance(stored, bool) or isinstance(counted, bool):
        return stored is counted
    if isinstance(stored, int | float) and isinstance(counted, int | float):
        return math.isclose(stored, counted, rel_tol=CLOSE, abs_tol=CLOSE)
    if isinstance(stored, Mapping) and isinstance(counted, Mapping):
        return stored.keys() == counted.keys() and all(agrees(value, counted[name]) for name, value in stored.items())
    if isinstance(stored, list | tuple) and isinstance(counted, list | tuple):
        return len(stored) == len(counted) and all(agrees(one, two) for one, two in zip(stored, counted, strict=True))
    return bool(stored == counted)


def shortened(value: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out of a figure what is long: a report names it."""
    return {
        name: one if len(text := json.dumps(one, default=str)) <= LONGEST_VALUE else f"{text[:60]} …"
        for name, one in value.items()
    }
