"""Votes on one example as training data: one label for each vote, or the labels' shares.

The majority label is the third view, and needs no function; one label for each vote is called distributional.
*distribution* has the votes by label: their number, or who voted. *labels* are those that a model can give. *mixes*
says which of them a label stands for that people can give and a model cannot, as "mixed" stands for positive and
negative: such a vote counts once, in full, for each of them, as in DynaSent. Votes for any other label say nothing
about what a model should answer, and are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from types import MappingProxyType
from typing import Literal, get_args

LabelView = Literal["majority", "distributional", "soft"]
LABEL_VIEWS: tuple[LabelView, ...] = get_args(LabelView)
NOTHING: Mapping[str, Sequence[str]] = MappingProxyType({})

Distribution = Mapping[str, "float | Sized"]


def votes(
    distribution: Distribution, labels: Sequence[str], mixes: Mapping[str, Sequence[str]] = NOTHING
) -> dict[str, float]:
    """Count the votes for each of *labels*.

    >>> votes({"positive": ["a", "b"], "mixed": ["c"]}, ["negative", "positive"], {"mixed": ("positive", "negative")})
    {'negative': 1.0, 'positive': 3.0}
    """
    counts = dict.fromkeys(labels, 0.0)
    for voted, value in distribution.items():
        count = float(len(value)) if isinstance(value, Sized) else float(value)
        for label in (voted,) if voted in counts else mixes.get(voted, ()):
            if label in counts:
                counts[label] += count
    return counts


def repeated(
    distribution: Distribution, labels: Sequence[str], mixes: Mapping[str, Sequence[str]] = NOTHING
) -> list[str]:
    """Return the labels of the copies of an example: one for each vote, in the order of *labels*.

    >>> repeated({"positive": 2, "neutral": 1}, ["negative", "neutral", "positive"])
    ['neutral', 'positive', 'positive']
    >>> repeated({"mixed": 2}, ["negative", "positive"], {"mixed": ["positive", "negative"]})
    ['negative', 'negative', 'positive', 'positive']
    >>> repeated({"mixed": 2}, ["negative", "positive"])
    []
    """
    return [label for label, count in votes(distribution, labels, mixes).items() for _ in range(round(count))]


def soft(
    distribution: Distribution, labels: Sequence[str], mixes: Mapping[str, Sequence[str]] = NOTHING
) -> dict[str, float]:
    """Return the share of the votes that each of *labels* has; nothing where no vote is for any of them.

    >>> soft({"positive": 3, "neutral": 1}, ["negative", "neutral", "positive"])
    {'negative': 0.0, 'neutral': 0.25, 'positive': 0.75}
    >>> soft({"mixed": 5}, ["negative", "positive"])
    {}
    """
    counted = votes(distribution, labels, mixes)
    total = sum(counted.values())
    return {label: count / total for label, count in counted.items()} if total > 0 else {}
