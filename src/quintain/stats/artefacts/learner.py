"""A linear learner for whole and partial inputs: multinomial for labels, one set of weights over options for choices.

It is no strong model, and need not be: what it finds without reading the whole input, anybody can. Whatever else learns
does it by the same contract: what examples say is made ready once, and some of them then teach how to answer others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl
import scipy
import scipy.sparse

from quintain.stats.artefacts.descent import descend
from quintain.stats.artefacts.examples import Examples
from quintain.stats.artefacts.features import hashed, option_figures
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.word_columns import word_lists

PENALTY = 1e-5  # on the squared weights, beside the mean loss
ITERATIONS = 40
OPTIONS = "options"
# Words that say how a text is built and not what it is about: all others are masked in the input without content.
FUNCTION_WORDS = tuple(
    word
    for line in (
        "a an the this that these those and or but if then than so because as at by for from in into of on to with",
        "about over under between through during before after not no nor never none i you he she it we they me him",
        "her us them my your his its our their who whom whose which what when where why how is are was were be been",
        "being am do does did have has had will would can could may might must shall should there here all any some",
        "each every both few many more most other such only own same very too just also isn't aren't wasn't weren't",
        "don't doesn't didn't can't won't wouldn't couldn't shouldn't",
    )
    for word in line.split()
)


@dataclass(frozen=True, slots=True)
class SeenFields:
    """What a learner is to see: some *fields*, all or without words of content."""

    fields: Sequence[str]
    masked: bool = False


class Teachable(Protocol):
    """Whatever learns: `ready` makes of examples what it reads, `answers` learns from some and answers others."""

    @property
    def name(self) -> str:
        """What it is called in a report."""

    @property
    def digest(self) -> str:
        """What tells it from others that have its name: how it learns."""

    def ready(self, examples: Examples, reading: SeenFields) -> Any:
        """Make of *examples* what it reads, once."""

    def answers(self, ready: Any, rows: IntArray, asked: Sequence[tuple[Any, IntArray]], seed: int) -> list[IntArray]:
        """Learn from *rows* of what is *ready*, and give the codes of the answers to the rows that are *asked*."""


@dataclass(frozen=True, slots=True)
class _Labels:
    features: Any
    answer: IntArray
    classes: int


@dataclass(frozen=True, slots=True)
class _Options:
    """A row for each option: *first* is where those of each example begin, *right* is 1 where an option is right."""

    features: Any
    first: IntArray
    sizes: IntArray
    right: IntArray

    def rows_of(self, examples: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows of the options of some examples, and where those of each begin among them."""
        sizes = self.sizes[examples]
        begins = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else np.zeros(0, dtype=np.int64)
        within = np.arange(int(sizes.sum())) - np.repeat(begins, sizes)
        return np.repeat(self.first[examples], sizes) + within, begins.astype(np.int64)


class LinearLearner:
    """A regression on hashed words and pairs of words; it draws nothing, and the seed does not matter to it."""

    name = "linear"
    digest = ""

    def ready(self, examples: Examples, reading: SeenFields) -> _Labels | _Options:
        """Make sparse matrices of the texts."""
        if examples.options:
            return _read_options(examples, reading.fields)
        blocks = []
        for position, name in enumerate(reading.fields):
            texts = examples.fields[name]
            blocks.append(hashed(without_content(texts) if reading.masked else texts, salt=position))
        matrix = blocks[0] if len(blocks) == 1 else scipy.sparse.hstack(blocks, format="csr")
        return _Labels(matrix, examples.answer, len(examples.labels))

    def answers(
        self,
        ready: _Labels | _Options,
        rows: IntArray,
        asked: Sequence[tuple[_Labels | _Options, IntArray]],
        seed: int,
    ) -> list[IntArray]:
        """Fit the weights, and answer with what scores highest."""
        if isinstance(ready, _Labels):
            met, used = _met(ready.features[rows])
            weights = np.zeros((ready.features.shape[1] + 1, ready.classes))
            weights[np.append(used, -1)] = _fit_labels(met, ready.answer[rows], ready.classes)
            return [
                np.asarray(one.features[held] @ weights[:-1] + weights[-1]).argmax(axis=1).astype(np.int64)
                for one, held in asked
            ]
        taught, begins = ready.rows_of(rows)
        met, used = _met(ready.features[taught])
        choosing = np.zeros(ready.features.shape[1])
        choosing[used] = _fit_options(met, begins, ready.right[taught])
        return [_chosen(one, held, choosing) for one, held in asked if isinstance(one, _Options)]


def _read_options(examples: Examples, fields: Sequence[str]) -> _Options:
    sizes = np.array([len(option) for option in examples.options], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    texts = [text for option in examples.options for text in option]
    right = np.zeros(len(texts), dtype=np.int64)
    right[first + examples.answer] = 1
    beside = [name for name in fields if name != OPTIONS]
    dense = scipy.sparse.csr_matrix(option_figures(examples, beside).astype(np.float32))
    matrix = scipy.sparse.hstack([hashed(texts, buckets=1 << 15), dense], format="csr")
    return _Options(matrix, first, sizes, right)


def _met(features: Any) -> tuple[Any, IntArray]:
    """Return the features without empty columns, and which columns are left: the others have no weight."""
    used, column = np.unique(features.indices, return_inverse=True)
    shape = (features.shape[0], len(used))
    return scipy.sparse.csr_matrix((features.data, column.astype(np.int32), features.indptr), shape=shape), used


def _chosen(options: _Options, examples: IntArray, weights: FloatArray) -> IntArray:
    """Return the number of the option that scores highest, of each example."""
    rows, begins = options.rows_of(examples)
    scores = np.asarray(options.features[rows] @ weights)
    owner = np.repeat(np.arange(len(examples)), options.sizes[examples])
    order = np.lexsort((-scores, owner))
    return np.asarray(order[begins] - begins, dtype=np.int64)


def without_content(texts: Sequence[str]) -> list[str]:
    """Hide content words; those that say how a text is built stay.

    >>> without_content(["The film was not good"])
    ['the x was not x']
    """
    cut = word_lists(pl.Series(texts, dtype=pl.String()))
    masked = cut.list.eval(
        pl.when(pl.element().is_in(list(FUNCTION_WORDS))).then(pl.element()).otherwise(pl.lit("x"))
    ).list.join(" ")
    return masked.fill_null("").to_list()


def grouped_folds(groups: IntArray, folds: int, seed: int) -> IntArray:
    """Deal groups out over folds, so that no group is in two, the large first to where there is least.

    >>> fold = grouped_folds(np.array([0, 0, 1, 2, 2]), 2, seed=0)
    >>> bool(fold[0] == fold[1] and fold[3] == fold[4])
    True
    """
    values, code, counts = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.random.default_rng(seed).permutation(len(values))
    order = order[np.argsort(-counts[order], kind="stable")]
    if len(values) > 20 * folds and counts.max() * folds < counts.sum() / 4:
        fold_of = np.empty(len(values), dtype=np.int64)
        fold_of[order] = np.arange(len(values)) % folds
        return fold_of[code]
    filled, fold_of = np.zeros(folds), np.zeros(len(values), dtype=np.int64)
    for group in order.tolist():
        fold = int(filled.argmin())
        fold_of[group] = fold
        filled[fold] += counts[group]
    return fold_of[code]


def over_folds(learner: Teachable, ready: Any, fold: IntArray, seed: int) -> IntArray:
    """Answer every example by what was learned from those of other folds."""
    answers = np.zeros(len(fold), dtype=np.int64)
    for number in np.unique(fold).tolist():
        held = np.flatnonzero(fold == number)
        [answers[held]] = learner.answers(ready, np.flatnonzero(fold != number), [(ready, held)], seed)
    return answers


def _fit_labels(features: Any, answer: IntArray, classes: int) -> FloatArray:
    rows, columns = features.shape
    target = np.zeros((rows, classes), dtype=np.float32)
    target[np.arange(rows), answer] = 1
    turned = features.T.tocsr()
    share = np.log((target.sum(axis=0) + 0.5) / (rows + 0.5 * classes))

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        weights = flat.astype(np.float32).reshape(columns + 1, classes)
        scores = features @ weights[:-1] + weights[-1]
        scores -= scores.max(axis=1, keepdims=True)
        likely = np.exp(scores)
        whole = likely.sum(axis=1, keepdims=True)
        error = (likely / whole - target) / rows
        value = float((np.log(whole[:, 0]) - (scores * target).sum(axis=1)).mean(dtype=np.float64))
        slope = np.empty((columns + 1, classes), dtype=np.float64)
        slope[:-1] = turned @ error + PENALTY * weights[:-1]
        slope[-1] = error.sum(axis=0)
        return value + PENALTY / 2 * float(np.square(weights[:-1]).sum(dtype=np.float64)), slope.ravel()

    start = np.zeros((columns + 1, classes))
    start[-1] = share
    return descend(loss, start.ravel(), turns=ITERATIONS).reshape(columns + 1, classes)


def _fit_options(features: Any, begins: IntArray, right: IntArray) -> FloatArray:
    number = len(begins)
    whose = np.repeat(np.arange(number), np.diff(np.append(begins, features.shape[0])))
    turned = features.T.tocsr()
    target = right.astype(np.float32)

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        weights = flat.astype(np.float32)
        scores = features @ weights
        top = np.maximum.reduceat(scores, begins)
        likely = np.exp(scores - top[whose])
        whole = np.add.reduceat(likely, begins)
        value = float((np.log(whole) + top).sum(dtype=np.float64) - np.einsum("i,i->", scores, target)) / number
        slope = turned @ ((likely / whole[whose] - target) / number) + PENALTY * weights
        return value + PENALTY / 2 * float(np.square(weights).sum(dtype=np.float64)), np.asarray(
            slope, dtype=np.float64
        )

    return descend(loss, np.zeros(features.shape[1]), turns=ITERATIONS)
