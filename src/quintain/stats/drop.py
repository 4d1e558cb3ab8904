"""Answers that are spans, numbers or dates, compared as DROP does (Dua et al., 2019, section 5).

An answer is a list of texts: one for a single span, a number or a date, several for several spans. Words count, but not
their case, punctuation or articles; hyphens part words, and a number counts by its value ("1,000" is 1000.0).

- Exact match: the same texts, in any order.
- F1: each text is a bag of its words. Predicted and gold bags are paired such that the F1s of the pairs add up to the
  most; a gold bag with numbers scores nothing against one that shares none of them. What is left without a partner
  scores 0. The mean over the larger of the two lists is rounded to two digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import scipy

from quintain.core.languages import ENGLISH
from quintain.core.words import composed
from quintain.stats.text import counted_words, without_signs

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?", re.ASCII)
_WORDS = re.compile(r"[\s-]+")


def normalise_span(text: str, language: str = ENGLISH) -> str:
    """Leave of *text*, which is in *language*, what counts in a comparison.

    >>> normalise_span("The 1,000 well-known Dogs.")
    '1000.0 well known dogs'
    """
    parts = (_word(part, language) for part in _WORDS.split(composed(text).lower()))
    return " ".join(part for part in parts if part)


def drop_exact_match(prediction: Sequence[str], golds: Iterable[Sequence[str]], language: str = ENGLISH) -> bool:
    """Whether *prediction* is one of *golds*, each a list of texts.

    >>> drop_exact_match(["the Rams", "Bears"], [["bears", "rams"]])
    True
    """
    predicted = sorted(normalise_span(text, language) for text in prediction)
    return any(predicted == sorted(normalise_span(text, language) for text in gold) for gold in golds)


def drop_f1(prediction: Sequence[str], golds: Iterable[Sequence[str]], language: str = ENGLISH) -> float:
    """Return the best F1 of *prediction* against *golds*, each a list of texts.

    >>> drop_f1(["42 yards"], [["42"]]), drop_f1(["41 yards"], [["42 yards"]]), drop_f1(["a", "Rams"], [["Rams"]])
    (0.67, 0.0, 0.5)
    """
    predicted = _bags(prediction, language)
    return max((_aligned(predicted, _bags(gold, language)) for gold in golds), default=0.0)


def _word(part: str, language: str) -> str:
    bare = part if _NUMBER.fullmatch(part) else without_signs(part, language)
    if _NUMBER.fullmatch(bare):
        return str(float(bare))
    return " ".join(counted_words(bare, language))


def _bags(answer: Sequence[str], language: str) -> list[frozenset[str]]:
    return [frozenset(normalise_span(text, language).split(" ")) - {""} for text in answer]


def _aligned(predicted: Sequence[frozenset[str]], gold: Sequence[frozenset[str]]) -> float:
    if not predicted or not gold:
        return float(not predicted and not gold)
    if len(predicted) == len(gold) == 1:
        return round(_pair(predicted[0], gold[0]), 2)
    scores = np.array([[_pair(one, other) for one in predicted] for other in gold])
    rows, columns = scipy.optimize.linear_sum_assignment(-scores)
    return round(float(scores[rows, columns].sum()) / max(len(predicted), len(gold)), 2)


def _pair(predicted: frozenset[str], gold: frozenset[str]) -> float:
    numbers = {word for word in gold if _NUMBER.fullmatch(word)}
    if numbers and not numbers & predicted:
        return 0.0
    if not predicted or not gold:
        return float(predicted == gold)
    return 2 * len(predicted & gold) / (len(predicted) + len(gold))
