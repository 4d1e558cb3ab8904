"""Several systems on the same examples: every pair of them, tested."""

from __future__ import annotations

from dataclasses import dataclass

from quintain.core.records.base import Record
from quintain.core.records.figures import KeptEstimate


@dataclass(frozen=True, slots=True)
class PairedTest(Record):
    """How much higher the figure of *a* is than that of *b* on *n* examples.

    *p* is of a permutation test of there being no difference, *p_holm* the same raised for the number of pairs.
    """

    a: str
    b: str
    difference: KeptEstimate
    p: float | None
    p_holm: float | None
    n: int


@dataclass(frozen=True, slots=True)
class PairPower(Record):
    """How many examples would show the difference of two systems, if it is the true one, with a power of 80 %.

    *more* is how many of them are lacking; both are null where the two do not differ.
    """

    a: str
    b: str
    needed: int | None
    more: int | None


@dataclass(frozen=True, slots=True)
class SystemValue(Record):
    """The figure of one system."""

    name: str
    value: float | None


@dataclass(frozen=True, slots=True)
class PairedSystems(Record):
    """All pairs of systems by one *metric*; *groups* is how many were resampled as wholes, null without them."""

    pairs: list[PairedTest]
    power: list[PairPower]
    systems: list[SystemValue]
    metric: str
    groups: int | None
    resamples: int
    seed: int
    warnings: list[str]
    notes: list[str]
