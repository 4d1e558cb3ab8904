"""Hashed n-grams against a plain count of the same pieces."""

from __future__ import annotations

import itertools
import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.models import ngrams
from quintain.models.ngrams import chunks, features
from tests.properties import examples

BITS = 20
WEIGHTS = np.random.default_rng(0).normal(size=(1 << 14, 2)).astype(np.float32)


def _pieces(text: str) -> list[str]:
    """Count by hand what `features` hashes, for letters, spaces and full stops."""
    found = re.findall(r"[a-z']+|\.", text.lower())
    pieces = list(found) + [f"{a} {b}" for a, b in itertools.pairwise(found)]
    for size in (3, 4, 5):
        for word in re.findall(r"[a-z']+", text.lower()):
            edged = f"<{word}>"
            pieces += [edged[start : start + size] for start in range(len(edged) - size + 1)]
    return pieces


def _total(text: str) -> int:
    return sum(len(block.indices) for block in features([text], BITS).blocks)


@given(st.lists(st.text("abC' .", max_size=30), min_size=1, max_size=5))
@settings(max_examples=examples(150), deadline=None)
def test_each_text_has_as_many_features_as_pieces(texts: list[str]) -> None:
    """Words, neighbouring words and pieces of words: none is lost, none runs over into the next text."""
    found = features(texts, BITS)
    counts = sum(np.diff(block.indptr) for block in found.blocks)
    assert counts.tolist() == [len(_pieces(text)) for text in texts]


@given(st.lists(st.text(max_size=20), min_size=1, max_size=6))
@settings(max_examples=examples(80), deadline=None)
def test_a_text_has_the_same_features_in_any_company(texts: list[str]) -> None:
    """What stands before and after a text in the batch does not matter, whatever the script."""
    together = features(texts, 14).times(WEIGHTS)
    alone = np.concatenate([features([text], 14).times(WEIGHTS) for text in texts])
    np.testing.assert_array_equal(together, alone)  # the short way of one text adds up in the same order


def test_the_same_word_has_the_same_bucket_anywhere() -> None:
    """Position in the text plays no part in the hash of a word."""
    one = set(features(["sun"], BITS).blocks[0].indices.tolist())
    later = set(features(["the bright sun shone"], BITS).blocks[0].indices.tolist())
    assert one <= later


def test_different_words_rarely_share_a_bucket() -> None:
    """Thirty thousand words fill about as many buckets as chance lets them."""
    words = [f"{a}{b}{c}" for a in "abcdefghijklmnopqrstuvwxyz" for b in "aeioubcdfg" for c in range(115)]
    used = len(np.unique(features([" ".join(words)], BITS).blocks[0].indices))
    expected = (1 << BITS) * (1 - np.exp(-len(words) / (1 << BITS)))
    assert abs(used - expected) < 0.01 * expected


def test_case_does_not_matter() -> None:
    """Great and GREAT are the same word."""
    assert _total("GREAT food") == _total("great food")
    one, two = features(["GREAT food"], BITS), features(["great FOOD"], BITS)
    for a, b in zip(one.blocks, two.blocks, strict=True):
        assert a.indices.tolist() == b.indices.tolist()


def test_long_batches_are_cut_and_lose_nothing() -> None:
    """However long the texts, each is in exactly one chunk."""
    texts = ["word " * 40_000, "short", "", "x" * 600_000, *["many"] * 5_000]
    sizes = [len(found.scale) for found in chunks(texts, 12)]
    assert sum(sizes) == len(texts)
    assert max(sizes) <= ngrams.CHUNK


def test_times_and_its_transpose_belong_together() -> None:
    """⟨Xw, v⟩ equals ⟨w, Xᵀv⟩, which is what makes the gradient right."""
    rng = np.random.default_rng(1)
    found = features(["a good day", "bad", "no day is bad"], 10)
    weights = rng.normal(size=(1 << 10, 2)).astype(np.float32)
    values = rng.normal(size=(3, 2)).astype(np.float32)
    left = float(np.sum(found.times(weights) * values))
    right = float(np.sum(weights * found.transposed_times(values)))
    np.testing.assert_allclose(left, right, rtol=1e-4)
