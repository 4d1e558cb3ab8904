"""What depends on who wrote: labels that follow from the writer, texts written twice, the order within a context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from quintain.core.records.figures import Estimate
from quintain.stats.artefacts.examples import Examples
from quintain.stats.artefacts.learner import LinearLearner, SeenFields, Teachable, grouped_folds, over_folds
from quintain.stats.bootstrap import FloatArray, IntArray, Prior, Tally
from quintain.stats.diversity import count_words
from quintain.stats.exact import at_least, at_most
from quintain.stats.multiplicity import step_up
from quintain.stats.near_duplicates import find_pairs
from quintain.stats.posterior import Draws, around, ratio_totals
from quintain.stats.predictability import Gain, gain_over_chance, one_hot
from quintain.stats.word_columns import word_lists
from quintain.stats.workers import wilson_share

FOLDS = 5
# Who a text is about, by words that say so; a text may be of several groups, or of none.
IDENTITY = {
    "women": (
        "she",
        "her",
        "hers",
        "herself",
        "woman",
        "women",
        "girl",
        "girls",
        "mother",
        "wife",
        "daughter",
        "female",
    ),
    "men": ("he", "him", "his", "himself", "man", "men", "boy", "boys", "father", "husband", "son"),
    "black people": ("black", "african", "africans", "african-american", "african-americans"),
    "white people": ("white", "whites", "caucasian", "caucasians"),
    "asian people": ("asian", "asians", "chinese", "japanese", "korean", "indian", "indians"),
    "latino people": ("latino", "latina", "latinos", "hispanic", "hispanics", "mexican", "mexicans"),
    "muslims": ("muslim", "muslims", "islam", "islamic"),
    "jews": ("jew", "jews", "jewish", "judaism"),
    "christians": ("christian", "christians", "catholic", "catholics", "protestant"),
    "gay people": ("gay", "lesbian", "homosexual", "bisexual", "queer", "lgbt"),
    "disabled people": ("disabled", "disability", "blind", "deaf", "wheelchair"),
    "old people": ("elderly", "old", "senior", "seniors", "grandmother", "grandfather"),
}


@dataclass(frozen=True, slots=True)
class RepeatedTexts:
    """Texts that are nearly another's: how many have one at all, and one by the same writer; pairs to look at."""

    texts: int
    alike: int
    within: int
    pairs: list[tuple[int, int]]


def repeats(texts: Sequence[str], writers: Sequence[str] = (), *, threshold: float = 0.7) -> RepeatedTexts:
    """Count near-duplicates, and those of the same writer; without writers nobody wrote two.

    >>> found = repeats(["a good film to see", "A good film to see!", "a good film to see?"], ["x", "x", "y"])
    >>> found.alike, found.within
    (3, 2)
    """
    later, earlier = find_pairs(texts, threshold=threshold)
    names = np.asarray(writers) if len(writers) else np.arange(len(texts)).astype(str)
    same = names[later] == names[earlier]
    alike, within = (len(np.unique(np.concatenate([later[mask], earlier[mask]]))) for mask in (..., same))
    return RepeatedTexts(len(texts), alike, within, list(zip(later.tolist(), earlier.tolist(), strict=True)))


def writer_effect(examples: Examples, seed: int = 0) -> Gain:
    """Return how well the label follows from who wrote the text, over folds."""
    codes = np.unique(np.asarray(examples.writer), return_inverse=True)[1].astype(np.int64)
    return gain_over_chance(one_hot(codes), examples.answer, seed)


@dataclass(frozen=True, slots=True)
class HeldOutWriters:
    """How often a learner is right on texts of writers it has read before, and of writers it has not.

    *difference* is the first minus the second, with an interval over writers.
    """

    known: Estimate
    new: Estimate
    difference: Estimate
    writers: int


def held_out_writers(
    examples: Examples, fields: Sequence[str], *, seed: int = 0, learner: Teachable | None = None
) -> HeldOutWriters | None:
    """Learn from four fifths, with writers on both sides and with none; None where there are too few writers.

    A learner that does better on writers it knows has learned how they write, not only the task (Geva et al. 2019).
    """
    codes = np.unique(np.asarray(examples.writer), return_inverse=True)[1].astype(np.int64)
    if not len(codes) or int(codes.max()) + 1 < FOLDS or len(np.unique(examples.answer)) < 2:
        return None
    learner = learner or LinearLearner()
    ready = learner.ready(examples, SeenFields(fields))
    mixed = grouped_folds(examples.groups, min(FOLDS, int(examples.groups.max()) + 1), seed)
    right = [
        (over_folds(learner, ready, fold, seed) == examples.answer).astype(np.float64)
        for fold in (mixed, grouped_folds(codes, FOLDS, seed))
    ]
    writers = int(codes.max()) + 1
    rows = np.column_stack([np.bincount(codes, one, minlength=writers) for one in (*right, np.ones(len(codes)))])
    drawn = ratio_totals(rows.astype(np.float64), [(0, 2), (1, 2)], np.random.default_rng(seed), 1000)
    shares = drawn[:, :2] / drawn[:, 2:]
    means = [float(one.mean()) for one in right]
    return HeldOutWriters(
        around(means[0], shares[:, 0]),
        around(means[1], shares[:, 1]),
        around(means[0] - means[1], shares[:, 0] - shares[:, 1]),
        writers,
    )


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """How lengths and labels go with the place of an example within its context, first to last.

    *length* is the correlation of place and number of words within contexts, with an interval over contexts;
    *label* how well the place tells the label, over folds.
    """

    contexts: int
    length: Estimate
    label: Gain


def order_effect(examples: Examples, texts: Sequence[str], seed: int = 0) -> OrderEffect | None:
    """Return whether later examples of a context differ from earlier ones, as ordered; None without contexts."""
    groups = examples.groups
    sizes = np.bincount(groups)
    shared = np.flatnonzero(sizes > 1)
    if not len(examples.context) or len(shared) < 5:
        return None
    order = np.argsort(groups, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    position = np.empty(len(groups), dtype=np.int64)
    position[order] = np.arange(len(groups)) - starts[groups[order]]
    words = count_words(texts).astype(np.float64)
    in_shared = np.isin(groups, shared)
    # Deviations from the context's own mean, so that contexts with long texts do not decide.
    apart = [
        values - (np.bincount(groups, values) / np.maximum(sizes, 1))[groups]
        for values in (position.astype(np.float64), words)
    ]
    sums = np.column_stack(
        [
            np.bincount(groups[in_shared], (one * other)[in_shared], minlength=len(sizes))
            for one, other in ((apart[0], apart[1]), (apart[0], apart[0]), (apart[1], apart[1]))
        ]
    )[shared]
    # What is not known is one more context, in which texts grow, or shrink, from the first to the last.
    places, lengths = sums[:, 1].mean(), sums[:, 2].mean()
    most = np.sqrt(places * lengths)
    prior = Prior(np.array([[most, places, lengths]]), np.array([[-most, places, lengths]]))
    draws = Draws(Tally.of_rows(sums, prior), seed=seed)
    length = draws.estimate(_correlation, "all texts of a context are as long")
    return OrderEffect(len(shared), length, gain_over_chance(one_hot(np.minimum(position, 9)), examples.answer, seed))


def _correlation(totals: FloatArray) -> FloatArray:
    """Return the correlation from sums of products and of both squares (last axis); NaN where nothing varies."""
    room = np.sqrt(totals[..., 1] * totals[..., 2])
    values: FloatArray = np.divide(totals[..., 0], room, out=np.full(np.shape(room), np.nan), where=room > 0)
    return values


@dataclass(frozen=True, slots=True)
class GroupLabel:
    """A group that texts are about, and a label: how often they have it, against all texts."""

    group: str
    label: str
    texts: int
    share: Estimate
    expected: float
    z: float
    stands: bool


def identity_labels(
    texts: Sequence[str], answer: IntArray, labels: Sequence[str], groups: Mapping[str, Sequence[str]] = IDENTITY
) -> list[GroupLabel]:
    """Hold the labels of texts about each group against those of all; *stands* controls for the number of looks."""
    words = word_lists(pl.Series(texts, dtype=pl.String()))
    expected = np.bincount(answer, minlength=len(labels)) / max(len(answer), 1)
    marked = np.bincount(answer, minlength=len(labels))
    results: list[GroupLabel] = []
    p: list[float] = []
    for name, terms in groups.items():
        about = words.list.set_intersection(list(terms)).list.len().fill_null(0).to_numpy() > 0
        number = int(about.sum())
        if number < 10:
            continue
        for code, label in enumerate(labels):
            hits = int((answer[about] == code).sum())
            spread = np.sqrt(max(expected[code] * (1 - expected[code]), 1e-12) / number)
            z = float((hits / number - expected[code]) / spread)
            table = (hits, number, int(marked[code]), len(answer))
            p.append(min(1.0, 2 * min(float(at_least(*table)), float(at_most(*table)))))
            results.append(GroupLabel(name, label, number, wilson_share(hits, number), float(expected[code]), z, False))
    stands = step_up(np.asarray(p, dtype=np.float64), 0.05)
    return [
        GroupLabel(one.group, one.label, one.texts, one.share, one.expected, one.z, bool(yes))
        for one, yes in zip(results, stands, strict=True)
    ]
