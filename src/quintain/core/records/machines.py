"""Machines beside people: how well a machine judges, and figures that rest on its labels and on people's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quintain.core.records.base import Record, left_out
from quintain.core.records.figures import Estimate


@dataclass(frozen=True, slots=True)
class LabelAgreement(Record):
    """The share of an item's other people with whom a label agrees, as a mean over items; *kappa* is beyond chance."""

    value: float | None
    low: float | None
    high: float | None
    kappa: Estimate
    reason: str | None = left_out()


@dataclass(frozen=True, slots=True)
class LeftOutPerson(Record):
    """One person beside the machine, both scored by the others on so many *items*.

    *advantage* is the share of items on which the machine does at least as well, *p* of the person being better by
    the margin or more; *beaten* is whether that can be ruled out, with false discoveries held in check.
    """

    person: str
    items: int
    advantage: float
    disadvantage: float
    p: float
    beaten: bool


@dataclass(frozen=True, slots=True)
class MachineAgreement(Record):
    """How a machine judges beside people, and what it may be used for.

    *admission* is `replace`, `presort` or `no`, and *verdict* says it in words. *confusion* counts people's judgements:
    by people's label, then by the machine's; *recall* is how often it says what people say, for each label.
    """

    machine: str
    items: int
    people: int
    judgements: int
    agreement: LabelAgreement
    people_agreement: LabelAgreement
    winning_rate: float | None
    advantage: float | None
    epsilon: float
    admission: str
    verdict: str
    confusion: Mapping[str, Mapping[str, int]]
    recall: Mapping[str, Estimate]
    persons: list[LeftOutPerson]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class CountedEstimate(Record):
    """A figure with its interval, from *n* items that people judged; with a machine, from its labels of *machine_n*."""

    value: float
    low: float
    high: float
    n: int
    machine_n: int | None = left_out()


@dataclass(frozen=True, slots=True)
class JudgedMore(Record):
    """How many items people would have to judge for an interval of ± *half_width*, alone and with the machine."""

    half_width: float
    people: int
    together: int


@dataclass(frozen=True, slots=True)
class EstimateBeside(Record):
    """A figure from people alone and *together* with a machine, whose labels count by *weight*."""

    metric: str
    people: CountedEstimate
    together: CountedEstimate
    weight: float
    needed: JudgedMore
    notes: list[str]
    warnings: list[str]
    label: str | None = left_out()
