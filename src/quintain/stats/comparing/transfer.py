"""Transfer between data sets: train on each, and on others from outside, and try on all of them.

On the diagonal a data set is cut into five folds in which no context is on both sides. Elsewhere the learner sees four
fifths of the contexts, too, drawn anew by every seed: rows rest on the same amount of data as the diagonal, and the
deviation over seeds says what another draw of the training data would have changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quintain.core.records.figures import Estimate
from quintain.core.records.study import TransferCell
from quintain.stats.artefacts.examples import Examples
from quintain.stats.artefacts.learner import OPTIONS, LinearLearner, SeenFields, Teachable, grouped_folds, over_folds
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.posterior import mean_estimate

FOLDS = 5
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Transfer:
    """What is compared (*parts*), what else is learned from (*outside*), by whom, and with how many seeds."""

    parts: Mapping[str, Examples]
    outside: Mapping[str, Examples] = field(default_factory=dict)
    learner: Teachable = field(default_factory=LinearLearner)
    seeds: int = 3
    seed: int = 0

    @property
    def rows(self) -> list[str]:
        """The names of all that is learned from, those from outside first."""
        return [*self.outside, *self.parts]


class TransferRows:
    """The rows of the matrix, one at a time: texts are read once, and a row can be kept before the next is begun."""

    def __init__(self, transfer: Transfer) -> None:
        self.transfer = transfer
        known = {**transfer.outside, **transfer.parts}
        labels = list(dict.fromkeys(label for one in known.values() for label in one.labels))
        self.whole = {name: one.recoded(labels) for name, one in known.items()}
        self.reading = SeenFields(shared_fields(known))
        self._ready: dict[str, Any] = {}

    def row(self, train: str, done: Callable[[float], None] = lambda _share: None) -> list[TransferCell]:
        """Learn from *train*, and try on every part."""
        transfer, outside = self.transfer, train not in self.transfer.parts
        right: dict[str, list[FloatArray]] = {name: [] for name in transfer.parts}
        for turn in range(transfer.seeds):
            for name, hits in self._once(train, transfer.seed + turn).items():
                right[name].append(hits)
            done((turn + 1) / transfer.seeds)
        return [
            TransferCell(train, name, *self._figures(name, runs), own=name == train, outside=outside)
            for name, runs in right.items()
        ]

    def _once(self, train: str, seed: int) -> dict[str, FloatArray]:
        """Return which examples of each part are answered rightly after learning from *train*."""
        taught, learner, right_by_set = self.whole[train], self.transfer.learner, dict[str, FloatArray]()
        groups = taught.groups
        folds = min(FOLDS, int(groups.max()) + 1) if len(groups) else 0
        if folds < 2 or len(np.unique(taught.answer)) < 2:
            return right_by_set
        fold = grouped_folds(groups, folds, seed)
        others = [name for name in self.transfer.parts if name != train]
        asked = [(self._read(name), np.arange(len(self.whole[name]))) for name in others]
        answers = learner.answers(self._read(train), np.flatnonzero(fold != 0), asked, seed) if asked else []
        for name, predicted in zip(others, answers, strict=True):
            right_by_set[name] = (predicted == self.whole[name].answer).astype(np.float64)
        if train in self.transfer.parts:
            right_by_set[train] = (over_folds(learner, self._read(train), fold, seed) == taught.answer).astype(
                np.float64
            )
        return right_by_set

    def _read(self, name: str) -> Any:
        if name not in self._ready:
            self._ready[name] = self.transfer.learner.ready(self.whole[name], self.reading)
        return self._ready[name]

    def _figures(self, test: str, right: list[FloatArray]) -> tuple[Estimate, float, tuple[float, ...]]:
        if not right:
            return Estimate(None, reason="all examples to learn from have one answer, or one context"), 0.0, ()
        runs = tuple(float(one.mean()) for one in right)
        mean = clustered_mean(np.mean(right, axis=0), self.whole[test].groups, self.transfer.seed)
        return mean, float(np.std(runs, ddof=1)) if len(runs) > 1 else 0.0, runs


def clustered_mean(values: FloatArray, groups: IntArray, seed: int = 0, resamples: int = RESAMPLES) -> Estimate:
    """Return the mean of shares with its interval over groups, by the posterior that metrics use.

    >>> found = clustered_mean(np.array([1.0, 1.0, 1.0]), np.array([0, 0, 1]))
    >>> found.value, found.high, found.low < 0.5
    (1.0, 1.0, True)
    """
    return mean_estimate(values, groups=groups, seed=seed, resamples=resamples)


def shared_fields(known: Mapping[str, Examples]) -> list[str]:
    """Name the fields that all data sets have; options are always among them."""
    first = next(iter(known.values()))
    names = [name for name in first.fields if all(name in one.fields for one in known.values())]
    return [*names, OPTIONS] if first.options else names
