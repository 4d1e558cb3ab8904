"""How well people do at the task themselves, estimated from the judgements that set the gold labels or were kept apart.

- **Synthetic annotators** (DynaSent, section 3.5): the judgements of every item are shuffled, the first ones make the
  first annotator, and so on; each annotator is scored against gold, and the scores are averaged. It is conservative:
  the one who disagreed on a 4-of-5 item is always one of them.
- **Held-out majority** (Nangia et al. 2021, section 5.1): a sample of the votes and the writer's set the gold, the
  majority of the others is the human answer.

Both are repeated over many seeds: a figure is their mean, and its *spread* is their standard deviation, which says
nothing of other items. For its 95 % interval the items are drawn anew, too, each time: from the reference posterior of
`stats.posterior`, so that people who were always right on eight items are not sure to be right on the ninth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from quintain.core.errors import BadInput
from quintain.stats.bootstrap import FloatArray, IntArray, interval
from quintain.stats.judgements import NONE, Judgements, best_class, sample_votes

BoolArray = npt.NDArray[np.bool_]
LEAST_DRAWN = 200  # times that items are drawn anew for an interval
SLICES: tuple[tuple[str, float], ...] = (("all", 0.0), ("at_least_4_of_5", 0.8), ("unanimous", 1.0))


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over many seeds: its mean, its 95 % interval over other items, and its standard deviation over seeds."""

    value: float | None
    low: float | None = None
    high: float | None = None
    spread: float | None = None

    @classmethod
    def of(cls, values: Sequence[float] | FloatArray, drawn: Sequence[float] | FloatArray | None = None) -> Spread:
        """Summarise *values*, of which undefined ones are left out; *drawn* are those of items that are drawn anew.

        Without those the interval is the range of the seeds, as for a number of items.
        """
        defined = np.asarray(values, dtype=np.float64)
        defined = defined[~np.isnan(defined)]
        if not len(defined):
            return cls(None)
        value = float(defined.mean())
        low, high = interval(defined if drawn is None else np.asarray(drawn, dtype=np.float64))
        if low is not None and high is not None:
            low, high = min(low, value), max(high, value)
        return cls(value, low, high, float(defined.std()))

    def as_dict(self) -> dict[str, float | None]:
        """Return it as plain data, for JSON."""
        return {"value": self.value, "low": self.low, "high": self.high, "spread": self.spread}


@dataclass(frozen=True, slots=True)
class Annotators:
    """Scores of synthetic annotators on a slice: per class and their mean over the classes."""

    items: int
    annotators: int
    macro: Mapping[str, Spread]
    classes: Mapping[str, Mapping[str, Spread]]
    accuracy: Spread

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return {
            "items": self.items,
            "annotators": self.annotators,
            "accuracy": self.accuracy.as_dict(),
            **{name: figure.as_dict() for name, figure in self.macro.items()},
            "classes": {
                name: {kind: figure.as_dict() for kind, figure in scores.items()}
                for name, scores in self.classes.items()
            },
        }


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The held-out majority on a slice: how many items it has, and how often it is the gold label."""

    items: Spread
    accuracy: Spread
    undecided: Spread

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return {
            "items": self.items.as_dict(),
            "accuracy": self.accuracy.as_dict(),
            "undecided": self.undecided.as_dict(),
        }


def synthetic_annotators(
    judgements: Judgements,
    gold: IntArray,
    *,
    seed: int = 0,
    seeds: int = 100,
    slices: Sequence[tuple[str, float]] = SLICES,
) -> dict[str, Annotators]:
    """Score synthetic annotators against *gold* (a class for each item, -1 for none), by slices of agreement."""
    _check(judgements, gold, seeds)
    counts = judgements.counts()
    size = counts.sum(axis=1)
    share = np.where(gold >= 0, counts[np.arange(len(gold)), gold], 0) / np.maximum(size, 1)
    by_slice: dict[str, Annotators] = {}
    for name, least in slices:
        inside = (gold >= 0) & (size > 0) & (share >= least - 1e-9)
        if inside.any():
            by_slice[name] = _annotators(judgements, gold, inside, np.random.default_rng(seed), seeds)
    return by_slice


def _annotators(
    judgements: Judgements, gold: IntArray, inside: BoolArray, rng: np.random.Generator, seeds: int
) -> Annotators:
    rows = np.flatnonzero(inside[judgements.item])
    blocks = _blocks(judgements.take(rows), gold)
    # With a single class there is room for another: the answer that nobody has given yet.
    classes, most = max(len(judgements.classes), 2), max(block.shape[1] for _, block in blocks)
    scored = np.flatnonzero(np.bincount(gold[inside], minlength=classes))
    [weights] = rng.spawn(1)
    scores, drawn = _Scores(scored), _Scores(scored)
    for _ in range(seeds):
        cells = []
        for right, labels in blocks:
            shuffled = rng.permuted(labels, axis=1)
            cells.append((np.arange(labels.shape[1])[None, :] * classes + right[:, None]) * classes + shuffled)
        scores.add(_tables(cells, most, classes))
        for _ in range(-(-LEAST_DRAWN // seeds)):
            tables = _tables(cells, most, classes, weights)
            drawn.add(tables + _unknown(tables, scored, weights))
    stacked, others = scores.stacked(), drawn.stacked()
    return Annotators(
        items=int(inside.sum()),
        annotators=most,
        macro={kind: Spread.of(stacked[kind].mean(axis=1), others[kind].mean(axis=1)) for kind in stacked},
        classes={
            judgements.classes[code]: {kind: Spread.of(stacked[kind][:, at], others[kind][:, at]) for kind in stacked}
            for at, code in enumerate(scored.tolist())
        },
        accuracy=Spread.of(scores.accuracies, drawn.accuracies),
    )


def _tables(
    cells: Sequence[IntArray], annotators: int, classes: int, weights: np.random.Generator | None = None
) -> FloatArray:
    """Count what each annotator said of each gold label (items × judgements as *cells*), or add up drawn weights."""
    counts = np.zeros(annotators * classes * classes)
    for block in cells:
        own = None if weights is None else np.repeat(weights.standard_exponential(len(block)), block.shape[1])
        counts += np.bincount(block.ravel(), own, len(counts))
    return counts.reshape(annotators, classes, classes)


class _Scores:
    """The scores of annotators, draw by draw: of each class that is scored, averaged over annotators."""

    def __init__(self, scored: IntArray) -> None:
        self._scored = scored
        self._parts: dict[str, list[FloatArray]] = {"precision": [], "recall": [], "f1": []}
        self.accuracies: list[float] = []

    def add(self, tables: FloatArray) -> None:
        """Add a draw: a table gold × said for each annotator."""
        for kind, values in class_scores(tables).items():
            self._parts[kind].append(np.nanmean(values[:, self._scored], axis=0))
        self.accuracies.append(float(np.trace(tables, axis1=1, axis2=2).sum() / tables.sum()))

    def stacked(self) -> dict[str, FloatArray]:
        """Return all draws: draws × classes."""
        return {kind: np.array(values) for kind, values in self._parts.items()}


def _unknown(tables: FloatArray, scored: IntArray, rng: np.random.Generator) -> FloatArray:
    """Draw what is not known, alike for all annotators: an item half right, one of each class as right as the whole.

    It is what `stats.posterior` adds to a confusion matrix.
    """
    size, classes = len(scored), tables.shape[-1]
    share = float(np.clip(np.trace(tables, axis1=1, axis2=2).sum() / tables.sum(), 1e-9, 1 - 1e-9))
    mass = rng.standard_gamma(1.0, 1 + size)
    weight = mass[0] / size + mass[1:]
    right = mass[0] / size * rng.beta(0.5, 0.5) + mass[1:] * rng.beta(share, 1 - share, size)
    added = np.zeros((classes, classes))
    if size > 1:
        added[np.ix_(scored, scored)] = ((weight - right) / (size - 1))[:, None]
    else:  # half of what is wrong is of the class and called another, half is of another and called so
        others = np.arange(classes) != scored
        added[scored, others] = added[others, scored] = (weight - right) / (2 * (classes - 1))
    added[scored, scored] = right
    return added


def class_scores(tables: FloatArray) -> dict[str, FloatArray]:
    """Return precision, recall and F1 of each class from tables gold × said (last two axes).

    A gold class that was never said has precision 0; one that is never gold has no recall, and without being said
    nothing at all (NaN).
    """
    tiny = 1e-300  # weights may be less than 1
    hits = np.diagonal(tables, axis1=-2, axis2=-1)
    predicted, true = tables.sum(axis=-2), tables.sum(axis=-1)
    occurs = predicted + true > 0
    return {
        "precision": np.where(occurs, hits / np.maximum(predicted, tiny), np.nan),
        "recall": np.where(true > 0, hits / np.maximum(true, tiny), np.nan),
        "f1": np.where(occurs, 2 * hits / np.maximum(predicted + true, tiny), np.nan),
    }


def _blocks(judgements: Judgements, gold: IntArray) -> list[tuple[IntArray, IntArray]]:
    """Return, for each number of judgements, the gold labels and the table items × judgements."""
    sizes = judgements.sizes()
    starts = np.cumsum(sizes) - sizes
    blocks = []
    for size in np.unique(sizes[sizes > 0]).tolist():
        items = np.flatnonzero(sizes == size)
        blocks.append((gold[items], judgements.label[starts[items][:, None] + np.arange(size)]))
    return blocks


def held_out_majority(
    judgements: Judgements,
    writer: IntArray,
    *,
    sample: int = 4,
    excluded: Sequence[int] = (),
    seed: int = 0,
    seeds: int = 100,
) -> dict[str, HeldOut]:
    """Compare the majority of the votes that did not set the gold label with it, by slice of agreement.

    The gold label is the majority of *sample* votes and the *writer*'s (a class for each item, -1 for none). Items
    without a majority or with an *excluded* gold label are left out, and so are items without votes to spare. Where
    the spare votes are tied at the top, the item counts with the share of the gold label among the tied ones.
    """
    _check(judgements, writer, seeds)
    spare = judgements.sizes() > sample
    if not spare.any():
        raise BadInput(
            "No item has more than {sample} judgements, so that none is left to measure people with.",
            sample=sample,
            remedy="Collect more judgements per item, or sample fewer.",
        )
    rows: dict[str, list[tuple[int, float, float, float, float]]] = {name: [] for name, _ in SLICES}
    weights = np.random.default_rng([seed, seeds])
    total = judgements.counts()
    for step in range(seeds):
        used = sample_votes(judgements, sample, seed=seed + step)
        votes = judgements.take(used).counts()
        rest = total - votes
        labelled = np.flatnonzero(writer >= 0)
        votes[labelled, writer[labelled]] += 1
        top, size = votes.max(axis=1), votes.sum(axis=1)
        gold = best_class(votes, judgements.items, judgements.classes)
        decided = spare & (2 * top > size) & ~np.isin(gold, list(excluded))
        right = _credit(rest, gold)
        for name, least in SLICES:
            inside = decided & (top >= (least - 1e-9) * size)
            if inside.any():
                open_ = (right[inside] > 0) & (right[inside] < 1)
                own = (float(right[inside].mean()), float(open_.mean()))
                rows[name].append((int(inside.sum()), *own, _anew(right[inside], weights), _anew(open_, weights)))
    held = {name: np.array(found) for name, found in rows.items() if found}
    return {
        name: HeldOut(Spread.of(found[:, 0]), Spread.of(found[:, 1], found[:, 3]), Spread.of(found[:, 2], found[:, 4]))
        for name, found in held.items()
    }


def _anew(values: npt.NDArray[Any], rng: np.random.Generator) -> float:
    """Draw the mean of *values* between 0 and 1 as it may be on other items."""
    weights = rng.standard_exponential(len(values) + 1)
    return float((weights[:-1] @ values + weights[-1] * rng.beta(0.5, 0.5)) / weights.sum())


def _credit(votes: IntArray, gold: IntArray) -> FloatArray:
    top = votes.max(axis=1, keepdims=True)
    leading = votes == top
    hit = leading[np.arange(len(gold)), gold]
    return np.asarray(hit / leading.sum(axis=1), dtype=np.float64)


def majority_gold(judgements: Judgements) -> IntArray:
    """Return of each item the label of more than half of its judgements, or -1."""
    counts = judgements.counts()
    return np.where(2 * counts.max(axis=1) > counts.sum(axis=1), counts.argmax(axis=1), NONE)


def _check(judgements: Judgements, labels: IntArray, seeds: int) -> None:
    if len(labels) != len(judgements.items):
        raise BadInput("There are {n} labels for {items} items.", n=len(labels), items=len(judgements.items))
    if seeds < 1:
        raise BadInput("At least one seed is needed.")
    if not (labels >= 0).any():
        raise BadInput("No judged item has a gold label.", remedy="Check that the items have the same names.")
