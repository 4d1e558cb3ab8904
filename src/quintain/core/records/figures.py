"""Figures with their intervals, as every room gives them, and why one is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quintain.core.records.base import Record, left_out


@dataclass(frozen=True, slots=True)
class Estimate(Record):
    """A figure with its interval; where it is undefined, *value* is None and *reason* says why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        shape: dict[str, Any] = {"value": self.value, "low": self.low, "high": self.high}
        return shape | {"reason": self.reason} if self.reason else shape


@dataclass(frozen=True, slots=True)
class KeptEstimate(Estimate):
    """A figure as it is kept with results and in snapshots: a *reason* stands there only where there is one."""

    reason: str | None = left_out()


@dataclass(frozen=True, slots=True)
class Machine(Record):
    """On what something was measured."""

    cpu: str | None = left_out()
    cpus: int | None = left_out()
    system: str | None = left_out()
    python: str | None = left_out()


@dataclass(frozen=True, slots=True)
class Figure(Record):
    """What a model reached on a data set, in the unit of its axis: from *n* examples, known since *at*.

    What was measured says on which *machine*, of which class, and *without* which layers of the sandbox; *busy* is
    the share of its processors that others used meanwhile, where that was much. A share of unchanged answers rests on
    *pairs* of answers, of so many *kinds* of change. Over several *seeds* it is their mean, and *spread* their
    deviation. With so many *failed* examples it lies between *worst* and *best*, as these are all wrong or all right.
    *outcomes* counts what became of the answers of a model that is asked in words, and *method* is how it is read.
    """

    value: float
    low: float | None
    high: float | None
    n: int | None = None
    at: str | None = None  # a text: boards have many figures, and nobody computes with these times
    machine_class: str | None = left_out()
    machine: Machine | str | None = left_out()
    without: list[str] | None = left_out()
    busy: float | None = left_out()
    pairs: int | None = left_out()
    kinds: int | None = left_out()
    spread: float | None = left_out()
    seeds: int | None = left_out()
    failed: int | None = left_out()
    worst: float | None = left_out()
    best: float | None = left_out()
    outcomes: Mapping[str, int] | None = left_out()
    method: str | None = left_out()


@dataclass(frozen=True, slots=True)
class Gap(Record):
    """Why a figure is missing: of what *kind* the reason is, what belongs to it, and the same in a *text*.

    A *figure* that was measured on another *machine* than the one that ranks is shown here.
    """

    kind: str
    text: str
    done: int | None = left_out()
    needed: int | None = left_out()
    outcome: str | None = left_out()
    n: int | None = left_out()
    machine: str | None = left_out()
    figure: Figure | None = left_out()


@dataclass(frozen=True, slots=True)
class RunCounts(Record):
    """How many runs figures need, how many of them are done, and how many are still to come."""

    needed: int = 0
    done: int = 0
    waiting: int = 0

    def __add__(self, other: RunCounts) -> RunCounts:
        """Count both."""
        return RunCounts(self.needed + other.needed, self.done + other.done, self.waiting + other.waiting)
