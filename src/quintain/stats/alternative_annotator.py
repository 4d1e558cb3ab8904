"""The alternative annotator test: whether a machine may take the place of one of several people.

After Calderon, Reichart and Dror, "The Alternative Annotator Test for LLM-as-a-Judge" (ACL 2025). Each person is left
out in turn: on every item, the person and the machine are scored by the share of the other people with whom they agree.
The machine beats a person whose advantage is surely below a margin: what people cost beyond a machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judgements import NONE, Judgements
from quintain.stats.multiplicity import step_up

LEAST_ITEMS = 30  # shared items below which a person is not tested, as published
MARGIN = 0.1
FALSE_RATE = 0.05


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What came of leaving out one person, whose code is *worker*: on how many *items* the two could be compared.

    *advantage* is the share of them on which the machine does at least as well, *disadvantage* that on which the
    person does; *p* is of the person's advantage being the margin or more.
    """

    worker: int
    items: int
    advantage: float
    disadvantage: float
    p: float
    beaten: bool


@dataclass(frozen=True, slots=True)
class AlternativeTest:
    """The persons that were tested, the share of them that the machine beats, and its mean advantage."""

    persons: tuple[LeftOut, ...]
    winning_rate: float | None
    advantage: float | None


def benjamini_yekutieli(p: FloatArray, rate: float = FALSE_RATE) -> npt.NDArray[np.bool_]:
    """Return which tests stand where they may depend on each other in any way (Benjamini, Yekutieli 2001).

    >>> benjamini_yekutieli(np.array([0.001, 0.04, 0.9])).tolist()
    [True, False, False]
    """
    harmonic = float(np.sum(1 / np.arange(1, len(p) + 1)))
    return step_up(p, rate / harmonic if len(p) else rate)


def agreement_with_rest(counts: IntArray, items: IntArray, labels: IntArray, *, among: bool) -> FloatArray:
    """Return with what share of an item's people each label agrees; *among* says that its giver is one of them.

    *counts* are the votes of people, items × classes. NaN where there is nobody else, or no label.

    >>> counts = np.array([[2, 1]])
    >>> agreement_with_rest(counts, np.array([0, 0]), np.array([0, 1]), among=True).tolist()
    [0.5, 0.0]
    """
    own = 1 if among else 0
    same = np.take_along_axis(counts[items], np.maximum(labels, 0)[:, None], axis=1)[:, 0] - own
    rest = counts.sum(axis=1)[items] - own
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((rest > 0) & (labels != NONE), same / rest, np.nan)


def alternative_test(
    people: Judgements, machine: IntArray, margin: float = MARGIN, least_items: int = LEAST_ITEMS
) -> AlternativeTest:
    """Leave out each person with at least *least_items* items that the machine and somebody else judged, too.

    *machine* has its class for every item, -1 where it gave none.

    >>> votes = Judgements.of(["a", "a", "a"], ["ann", "bob", "cy"], ["yes", "yes", "no"])
    >>> [person.advantage for person in alternative_test(votes, np.array([1]), least_items=1).persons]
    [1.0, 1.0, 1.0]
    """
    counts = people.counts()
    own = agreement_with_rest(counts, people.item, people.label, among=True)
    # The one who is left out does not score the machine either.
    label = machine[people.item]
    rest = counts.sum(axis=1)[people.item] - 1
    same = np.take_along_axis(counts[people.item], np.maximum(label, 0)[:, None], axis=1)[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        other = np.where((rest > 0) & (label != NONE), (same - (label == people.label)) / rest, np.nan)
    shared = ~np.isnan(other)
    tested = [
        _left_out(worker, own[rows], other[rows], margin)
        for worker, rows in _rows_of(people.worker, shared)
        if len(rows) >= least_items
    ]
    beaten = benjamini_yekutieli(np.array([person.p for person in tested]))
    persons = tuple(
        LeftOut(person.worker, person.items, person.advantage, person.disadvantage, person.p, bool(beats))
        for person, beats in zip(tested, beaten, strict=True)
    )
    if not persons:
        return AlternativeTest((), None, None)
    return AlternativeTest(persons, float(beaten.mean()), float(np.mean([person.advantage for person in persons])))


def _rows_of(worker: IntArray, keep: npt.NDArray[np.bool_]) -> list[tuple[int, IntArray]]:
    """Return the rows of each worker among those to keep."""
    rows = np.flatnonzero(keep)
    order = rows[np.argsort(worker[rows], kind="stable")]
    names, starts = np.unique(worker[order], return_index=True)
    return (
        [(int(name), part) for name, part in zip(names, np.split(order, starts[1:]), strict=True)] if len(rows) else []
    )


def _left_out(worker: int, own: FloatArray, other: FloatArray, margin: float) -> LeftOut:
    machine_wins, person_wins = other >= own - 1e-12, own >= other - 1e-12
    ahead = person_wins.astype(np.float64) - machine_wins
    return LeftOut(
        worker, len(own), float(machine_wins.mean()), float(person_wins.mean()), _below(ahead, margin), beaten=False
    )


def _below(values: FloatArray, bound: float) -> float:
    """Return the p-value of the one-sided t-test that the mean of *values* is below *bound*."""
    n, mean = len(values), float(values.mean())
    spread = float(values.std(ddof=1)) if n > 1 else 0.0
    if spread == 0.0:  # on every item the same of the two is ahead
        return 0.0 if mean < bound else 1.0
    return float(scipy.special.stdtr(n - 1, (mean - bound) / (spread / np.sqrt(n))))
