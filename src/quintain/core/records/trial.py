"""Trials: what people of an arm are told, and what a forecast says."""

from __future__ import annotations

from dataclasses import dataclass, field

from quintain.core.records.base import Record
from quintain.core.records.figures import Estimate


@dataclass(frozen=True, slots=True)
class Letter(Record):
    """What somebody's grades said: their figures beside the round's means, and what was decided.

    *ambiguous* names the items that most graders could not answer; *reason* is why they go on or not.
    """

    person: str
    stage: str
    items: int
    difficulty: float | None
    mean_difficulty: float | None
    creativity: float | None
    mean_creativity: float | None
    distracting: float | None
    ambiguous_share: float | None
    ambiguous: list[str]
    best: str | None
    worst: str | None
    passed: bool
    reason: str
    promoted: bool
    bonus: int
    currency: str
    next: str


@dataclass(frozen=True, slots=True)
class ArmForecast(Record):
    """What one arm comes to, over simulated trials: people, data, money in minor units, hours.

    *question_cost* counts everything that was paid to the people of the arm, *trained_cost* only what the final round
    paid, and *expert_cost* adds the experts' time. Shares *human* and *model* are of judged items; *gap* is between.
    """

    arm: str
    workers: float
    finalists: float
    items: float
    kept: float
    paid: float
    question_cost: Estimate
    trained_cost: float
    expert_cost: Estimate
    expert_hours: float
    days: float
    human: Estimate
    model: Estimate
    gap: Estimate
    attrition: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Power(Record):
    """How often a trial of so many workers in each arm shows that the gap between people and models differs.

    *difference* is that of the simulated arms, *seen* the share of trials that show it; *gap_seen* is how often a
    difference of *gap* would be shown.
    """

    first: str
    second: str
    workers: int
    difference: Estimate
    seen: Estimate
    gap: float
    gap_seen: float | None


@dataclass(frozen=True, slots=True)
class Forecast(Record):
    """What simulated trials came to."""

    workers: int
    trials: int
    seed: int
    currency: str
    arms: list[ArmForecast]
    power: list[Power]
    seconds: float
