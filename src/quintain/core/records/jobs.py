"""What workers do outside of requests: how far it is, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from quintain.core.records.base import Record


@dataclass(frozen=True, slots=True)
class JobStanding(Record):
    """Where a job stands: *done* of *total* steps (0 where nobody has counted), or why it failed.

    *state* is `queued`, `running`, `done`, `failed` or `cancelled`.
    """

    id: int
    kind: str
    subject: str
    task: str
    state: str
    done: int
    total: int
    asked_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    reason: str
    result: Mapping[str, Any]

    @property
    def going(self) -> bool:
        """Whether it is not over."""
        return self.state in {"queued", "running"}

    @property
    def share(self) -> float | None:
        """How far it is, of 1; None where nobody has counted."""
        return min(self.done / self.total, 1.0) if self.total else None


@dataclass(frozen=True, slots=True)
class JobList(Record):
    """Jobs, the newest first."""

    jobs: tuple[JobStanding, ...]


@dataclass(frozen=True, slots=True)
class FigureFault(Record):
    """A kept figure that did not agree with its facts; it has been computed again."""

    kind: str
    subject: str
    kept: Mapping[str, Any]
    counted: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FigureCheck(Record):
    """What comparing kept figures with their facts found: how many were *checked*, and how many facts have outrun."""

    checked: int
    outrun: int
    faults: tuple[FigureFault, ...]


@dataclass(frozen=True, slots=True)
class SeenFault(Record):
    """A kept figure that was found to disagree with its facts, and when."""

    at: datetime
    kind: str
    subject: str
    kept: Mapping[str, Any]
    counted: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CheckRound(Record):
    """How far comparing all that is kept with its facts is, a part at a time.

    The last part ended *at* the *subject* of a *kind*; *checked* were compared since *began_at*. *ended_at* is when all
    were through last; None where they never were. *faults* are the last that were found, the newest first.
    """

    kind: str
    subject: str
    checked: int
    began_at: datetime
    at: datetime
    ended_at: datetime | None
    faults: tuple[SeenFault, ...]


@dataclass(frozen=True, slots=True)
class LoopReport(Record):
    """How something fares that goes on in a process, such as sending mail.

    Its *condition* is `fine`, `failing` (no success for several intervals), `stuck` (one step takes far too long),
    `stopped` (it has ended by itself) or `silent` (its process is not heard of). *here* says that it is of the server
    that answers, *resting* is how many single items are left alone for a while because they failed.
    """

    name: str
    process: str
    here: bool
    condition: str
    succeeded_at: datetime | None
    failed_at: datetime | None
    failures: int
    resting: int
    reason: str


@dataclass(frozen=True, slots=True)
class LoopReports(Record):
    """Everything that goes on in the processes of a house."""

    loops: list[LoopReport]
