"""Estimates from a machine's labels of many items and people's of some, with intervals that stay true.

Prediction-powered inference (Angelopoulos et al., Science 2023): what the machine says of the items that nobody judged
moves the estimate, and its errors, measured where people judged, move it back. How much it may move it is tuned (PPI++,
Angelopoulos, Duchi and Zrnic, 2023), so that a machine that is of no use costs nothing: then people alone decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from quintain.core.errors import BadInput
from quintain.stats.bootstrap import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Powered:
    """An estimate with its interval and standard error; *weight* is how much the machine's labels count in it.

    *variance* is that of one item that people judged, and *explained* the share of it that the machine foretells.
    """

    value: float
    low: float
    high: float
    error: float
    weight: float
    variance: float
    explained: float

    @property
    def width(self) -> float:
        """How wide the interval is."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Parts:
    """What each item adds to a figure: by people's label and by the machine's where people judged, and elsewhere.

    For a mean these are the scores themselves, for another figure how it moves with one item. *floor* is how many items
    an interval without any spread rests on. *step* is the most by which one error of the machine moves an item, and
    *own* the same for people alone, where their interval does not see to that by itself.
    """

    people: FloatArray
    machine: FloatArray
    elsewhere: FloatArray
    floor: float
    step: float = 1.0
    own: float = 0.0


def share_interval(value: float, error: float, floor: float, most: float, confidence: float) -> tuple[float, float]:
    """Return Wilson's interval of a share with this standard error, as of so many items as would have that error.

    Without any spread it rests on *floor* items, and never on more than *most*.

    >>> [round(side, 3) for side in share_interval(0.8, math.sqrt(0.8 * 0.2 / 10), 10, 10, 0.95)]
    [0.49, 0.943]
    """
    z = float(scipy.special.ndtri(0.5 + confidence / 2))
    n = value * (1 - value) / error**2 if error > 0 and 0 < value < 1 else floor
    n = min(max(n, 1.0), most)
    centre = (value + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(value * (1 - value) / n + z * z / (4 * n * n))
    return (0.0 if value == 0 else max(0.0, centre - half)), (1.0 if value == 1 else min(1.0, centre + half))


def best_weight(parts: Parts) -> float:
    """Return the weight of the machine's labels that makes the estimate vary least; 0 where they say nothing."""
    everywhere = np.concatenate([parts.machine, parts.elsewhere])
    spread = float(everywhere.var())
    if not len(parts.elsewhere) or spread == 0 or len(parts.people) < 2:
        return 0.0
    return min(1.0, max(-1.0, _covariance(parts) / (spread * (1 + len(parts.people) / len(parts.elsewhere)))))


def _covariance(parts: Parts) -> float:
    return float(((parts.people - parts.people.mean()) * (parts.machine - parts.machine.mean())).mean())


def powered_error(parts: Parts, weight: float) -> float:
    """Return the standard error at *weight*."""
    n, more = len(parts.people), len(parts.elsewhere)
    lost = 2 if weight else 1  # the weight is learned from the same items
    unseen = (parts.step if weight else parts.own) ** 2  # a rare error that these few items happen not to show
    residual = (float((parts.people - weight * parts.machine).var()) * n + unseen) / max(n - lost, 1)
    return math.sqrt(residual / n + (weight**2 * float(parts.elsewhere.var()) / more if weight else 0.0))


def powered_mean(parts: Parts, confidence: float = 0.95) -> tuple[Powered, Powered]:
    """Return the mean from people alone, and from both; the second interval is never wider than the first.

    >>> people, machine = np.tile([1.0, 1, 0, 0], 25), np.tile([1.0, 1, 0, 0], 25)
    >>> alone, both = powered_mean(Parts(people, machine, np.tile([1.0, 0], 5000), 100))
    >>> alone.value, round(both.value, 2), both.width < alone.width / 2
    (0.5, 0.5, True)
    """
    _need_items(len(parts.people))

    def at(weight: float) -> Powered:
        shift = weight * (float(parts.elsewhere.mean()) - float(parts.machine.mean())) if weight else 0.0
        return around(float(parts.people.mean()) + shift, parts, weight, confidence)

    return _no_wider(at(0.0), at(best_weight(parts)))


def around(value: float, parts: Parts, weight: float, confidence: float) -> Powered:
    """Return *value* with the interval that *parts* give it at *weight*."""
    value = min(1.0, max(0.0, value))
    error = powered_error(parts, weight)
    most = float(len(parts.people) + (len(parts.elsewhere) if weight else 0))
    low, high = share_interval(value, error, min(parts.floor, most), most, confidence)
    variance, spread = float(parts.people.var()), float(parts.machine.var())
    explained = min(1.0, _covariance(parts) ** 2 / (variance * spread)) if variance and spread else 0.0
    return Powered(value, low, high, error, weight, variance, explained)


def _need_items(n: int) -> None:
    if not n:
        raise BadInput(
            "No item has people's labels and the machine's.", remedy="Call the items by the same names in both files."
        )


def _no_wider(alone: Powered, both: Powered) -> tuple[Powered, Powered]:
    return alone, both if both.width < alone.width else alone


def powered_macro_f1(
    people: FloatArray,
    machine: IntArray,
    predicted: IntArray,
    elsewhere: tuple[IntArray, IntArray],
    confidence: float = 0.95,
) -> tuple[Powered, Powered]:
    """Return macro F1 from people alone, and from both.

    *people* are items × classes with rows that add up to 1, *machine* and *predicted* the classes that the machine and
    the model that is scored give the same items; *elsewhere* are those two on all others.
    """
    _need_items(len(people))
    size = people.shape[1]
    by_people = _cells(people, predicted)
    by_machine = _cells(np.eye(size)[machine], predicted)
    others = by_machine
    if len(elsewhere[0]):
        codes = elsewhere[0] * size + elsewhere[1]
        others = np.bincount(codes, minlength=size * size).reshape(size, size) / len(codes)
    slopes = f1_slopes(by_people)
    support = by_people.sum(axis=1)[by_people.sum(axis=1) > 0] * len(people)
    floor = len(support) ** 2 / float((1 / support).sum())
    step = float(slopes.max() - slopes.min())
    moved = np.asarray((people * slopes[:, predicted].T).sum(axis=1), dtype=np.float64)
    parts = Parts(moved, slopes[machine, predicted], slopes[elsewhere], floor, step, step)

    def at(weight: float) -> Powered:
        cells = np.maximum(by_people + weight * (others - by_machine), 0.0)
        return around(macro_f1(cells), parts, weight, confidence)

    return _no_wider(at(0.0), at(best_weight(parts)))


def _cells(labels: FloatArray, predicted: IntArray) -> FloatArray:
    """Return the shares of (label, prediction)."""
    cells = np.zeros((labels.shape[1], labels.shape[1]))
    np.add.at(cells.T, predicted, labels)
    return cells / len(labels)


def macro_f1(cells: FloatArray) -> float:
    """Return the mean F1 of the classes that occur, from shares of (label, prediction).

    >>> macro_f1(np.array([[0.5, 0.0], [0.0, 0.5]]))
    1.0
    """
    sides = cells.sum(axis=1) + cells.sum(axis=0)
    occurs = sides > 0
    return float((2 * np.diag(cells)[occurs] / sides[occurs]).mean()) if occurs.any() else 0.0


def f1_slopes(cells: FloatArray) -> FloatArray:
    """Return how macro F1 moves with each cell."""
    sides = cells.sum(axis=1) + cells.sum(axis=0)
    occurs = sides > 0
    safe = np.where(occurs, sides, 1.0)
    f1 = np.where(occurs, 2 * np.diag(cells) / safe, 0.0)
    per_class = np.where(occurs, f1 / safe, 0.0)
    slopes = -(per_class[:, None] + per_class[None, :]) + np.diag(np.where(occurs, 2 / safe, 0.0))
    return np.asarray(slopes / max(int(occurs.sum()), 1), dtype=np.float64)


def judgements_needed(estimate: Powered, labelled: int, half_width: float, confidence: float = 0.95) -> tuple[int, int]:
    """Return how many judged items make the interval ± *half_width*: by people alone, and with a machine.

    *labelled* are the items that have the machine's label, judged or not.

    >>> judgements_needed(Powered(0.5, 0.4, 0.6, 0.05, 0.5, 0.25, 0.8), 100_000, 0.01)
    (9604, 2081)
    """
    aim = (half_width / float(scipy.special.ndtri(0.5 + confidence / 2))) ** 2
    alone = math.ceil(estimate.variance / aim - 1e-9)
    # The best weight falls as more is judged; what the machine foretells is known no better than on all its items.
    left = aim - estimate.variance * estimate.explained / labelled
    together = math.ceil(estimate.variance * (1 - estimate.explained) / left - 1e-9) if left > 0 else alone
    return alone, together if together < min(alone, labelled) else alone
