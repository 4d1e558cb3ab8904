"""Answers compared as texts: exact match and token F1 as SQuAD defines them, and ROUGE-L (Lin, 2004).

For SQuAD (Rajpurkar et al., 2016) case, punctuation, English articles and white space do not count. Where there are
several right answers, the one nearest to the prediction does. An answer without a word in it ("no answer") is right
only against another such.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence

from rapidfuzz.distance import LCSseq

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_WORD = re.compile(r"[a-z0-9]+")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """Leave of *text* what counts in a comparison.

    >>> normalise("The  Eiffel-Tower, Paris.")
    'eiffeltower paris'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def exact_match(prediction: str, references: Iterable[str]) -> bool:
    """Whether *prediction* is one of *references* after normalisation; no references mean "no answer"."""
    predicted = normalise(prediction)
    return any(predicted == normalise(reference) for reference in _or_none(references))


def token_f1(prediction: str, references: Iterable[str]) -> float:
    """Return the best token F1 of *prediction* against *references*; no references mean "no answer".

    >>> token_f1("the tower in Paris", ["Eiffel Tower", "a tower of Paris"])
    0.6666666666666666
    """
    predicted = normalise(prediction).split()
    return max(_f1(predicted, normalise(reference).split()) for reference in _or_none(references))


def rouge_l(prediction: str, references: Iterable[str]) -> float:
    """Return the best ROUGE-L F1 of *prediction* against *references*, without stemming, as rouge-score does.

    It is the longest common subsequence of words as a share of both texts.

    >>> rouge_l("the cat sat", ["the cat was sitting", "the dog"])
    0.5714285714285714
    """
    predicted = _WORD.findall(prediction.lower())
    return max((_share(predicted, _WORD.findall(reference.lower())) for reference in references), default=0.0)


def _share(predicted: Sequence[str], right: Sequence[str]) -> float:
    if not predicted or not right:
        return 0.0
    return 2 * LCSseq.similarity(predicted, right) / (len(predicted) + len(right))


def _or_none(references: Iterable[str]) -> list[str]:
    return list(references) or [""]


def _f1(predicted: Sequence[str], right: Sequence[str]) -> float:
    if not predicted or not right:
        return float(predicted == right)
    common = sum((Counter(predicted) & Counter(right)).values())
    return 2 * common / (len(predicted) + len(right))
