"""Majority vote in which the writer of an item has a vote of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quintain.core.errors import BadInput
from quintain.labels.contract import AGGREGATORS, Aggregated, Aggregator, Known
from quintain.labels.majority import vote
from quintain.stats.judgements import Judgements, sample_votes


@AGGREGATORS.register("writer-vote")
@dataclass(frozen=True)
class WriterVote(Aggregator):
    """The majority of the writer's label and at most *sample* judgements, drawn by the seed.

    An item with two judgements is decided by three votes (2-way), one with ten by five (10-way): the six that were not
    drawn are kept for measuring people. *used* marks those that were.
    """

    name = "writer-vote"
    title = "The majority of the writer's label and at most four sampled judgements; the rest are kept apart"
    needs = ("writer",)

    sample: int = 4

    def __post_init__(self) -> None:
        if self.sample < 1:
            raise BadInput(
                "A sample of {sample} judgements decides nothing.", sample=self.sample, remedy="Sample 1 or more."
            )

    def run(self, judgements: Judgements, seed: int, known: Known) -> Aggregated:
        """Draw the judgements, add the writers' votes, and count."""
        used = sample_votes(judgements, self.sample, seed=seed)
        counts = judgements.take(used).counts()
        writer = np.asarray(known.writer)
        labelled = np.flatnonzero(writer >= 0)
        counts[labelled, writer[labelled]] += 1
        return vote(judgements, counts, seed, used=used, details={"reserved": int((~used).sum())})
