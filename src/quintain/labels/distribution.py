"""The votes as a distribution over the labels."""

from __future__ import annotations

from dataclasses import dataclass

from quintain.labels.contract import AGGREGATORS, Aggregated, Aggregator, Known, from_posterior, shares
from quintain.stats.judgements import Judgements


@AGGREGATORS.register("distribution")
@dataclass(frozen=True)
class Distribution(Aggregator):
    """The share of votes of each label; an item's label is the most frequent one."""

    name = "distribution"
    title = "The share of votes of each label; the most frequent one is the label"

    def run(self, judgements: Judgements, seed: int, known: Known) -> Aggregated:
        """Divide the votes by their number."""
        return from_posterior(judgements, shares(judgements.counts()), seed)
