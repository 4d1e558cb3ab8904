"""A data set as it is compared: its examples and, where they are known, tags, votes, and what models say."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from quintain.stats.arms import EVERYTHING, ArmItems, ArmSums, family, sum_arm
from quintain.stats.artefacts.examples import Examples
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.human import SLICES
from quintain.stats.judgements import Judgements


def sum_votes(
    name: str, votes: IntArray, gold: IntArray, groups: IntArray, predictions: Mapping[str, IntArray]
) -> ArmSums:
    """Add up people and models by group: *votes* are items × classes, *gold* a class of each item.

    Items without votes count only towards everything. A prediction of -1 is an answer that is wrong.
    """
    codes = np.unique(groups, return_inverse=True)[1]
    number = int(codes.max()) + 1
    size = votes.sum(axis=1)
    share = votes[np.arange(len(gold)), gold] / np.maximum(size, 1)
    right = {model: (said == gold).astype(np.float64) for model, said in predictions.items()}
    families: dict[str, list[str]] = {}
    for model in predictions:
        families.setdefault(family(model), []).append(model)

    def add(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(codes, values, minlength=number), dtype=np.float64)

    items, human, models, asked, runs, spread = {}, {}, {}, {}, {}, {}
    for slice_, least in ((EVERYTHING, -1.0), *SLICES):
        inside = np.ones(len(gold)) if slice_ == EVERYTHING else ((size > 0) & (share >= least - 1e-9)).astype(float)
        items[slice_], human[slice_] = add(inside), add(inside * share)
        models[slice_] = {one: add(inside * sum(right[run] for run in own)) for one, own in families.items()}
        asked[slice_] = {one: add(inside * len(own)) for one, own in families.items()}
        runs[slice_] = {
            one: tuple(float((inside * right[run]).sum() / max(inside.sum(), 1e-9)) for run in own)
            for one, own in families.items()
        }
        spread[slice_] = (0.0, 0.0)
    return ArmSums(name, items, human, models, asked, runs, spread)


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
        """Return a hash of the content."""
        hasher = hashlib.sha256(f"{self.name} {self.examples.digest()}".encode())
        for codes in (self.votes, self.intended, *self.predictions.values()):
            hasher.update(b"" if codes is None else codes.tobytes())
        hasher.update(repr([list(self.predictions), self.tags]).encode("utf-8", "replace"))
        return hasher.hexdigest()


def measured_apart(dataset: ComparedSet, *, sample: int = 4) -> bool:
    """Whether other votes measure people than those that set the labels and say how far people agree."""
    return (
        dataset.intended is not None and dataset.votes is not None and bool((dataset.votes.sum(axis=1) > sample).any())
    )


def people_and_models(dataset: ComparedSet, *, sample: int = 4, draws: int = 100, seed: int = 0) -> ArmSums:
    """Add up how often people and models are right, by slice of agreement.

    Where the writers' own labels are known and votes can be kept apart, a sample of the votes and the writer's set the
    label, and the others measure people; else the answers stand, and all votes do.
    """
    number = len(dataset.examples)
    places = (
        np.zeros((number, len(dataset.examples.labels) + 1), dtype=np.int64) if dataset.votes is None else dataset.votes
    )
    cluster = dataset.examples.writer or dataset.examples.context or range(number)
    groups = np.unique(np.asarray(cluster), return_inverse=True)[1].astype(np.int64)
    if measured_apart(dataset, sample=sample):
        return sum_arm(_as_arm(dataset, places, groups), sample=sample, seeds=draws, seed=seed)
    return sum_votes(dataset.name, places, dataset.examples.answer, groups, dataset.predictions)


def _as_arm(dataset: ComparedSet, votes: IntArray, groups: IntArray) -> ArmItems:
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
    meant = dataset.examples.answer if dataset.intended is None else dataset.intended
    return ArmItems(dataset.name, judged, meant, groups, dataset.predictions, votes.shape[1] - 1)
