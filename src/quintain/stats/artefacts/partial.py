"""Partial inputs: how often the answer is found from only some of the fields, over five folds, against chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from quintain.core.records.figures import Estimate
from quintain.stats.artefacts.examples import Examples
from quintain.stats.artefacts.learner import OPTIONS, LinearLearner, SeenFields, Teachable, grouped_folds, over_folds
from quintain.stats.workers import wilson_share

FOLDS = 5
MOST_ARMS = 6  # that are looked at by themselves


@dataclass(frozen=True, slots=True)
class PartialInput:
    """What was found from *fields*: accuracy with Wilson's interval, its deviation over folds, and what *chance* has.

    *masked* is whether content words were hidden. Where examples are of several arms, *arms* has how often the same
    learner is right on each, and *chance_by_arm* what chance has there.
    """

    fields: tuple[str, ...]
    accuracy: Estimate
    deviation: float
    chance: float
    examples: int
    folds: int
    masked: bool = False
    arms: Mapping[str, Estimate] = field(default_factory=dict)
    chance_by_arm: Mapping[str, float] = field(default_factory=dict)

    @property
    def above_chance(self) -> bool:
        """Whether the answer is given away beyond chance."""
        return self.accuracy.low is not None and self.accuracy.low > self.chance


def subsets_of(examples: Examples) -> list[tuple[str, ...]]:
    """Name the subsets of the fields that are worth a try: each alone, all but one, and for choices the options alone.

    Options are in all of them, since something has to be chosen from.
    """
    names = list(examples.fields)
    if examples.options:
        return [*((*some, OPTIONS) for size in range(len(names)) for some in combinations(names, size))]
    if len(names) == 1:
        return [tuple(names)]
    return [some for size in range(1, len(names)) for some in combinations(names, size)]


def partial_input(
    examples: Examples,
    fields: Sequence[str],
    *,
    folds: int = FOLDS,
    seed: int = 0,
    masked: bool = False,
    learner: Teachable | None = None,
) -> PartialInput:
    """Learn the answer from *fields* alone, and try it on examples of other contexts."""
    groups = examples.groups
    folds = min(folds, int(groups.max()) + 1) if len(groups) else 0
    if folds < 2 or len(np.unique(examples.answer)) < 2:
        reason = "all examples have one answer" if folds >= 2 else "there are fewer than two contexts"
        none = Estimate(None, reason=reason)
        return PartialInput(tuple(fields), none, 0.0, examples.chance, len(examples), folds, masked)
    fold = grouped_folds(groups, folds, seed)
    learner = learner or LinearLearner()
    answers = over_folds(learner, learner.ready(examples, SeenFields(fields, masked)), fold, seed)
    right = answers == examples.answer
    by_fold = [float(right[fold == one].mean()) for one in range(folds) if (fold == one).any()]
    accuracy = wilson_share(int(right.sum()), len(right))
    spread = float(np.std(by_fold, ddof=1)) if len(by_fold) > 1 else 0.0
    of = np.asarray(examples.arm)
    arms = {arm: of == arm for arm in examples.arms(MOST_ARMS)}
    return PartialInput(
        tuple(fields),
        accuracy,
        spread,
        examples.chance,
        len(right),
        folds,
        masked,
        {arm: wilson_share(int(right[rows].sum()), int(rows.sum())) for arm, rows in arms.items()},
        {arm: examples.take(np.flatnonzero(rows)).chance for arm, rows in arms.items()},
    )
