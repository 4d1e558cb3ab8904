"""What the report of a trial is measured by: slices of the items, how votes are drawn, and one arm in figures."""

from __future__ import annotations

from dataclasses import dataclass

from quintain.core.records.figures import Estimate
from quintain.core.texts import Text
from quintain.data.trials import TrialArm, items_of
from quintain.stats.arms import EVERYTHING, NAMES, ArmSums, SliceFigures, agreement, figures, sum_arm

SLICE_WORDS = {
    EVERYTHING: Text("all that was judged"),
    "all": Text("judged often"),
    "at_least_4_of_5": Text("at least 4 of 5 votes agree"),
    "unanimous": Text("all votes agree"),
}


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """How votes are drawn: so many set an item's label, so often, from which seed; resamples for the intervals."""

    sample: int = 4
    draws: int = 100
    seed: int = 0
    resamples: int = 1000


@dataclass(frozen=True, slots=True)
class MeasuredArm:
    """What one arm comes to: its sums, its figures on each slice, and how far people agree."""

    arm: TrialArm
    sums: ArmSums
    slices: dict[str, SliceFigures]
    alpha: Estimate
    alpha_many: Estimate
    collected: int
    many: bool


def measure(arm: TrialArm, options: ReportOptions) -> MeasuredArm:
    """Measure the judged items of an arm."""
    items = items_of(arm)
    sums = sum_arm(items, sample=options.sample, seeds=options.draws, seed=options.seed)
    many = bool((items.judgements.sizes() > options.sample).any())
    drawing = {"seed": options.seed, "resamples": options.resamples}
    return MeasuredArm(
        arm,
        sums,
        {name: figures(sums, name, **drawing) for name in NAMES},
        agreement(items, **drawing),
        agreement(items, many=options.sample, **drawing) if many else Estimate(None, reason="no item was judged often"),
        len(items.label),
        many,
    )
