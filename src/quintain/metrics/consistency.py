"""Consistency over contrast sets (Gardner et al., 2020): whether a whole set is right, its original included.

A set is a group of examples. What counts as right is the type of answer's to say (`AnswerKind.right_by`): F1 above 0.8
for spans, the whole set of choices, the label itself.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from quintain.metrics.aligned import Aligned
from quintain.metrics.contract import METRICS, MeanMetric, Metric
from quintain.stats.bootstrap import FloatArray, IntArray, Prior, Tally
from quintain.tasks.answer_kinds.contract import answers_of


@METRICS.register("consistency")
class Consistency(Metric):
    """The share of groups (contrast sets) in which every answer is right; without groups, of right answers."""

    name = "consistency"
    title = "Contrast consistency"
    answer_types = ("label", "choice", "choices", "token", "span", "text", "discrete")

    def tally(self, data: Aligned) -> Tally:
        """Let each example add its share of its set, and of the set being right."""
        return data.once("consistency", lambda: _tally(right_answers(data), data.groups))

    def value(self, totals: FloatArray) -> FloatArray:
        """Divide the sets that are right by all sets."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(totals[..., 0] / totals[..., 1], dtype=np.float64)

    def tally_slice(self, data: Aligned, tally: Tally, rows: IntArray) -> Tally:
        """Ask of each set only those members that are in the slice."""
        del tally
        return _tally(right_answers(data)[rows], None if data.groups is None else data.groups[rows])


def right_answers(data: Aligned) -> npt.NDArray[np.bool_]:
    """Return whether each example was answered rightly."""
    right_by = answers_of(data.answer_type).right_by
    if right_by is None:
        return np.asarray((data.gold == data.predictions).fill_null(False).to_numpy(), dtype=np.bool_)
    name, least = right_by
    metric = METRICS.get(name)()
    if not isinstance(metric, MeanMetric):
        raise TypeError(f"{name} has no score for each example")
    return np.asarray(metric.scores(data) > least, dtype=np.bool_)


def _tally(right: npt.NDArray[np.bool_], groups: IntArray | None) -> Tally:
    sets = np.arange(len(right)) if groups is None else np.unique(groups, return_inverse=True)[1]
    sizes = np.bincount(sets).astype(np.float64)
    whole = np.bincount(sets, weights=~right) == 0
    share = 1.0 / sizes[sets]
    # What is not known counts in examples: one of a set of the usual size.
    usual = 1.0 / float(sizes.mean()) if len(sizes) else 1.0
    ends = Prior(np.array([[usual, usual]]), np.array([[0.0, usual]]))
    rows, codes = np.unique(np.column_stack([share * whole[sets], share]), axis=0, return_inverse=True)
    return Tally(codes.reshape(-1).astype(np.int64), rows, ends)
