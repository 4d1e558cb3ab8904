"""Counts and sums that are kept as facts arrive: compared with a full recount, and set right.

A service that adds facts changes the counts in the same transaction, so that they are never outrun. What disagrees is
therefore a fault: it is repaired and reported.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.records.jobs import FigureFault
from quintain.store.database import transaction
from quintain.store.queries.jobs import counts as queries
from quintain.store.queries.jobs.counts import CountKey

Numbers = Mapping[Any, int]


@dataclass(frozen=True, slots=True)
class CountKind:
    """A kind of numbers: as they are *kept*, as facts are *counted*, and how those that are wrong are *corrected*.

    Nobody writes to the tables that are *held* while they are.
    """

    name: str
    kept: Callable[[Session], Numbers]
    counted: Callable[[Session], Numbers]
    correct: Callable[[Session, Numbers, Numbers], None]
    held: Sequence[str] = queries.HELD


def counts_of(name: str, counted: Callable[[Session], Mapping[CountKey, int]]) -> CountKind:
    """Make a kind of the counts whose names are *name*, or begin with it and a dot."""
    return CountKind(name, lambda db: queries.everything(db, [name]), counted, _correct)


def _correct(db: Session, stored: Numbers, counted: Numbers) -> None:
    queries.change(db, {key: counted.get(key, 0) - stored.get(key, 0) for key in {**stored, **counted}})


def check(db: Session, kinds: Sequence[CountKind]) -> tuple[int, list[FigureFault]]:
    """Compare every count with its facts, and repair what disagrees; give how many there are, and the faults."""
    checked, faults = 0, []
    for kind in kinds:
        db.rollback()  # both are read as they are now, and outside of any writing
        counted = kind.counted(db)
        checked += len(counted)
        if _differences(kind.kept(db), counted):  # what arrived in between is no fault: look again while all hold still
            faults += repair(db, kind)
    return checked, faults


def repair(db: Session, kind: CountKind) -> list[FigureFault]:
    """Set the counts of a kind right, and say which were wrong."""
    with transaction(db):
        queries.hold(db, kind.held)
        stored, counted = kind.kept(db), kind.counted(db)
        wrong = _differences(stored, counted)
        if wrong:
            kind.correct(db, stored, counted)
    return [
        FigureFault(kind.name, " ".join(map(str, key)), {"number": stored.get(key, 0)}, {"number": counted.get(key, 0)})
        for key in wrong
    ]


def _differences(stored: Numbers, counted: Numbers) -> list[Any]:
    keys: dict[Hashable, None] = dict.fromkeys([*counted, *stored])
    return [key for key in keys if stored.get(key, 0) != counted.get(key, 0)]
