"""A data set as it is compared: its examples and, where they are known, tags, votes, and what models say."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from quintain.stats.arms import ArmItems, ArmSums, sum_arm
from quintain.stats.artefacts.examples import Examples
from quintain.stats.bootstrap import IntArray
from quintain.stats.comparing.gap import sum_votes
from quintain.stats.judgements import Judgements


@dataclass(frozen=True, slots=True)
class ComparedSet:
    """Examples under a name, with what else is known of each.

    *votes* counts those for each answer, in the last column those for none of them; *intended* is what the writer
    meant, where that is not the answer itself; *predictions* are the models' answers, -1 for what is none.
    """

    name: str
    examples: Examples
    ids: Sequence[str] = ()
    tags: Sequence[Sequence[str]] = ()
    votes: IntArray | None = None
    intended: IntArray | None = None
    predictions: Mapping[str, IntArray] = field(default_factory=dict)

    def digest(self) -> str:
        """Give a hash of the content."""
        made = hashlib.sha256(f"{self.name} {self.examples.digest()}".encode())
        for codes in (self.votes, self.intended, *self.predictions.values()):
            made.update(b"" if codes is None else codes.tobytes())
        made.update(repr([list(self.predictions), self.tags]).encode("utf-8", "replace"))
        return made.hexdigest()


def people_and_models(one: ComparedSet, *, sample: int = 4, draws: int = 100, seed: int = 0) -> ArmSums:
    """Add up how often people and models are right, by slice of agreement.

    Where the writers' own labels are known and votes can be kept apart, a sample of the votes and the writer's set the
    label, and the others measure people; else the answers stand, and all votes do.
    """
    number = len(one.examples)
    places = np.zeros((number, len(one.examples.labels) + 1), dtype=np.int64) if one.votes is None else one.votes
    cluster = one.examples.writer or one.examples.context or range(number)
    groups = np.unique(np.asarray(cluster), return_inverse=True)[1].astype(np.int64)
    if one.intended is not None and (places.sum(axis=1) > sample).any():
        return sum_arm(_as_arm(one, places, groups), sample=sample, seeds=draws, seed=seed)
    return sum_votes(one.name, places, one.examples.answer, groups, one.predictions)


def _as_arm(one: ComparedSet, votes: IntArray, groups: IntArray) -> ArmItems:
    item, label = (np.repeat(part, votes[votes > 0]) for part in np.nonzero(votes))
    worker = np.concatenate([np.arange(size) for size in votes.sum(axis=1).tolist()])
    # Names that are in order already, so that codes stay what they are.
    judged = Judgements.from_codes(
        item,
        worker,
        label,
        [f"{at:09}" for at in range(len(votes))],
        [f"{at:09}" for at in range(int(worker.max()) + 1)],
        [f"{at:09}" for at in range(votes.shape[1])],
    )
    meant = one.examples.answer if one.intended is None else one.intended
    return ArmItems(one.name, judged, meant, groups, one.predictions, votes.shape[1] - 1)
