"""The queue of runs, for whoever looks after the house."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from quintain.core.records.base import Record
from quintain.core.records.evaluate import Run


@dataclass(frozen=True, slots=True)
class WaitingRuns(Record):
    """Queued runs that wait for the same: their turn where both are empty, the sandbox, or a class of machine."""

    waits_for: str
    machine: str
    runs: int


@dataclass(frozen=True, slots=True)
class RunQueue(Record):
    """How evaluation goes: runs by state, who works at what, what is stuck and what waits.

    *stuck* runs have lost their worker; another worker takes them up. *failed* counts those of the last day.
    *idle* says that something could be worked at and nobody does.
    """

    states: Mapping[str, int]
    running: list[Run]
    stuck: list[Run]
    waiting: list[WaitingRuns]
    queued_since: datetime | None
    failed: int
    idle: bool
