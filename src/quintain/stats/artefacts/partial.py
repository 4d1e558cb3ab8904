"""Partial inputs: how often the answer is found from only some of the fields, over five folds, against chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import scipy
import scipy.sparse

from quintain.core.records.figures import Estimate
from quintain.stats.artefacts.examples import Examples
from quintain.stats.artefacts.features import hashed
from quintain.stats.artefacts.learner import grouped_folds, predict_labels, predict_options
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.diversity import WORD, count_words
from quintain.stats.workers import wilson_share

FOLDS = 5
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
class PartialInput:
    """What was found from *fields*: accuracy with Wilson's interval, its deviation over folds, and what *chance* has.

    *masked* is whether content words were hidden.
    """

    fields: tuple[str, ...]
    accuracy: Estimate
    deviation: float
    chance: float
    examples: int
    folds: int
    masked: bool = False

    @property
    def above_chance(self) -> bool:
        """Whether the answer is given away beyond chance."""
        return self.accuracy.low is not None and self.accuracy.low > self.chance


def subsets_of(examples: Examples) -> list[tuple[str, ...]]:
    """Name the subsets of the fields that are worth a try: each alone, all but one, and for choices the options alone.

    Options are in all of them, since something has to be chosen from.
    """
    names = list(examples.fields)
    if examples.options:
        return [*((*some, OPTIONS) for size in range(len(names)) for some in combinations(names, size))]
    if len(names) == 1:
        return [tuple(names)]
    return [some for size in range(1, len(names)) for some in combinations(names, size)]


def partial_input(
    examples: Examples, fields: Sequence[str], *, folds: int = FOLDS, seed: int = 0, masked: bool = False
) -> PartialInput:
    """Learn the answer from *fields* alone, and try it on examples of other contexts."""
    groups = np.unique(np.asarray(examples.context or [str(at) for at in range(len(examples))]), return_inverse=True)[1]
    folds = min(folds, int(groups.max()) + 1) if len(groups) else 0
    if folds < 2 or len(np.unique(examples.answer)) < 2:
        reason = "all examples have one answer" if folds >= 2 else "there are fewer than two contexts"
        return PartialInput(tuple(fields), Estimate(None, reason=reason), 0.0, examples.chance, len(examples), folds)
    fold = grouped_folds(groups.astype(np.int64), folds, seed)
    right = (
        _options_right(examples, fields, fold) if examples.options else _labels_right(examples, fields, fold, masked)
    )
    by_fold = [float(right[fold == one].mean()) for one in range(folds) if (fold == one).any()]
    accuracy = wilson_share(int(right.sum()), len(right))
    spread = float(np.std(by_fold, ddof=1)) if len(by_fold) > 1 else 0.0
    return PartialInput(tuple(fields), accuracy, spread, examples.chance, len(right), folds, masked)


def without_content(texts: Sequence[str]) -> list[str]:
    """Hide content words; those that say how a text is built stay.

    >>> without_content(["The film was not good"])
    ['the x was not x']
    """
    cut = pl.Series(texts, dtype=pl.String()).str.to_lowercase().str.extract_all(WORD)
    kept = cut.list.eval(
        pl.when(pl.element().is_in(list(FUNCTION_WORDS))).then(pl.element()).otherwise(pl.lit("x"))
    ).list.join(" ")
    return kept.fill_null("").to_list()


def _labels_right(examples: Examples, fields: Sequence[str], fold: IntArray, masked: bool) -> FloatArray:
    blocks = []
    for place, name in enumerate(fields):
        texts = examples.fields[name]
        blocks.append(hashed(without_content(texts) if masked else texts, salt=place))
    matrix = blocks[0] if len(blocks) == 1 else scipy.sparse.hstack(blocks, format="csr")
    said = predict_labels(matrix, examples.answer, len(examples.labels), fold)
    return np.asarray(said == examples.answer, dtype=np.float64)


def _options_right(examples: Examples, fields: Sequence[str], fold: IntArray) -> FloatArray:
    sizes = np.array([len(one) for one in examples.options], dtype=np.int64)
    example = np.repeat(np.arange(len(sizes)), sizes)
    texts = [text for one in examples.options for text in one]
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    right = np.zeros(len(texts), dtype=np.int64)
    right[first + examples.answer] = 1
    given = [name for name in fields if name != OPTIONS]
    dense = scipy.sparse.csr_matrix(_option_figures(examples, texts, example, given).astype(np.float32))
    matrix = scipy.sparse.hstack([hashed(texts, buckets=1 << 15), dense], format="csr")
    chosen = predict_options(matrix, example, right, fold)
    return right[chosen].astype(np.float64)


def _option_figures(examples: Examples, texts: list[str], example: IntArray, given: Sequence[str]) -> FloatArray:
    """Describe options: how long, whether the longest or shortest, and how much of each stands in each given field."""
    length = count_words(texts).astype(np.float64)
    longest, shortest = np.zeros(len(examples)), np.full(len(examples), np.inf)
    np.maximum.at(longest, example, length)
    np.minimum.at(shortest, example, length)
    mean = np.bincount(example, length) / np.maximum(np.bincount(example), 1)
    columns = [
        np.log1p(length) / 3,
        (length == longest[example]).astype(float),
        (length == shortest[example]).astype(float),
        np.log1p(length) - np.log1p(mean[example]),
    ]
    for name in given:
        share, verbatim = overlap(texts, [examples.fields[name][at] for at in example.tolist()])
        columns += [share, verbatim.astype(float)]
    return np.stack(columns, axis=1)


def overlap(texts: Sequence[str], among: Sequence[str]) -> tuple[FloatArray, Any]:
    """Say of each text what share of its words stand in its passage, and whether it stands there word for word.

    >>> share, there = overlap(["a red boat", "two cats"], ["They saw a red boat.", "One cat."])
    >>> share.tolist(), there.tolist()
    ([1.0, 0.0], [True, False])
    """
    table = pl.DataFrame({"text": pl.Series(texts, dtype=pl.String()), "among": pl.Series(among, dtype=pl.String())})
    words = pl.col("text").str.to_lowercase().str.extract_all(WORD)
    passage = pl.col("among").str.to_lowercase().str.extract_all(WORD)
    found = table.select(words=words, passage=passage).select(
        share=pl.col("words").list.unique().list.set_intersection("passage").list.len()
        / pl.col("words").list.unique().list.len(),
        inside=pl.concat_str(pl.lit(" "), pl.col("passage").list.join(" "), pl.lit(" ")).str.contains(
            pl.concat_str(pl.lit(" "), pl.col("words").list.join(" "), pl.lit(" ")), literal=True
        )
        & (pl.col("words").list.len() > 0),
    )
    share = found["share"].fill_nan(0.0).fill_null(0.0).to_numpy().astype(np.float64)
    return share, found["inside"].fill_null(False).to_numpy()
