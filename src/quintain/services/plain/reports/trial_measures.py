"""What the report of a trial is measured by: slices of the items, how votes are drawn, and one arm in figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from quintain.core.records.figures import Estimate
from quintain.core.texts import Text
from quintain.data.trials import TrialArm, items_of
from quintain.stats.arms import EVERYTHING, NAMES, ArmSums, SliceFigures, agreement, figures, sum_arm
from quintain.stats.human import SLICES

LEAST = dict(SLICES)["at_least_4_of_5"]  # of the votes


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """How votes are drawn: so many set an item's label, so often, from which seed; resamples for the intervals."""

    sample: int = 4
    draws: int = 100
    seed: int = 0
    resamples: int = 1000


def slice_words(name: str, votes: int | None = None) -> Text:
    """Name a slice by the number of *votes* that set the labels; None where that is not the same everywhere.

    >>> str(slice_words("at_least_4_of_5", 3)), str(slice_words("unanimous"))
    ('at least 3 of 3 votes agree', 'all votes agree')
    """
    if name == EVERYTHING:
        return Text("all that was judged")
    if name == "all":
        return Text("judged often")
    if votes is None:
        return Text("all votes agree") if name == "unanimous" else Text("at least 80 % of votes agree")
    if name == "unanimous":
        return Text("all {n} votes agree", n=votes)
    return Text("at least {k} of {n} votes agree", k=ceil(LEAST * votes - 1e-9), n=votes)


def votes_of(arms: Sequence[TrialArm], options: ReportOptions) -> int | None:
    """Return the number of votes that set a label in all of *arms*; None where arms differ in it."""
    numbers = {options.sample + arm.writer_votes for arm in arms}
    return numbers.pop() if len(numbers) == 1 else None


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
