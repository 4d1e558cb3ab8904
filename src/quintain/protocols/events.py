"""What happens in one arm of a trial, as it is kept: the record from which every state follows again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class EventKind(StrEnum):
    """What happened."""

    ENTERED = "entered"
    FINISHED = "finished"
    STOPPED = "stopped"
    GRADED = "graded"
    GRADED_LATE = "graded late"
    REGRADED = "regraded"
    CLOSED = "closed"
    LEFT = "left"
    READMITTED = "readmitted"
    GONE = "gone"
    BACK = "back"


@dataclass(frozen=True, slots=True)
class Event:
    """Somebody (*person*) did something at a *stage*.

    *unit* names what was finished (a session) or graded (an item); what was written in it are *items*. The *answers*
    are those of a grade, which took so many *seconds*; 0 where nobody measured them. A stage that was closed by *force*
    did not wait for what was missing.
    """

    kind: EventKind
    person: str = ""
    stage: str = ""
    unit: str = ""
    items: tuple[str, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    force: bool = False
    seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data for the record: `Event.of(record)` is the same event."""
        return {
            "kind": self.kind.value,
            "person": self.person,
            "stage": self.stage,
            "unit": self.unit,
            "items": list(self.items),
            "answers": dict(self.answers),
            "force": self.force,
            "seconds": self.seconds,
        }

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Event:
        """Read an event from plain data."""
        return cls(
            EventKind(record["kind"]),
            record.get("person", ""),
            record.get("stage", ""),
            record.get("unit", ""),
            tuple(record.get("items", ())),
            dict(record.get("answers", {})),
            bool(record.get("force", False)),
            float(record.get("seconds", 0.0)),
        )


def entered(person: str) -> Event:
    """Somebody came into the arm."""
    return Event(EventKind.ENTERED, person)


def finished(person: str, stage: str, unit: str, items: tuple[str, ...] = ()) -> Event:
    """Somebody finished a session, or the tutorial."""
    return Event(EventKind.FINISHED, person, stage, unit, items)


def stopped(person: str, stage: str, unit: str, items: tuple[str, ...] = ()) -> Event:
    """Somebody ended a session early, in which they had written something: it is one of those that they may do."""
    return Event(EventKind.STOPPED, person, stage, unit, items)


def graded(person: str, stage: str, item: str, answers: Mapping[str, str], seconds: float = 0.0) -> Event:
    """Somebody graded an item."""
    return Event(EventKind.GRADED, person, stage, item, answers=answers, seconds=seconds)


def graded_late(person: str, stage: str, item: str, answers: Mapping[str, str], seconds: float = 0.0) -> Event:
    """Somebody graded an item after their time for it was over, when it had all its grades: paid, and not counted."""
    return Event(EventKind.GRADED_LATE, person, stage, item, answers=answers, seconds=seconds)


def regraded(person: str, stage: str, item: str, answers: Mapping[str, str]) -> Event:
    """Somebody changed a grade that they had given."""
    return Event(EventKind.REGRADED, person, stage, item, answers=answers)


def closed(stage: str, *, force: bool = False) -> Event:
    """Somebody closed a stage: those who wait there go on."""
    return Event(EventKind.CLOSED, stage=stage, force=force)


def left(person: str) -> Event:
    """Somebody left."""
    return Event(EventKind.LEFT, person)


def readmitted(person: str, stage: str) -> Event:
    """Somebody goes on, whom a qualification had turned away, because the owner let them."""
    return Event(EventKind.READMITTED, person, stage)


def gone(item: str) -> Event:
    """Somebody took an item back, or the owner withheld it: nobody is to read it any more."""
    return Event(EventKind.GONE, unit=item)


def back(item: str) -> Event:
    """Somebody let an item stand again that was gone."""
    return Event(EventKind.BACK, unit=item)
