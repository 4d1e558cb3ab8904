"""Near duplicates: nothing above the threshold is missed, nothing below it is reported."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.stats.near_duplicates import find_nearest, mix, squeeze

WORDS = [
    "the",
    "a",
    "film",
    "plot",
    "actor",
    "scene",
    "dull",
    "bright",
    "slow",
    "quick",
    "evening",
    "music",
    "was",
    "not",
]


def _grams(text: str, width: int = 5) -> set[str]:
    padded = f" {squeeze(text)} ".ljust(width)
    return {padded[i : i + width] for i in range(len(padded) - width + 1)}


def _jaccard(first: str, second: str) -> float:
    one, two = _grams(first), _grams(second)
    return len(one & two) / len(one | two)


def _sentences(number: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, size=rng.integers(4, 16))) for _ in range(number)]


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8])
def test_the_same_pairs_are_found_as_by_comparing_each_with_each(threshold: float) -> None:
    """Precision and recall are 1 against brute force, on texts that share most of their words."""
    texts, among = _sentences(120, 1), _sentences(150, 2)
    among += [text.replace("the", "teh", 1) for text in texts[:40]]
    found = find_nearest(texts, among, threshold=threshold)
    for place, text in enumerate(texts):
        scores = [_jaccard(text, other) for other in among]
        best = max(scores)
        if best >= threshold:
            assert found.similarity[place] == pytest.approx(best)
            assert scores[found.index[place]] == pytest.approx(best)
        else:
            assert found.index[place] == -1


def test_case_and_punctuation_do_not_make_a_text_another() -> None:
    """What is the same word for word is exact; one changed word is near; another text is neither."""
    found = find_nearest(
        ["What a GREAT film!", "What a great film, Ada said to us all", "Nothing of the kind"],
        ["what a great film", "What a great film, Eva said to us all"],
    )
    assert found.exact.tolist() == [True, False, False]
    assert found.near.tolist() == [False, True, False]


@given(st.lists(st.text(max_size=40), max_size=12), st.lists(st.text(max_size=40), max_size=12))
def test_any_texts_are_taken(texts: list[str], among: list[str]) -> None:
    """Every text that is there is found exactly; empty ones are like nothing."""
    found = find_nearest(texts, among)
    kept = {squeeze(text) for text in among} - {""}
    assert found.exact.tolist() == [squeeze(text) in kept for text in texts]
    assert ((found.similarity >= 0) & (found.similarity <= 1)).all()


def test_neighbouring_numbers_are_scattered() -> None:
    """Half of the bits change on average when one bit of the input does."""
    numbers = np.arange(4096, dtype=np.uint64)
    changed = mix(numbers) ^ mix(numbers ^ np.uint64(1))
    assert np.bitwise_count(changed).mean() == pytest.approx(32, abs=0.5)
    assert len(np.unique(mix(numbers) >> np.uint64(48))) > 3800


def test_thousands_against_thousands_take_seconds() -> None:
    """The search does not compare each with each."""
    rng = np.random.default_rng(3)
    vocabulary = np.array(["".join(rng.choice(list("abcdefghijklmnoprstuvw"), size=6)) for _ in range(4000)])
    texts = [" ".join(row) for row in rng.choice(vocabulary, size=(10_000, 14))]
    asked = [text.replace("a", "e", 1) if place % 4 == 0 else f"{text} {place}" for place, text in enumerate(texts)]
    start = time.process_time()
    found = find_nearest(asked[:5_000], texts[2_500:])
    assert time.process_time() - start < 10
    assert (found.index[2_500:] >= 0).mean() > 0.99
    assert (found.index[:2_500] >= 0).mean() < 0.01


def test_a_threshold_that_cannot_be_met_is_refused() -> None:
    """Zero would call everything a duplicate."""
    with pytest.raises(BadInput, match="threshold is 0"):
        find_nearest(["a"], ["b"], threshold=0)
