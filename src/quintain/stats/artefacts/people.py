"""What depends on who wrote: labels that follow from the writer, texts written twice, the order within a context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import scipy

from quintain.core.records.figures import Estimate
from quintain.stats.artefacts.examples import Examples
from quintain.stats.bootstrap import IntArray
from quintain.stats.diversity import WORD
from quintain.stats.multiplicity import step_up
from quintain.stats.near_duplicates import find_pairs
from quintain.stats.predictability import Gain, gain_over_chance, one_hot
from quintain.stats.workers import wilson_share

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
    """Texts that are nearly another's: how many have one by the same writer, and by somebody else; pairs to look at."""

    texts: int
    within: int
    across: int
    pairs: list[tuple[int, int]]


def repeats(texts: Sequence[str], writers: Sequence[str] = (), *, threshold: float = 0.7) -> RepeatedTexts:
    """Count near-duplicates within and across writers; without writers all pairs are across.

    >>> repeats(["a good film to see", "A good film to see!", "none of it"], ["x", "x", "y"]).within
    2
    """
    later, earlier = find_pairs(texts, threshold=threshold)
    names = np.asarray(writers) if len(writers) else np.arange(len(texts)).astype(str)
    same = names[later] == names[earlier]
    ends = [np.unique(np.concatenate([later[mask], earlier[mask]])) for mask in (same, ~same)]
    return RepeatedTexts(
        len(texts), len(ends[0]), len(ends[1]), list(zip(later.tolist(), earlier.tolist(), strict=True))
    )


def writer_effect(examples: Examples, seed: int = 0) -> Gain:
    """Say how well the label follows from who wrote the text, over folds."""
    codes = np.unique(np.asarray(examples.writer), return_inverse=True)[1].astype(np.int64)
    return gain_over_chance(one_hot(codes), examples.answer, seed)


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
    words = pl.Series(texts, dtype=pl.String()).str.to_lowercase().str.extract_all(WORD)
    expected = np.bincount(answer, minlength=len(labels)) / max(len(answer), 1)
    found: list[GroupLabel] = []
    for name, terms in groups.items():
        about = words.list.set_intersection(list(terms)).list.len().fill_null(0).to_numpy() > 0
        number = int(about.sum())
        if number < 10:
            continue
        for code, label in enumerate(labels):
            hits = int((answer[about] == code).sum())
            spread = np.sqrt(max(expected[code] * (1 - expected[code]), 1e-12) / number)
            z = float((hits / number - expected[code]) / spread)
            found.append(GroupLabel(name, label, number, wilson_share(hits, number), float(expected[code]), z, False))
    p = 2 * scipy.special.ndtr(-np.abs([one.z for one in found])) if found else np.zeros(0)
    stands = step_up(np.asarray(p, dtype=np.float64), 0.05)
    return [
        GroupLabel(one.group, one.label, one.texts, one.share, one.expected, one.z, bool(yes))
        for one, yes in zip(found, stands, strict=True)
    ]
