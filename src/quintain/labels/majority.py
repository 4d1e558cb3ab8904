"""Majority vote, with a minimum below which an item has no label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from quintain.core.errors import BadInput
from quintain.labels.contract import AGGREGATORS, Aggregated, Aggregator, Known, shares
from quintain.stats.judgements import NONE, Judgements, best_class


@AGGREGATORS.register("majority")
@dataclass(frozen=True)
class Majority(Aggregator):
    """The label that most chose: more than half of an item's votes, or at least *minimum* of them; else none."""

    name = "majority"
    title = "The label with more than half of the votes, or with at least a minimum of votes; else none"
    without_label = "--minimum 1 gives them the most frequent label"

    minimum: int | None = None

    def __post_init__(self) -> None:
        if self.minimum is not None and self.minimum < 1:
            raise BadInput("The minimum of votes is {minimum}.", minimum=self.minimum, remedy="It must be 1 or more.")

    def run(self, judgements: Judgements, seed: int, known: Known) -> Aggregated:
        """Count the votes."""
        return vote(judgements, judgements.counts(), seed, self.minimum)


def vote(
    judgements: Judgements, counts: npt.NDArray[Any], seed: int, minimum: int | None = None, **beside: Any
) -> Aggregated:
    """Take a vote over *counts* (items × classes); without *minimum*, more than half must agree."""
    top, total = counts.max(axis=1), counts.sum(axis=1)
    if minimum is None:  # nothing is tied with more than half
        enough, label = 2 * top > total, counts.argmax(axis=1)
    else:
        enough, label = top >= minimum, best_class(counts, judgements.items, judgements.classes, seed=seed)
    distribution = shares(counts)
    return Aggregated(
        judgements.items,
        judgements.classes,
        np.where(enough, label, NONE),
        distribution.max(axis=1),
        distribution,
        **beside,
    )
