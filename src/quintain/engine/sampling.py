"""Several answers of a model to the same example, and the one that stands for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from quintain.core.example import Exchange, Failure, Prediction, Sampled, WordedAnswer
from quintain.core.hashing import canonical_json

FIRST = "first"


def reduced(samples: Sequence[Prediction], rule: str) -> Prediction:
    """Return the prediction that stands for *samples*: the first, or the one that most of those with an answer give.

    Of answers that are given equally often, the earliest stands. What is a mean over samples, or asks whether any of
    them is right, is reckoned from the samples; where one answer is asked for, it is that of the majority.

    >>> reduced([Prediction("a"), Prediction("b"), Prediction("b")], "majority").answer
    'b'
    """
    answered = [sample for sample in samples if sample.failure is None]
    if rule == FIRST or not answered:
        return replace(samples[0], samples=tuple(samples))
    keys = [canonical_json(sample.answer) for sample in answered]
    often = Counter(keys)
    most = max(often.values())
    stands = next(sample for sample, key in zip(answered, keys, strict=True) if often[key] == most)
    return replace(stands, samples=tuple(samples))


def unwrapped(answer: WordedAnswer | Sampled) -> tuple[Any, Exchange]:
    """Return one raw answer and the words that it was read from."""
    if isinstance(answer, WordedAnswer):
        return answer.answer, answer.exchange
    answered = [sample for sample in answer.answers if not isinstance(sample.answer, Failure)]
    if answer.reduce == FIRST or not answered:
        return answer.answers[0].answer, answer.answers[0].exchange
    keys = [canonical_json(sample.answer) for sample in answered]
    often = Counter(keys)
    stands = max(range(len(keys)), key=lambda number: (often[keys[number]], -number))
    return answered[stands].answer, answered[stands].exchange
