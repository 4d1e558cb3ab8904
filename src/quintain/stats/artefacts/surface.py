"""What can be told from the surface: lengths, first words, questions that need no passage, options that stand in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from quintain.core.records.figures import Estimate
from quintain.core.words import WORD
from quintain.stats.artefacts.examples import Examples
from quintain.stats.artefacts.features import overlap
from quintain.stats.bootstrap import IntArray
from quintain.stats.diversity import count_words
from quintain.stats.workers import wilson_share

WH_WORDS = ("what", "which", "who", "whom", "whose", "when", "where", "why", "how")
OTHER = "other"


@dataclass(frozen=True, slots=True)
class Heuristic:
    """A rule that chooses an option by its surface: how often it is right, ties broken by halves, and chance."""

    name: str
    accuracy: Estimate
    chance: float


def length_heuristics(examples: Examples) -> list[Heuristic]:
    """Return how often the longest and the shortest option (in words) are right; ties share the credit.

    >>> some = Examples({}, np.array([0, 1]), ["1", "2"], [["a b c", "a"], ["a", "a b"]])
    >>> [round(one.accuracy.value, 2) for one in length_heuristics(some)]
    [1.0, 0.0]
    """
    counts = [count_words(option) for option in examples.options]
    chance = float(np.mean([1 / len(count) for count in counts])) if counts else 0.0
    heuristics = []
    for name, choose in (("longest", np.max), ("shortest", np.min)):
        credit = 0.0
        for lengths, right in zip(counts, examples.answer.tolist(), strict=True):
            best = lengths == choose(lengths)
            credit += float(best[right]) / float(best.sum())
        heuristics.append(Heuristic(name, wilson_share(credit, len(counts)), chance))
    return heuristics


def first_words(texts: Sequence[str], most: int = 15) -> list[tuple[str, int]]:
    """Count the first words of texts, the commonest first.

    >>> first_words(["What is it?", "what now", "Why?"])
    [('what', 2), ('why', 1)]
    """
    first = pl.Series(texts, dtype=pl.String()).str.normalize("NFC").str.to_lowercase().str.extract(f"({WORD})")
    return Counter(first.drop_nulls().to_list()).most_common(most)


def wh_words(texts: Sequence[str]) -> dict[str, int]:
    """Count which question word comes first in each text; those without one are *other*.

    >>> wh_words(["In what year?", "Who?", "It is so."])
    {'what': 1, 'who': 1, 'other': 1}
    """
    pattern = rf"\b({'|'.join(WH_WORDS)})\b"
    first_words = pl.Series(texts, dtype=pl.String()).str.to_lowercase().str.extract(pattern).fill_null(OTHER)
    counts = Counter(first_words.to_list())
    return {name: counts[name] for name in (*WH_WORDS, OTHER) if counts[name]}


@dataclass(frozen=True, slots=True)
class OptionsInPassage:
    """Options against the passage: how many stand there word for word, and what share of their words does.

    *arm* is empty where they are of all arms.
    """

    arm: str
    right: bool
    options: int
    verbatim: Estimate
    shared: float
    words: float


def options_apart(examples: Examples) -> tuple[list[str], IntArray, npt.NDArray[np.bool_]]:
    """Return all options one after another, the example of each, and which of them are right."""
    texts = [text for option in examples.options for text in option]
    owner = np.repeat(np.arange(len(examples)), [len(option) for option in examples.options])
    position = np.concatenate([np.arange(len(option)) for option in examples.options]) if texts else np.zeros(0)
    return texts, owner, np.asarray(position == examples.answer[owner])


def option_overlap(examples: Examples, field: str, arms: Sequence[str] = ()) -> list[OptionsInPassage]:
    """Return how often right and wrong options are found in *field*, of all examples or by *arms*."""
    texts, owner, right = options_apart(examples)
    share, inside = overlap(texts, [examples.fields[field][at] for at in owner.tolist()])
    words = count_words(texts)
    of = np.asarray(examples.arm)[owner] if arms else np.full(len(texts), "")
    return [
        OptionsInPassage(
            arm=arm,
            right=side,
            options=int(mask.sum()),
            verbatim=wilson_share(int(inside[mask].sum()), int(mask.sum())),
            shared=float(share[mask].mean()) if mask.any() else 0.0,
            words=float(words[mask].mean()) if mask.any() else 0.0,
        )
        for arm in arms or [""]
        for side, mask in ((True, right & (of == arm)), (False, ~right & (of == arm)))
    ]
