"""Votes as training data: one label for each vote, or shares."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.labels.views import repeated, soft, votes

LABELS = ("negative", "neutral", "positive")
MIXES = {"mixed": ("positive", "negative")}
DISTRIBUTIONS = st.dictionaries(st.sampled_from([*LABELS, "mixed", "skip"]), st.integers(0, 7))


@given(DISTRIBUTIONS)
def test_copies_and_shares_tell_the_same(distribution: dict[str, int]) -> None:
    """The share of each label is its share of the copies, and there is a copy for every vote that counts."""
    copies = repeated(distribution, LABELS, MIXES)
    shares = soft(distribution, LABELS, MIXES)
    assert len(copies) == sum(distribution.get(name, 0) for name in LABELS) + 2 * distribution.get("mixed", 0)
    assert set(shares) == (set(LABELS) if copies else set())
    for label, share in shares.items():
        assert share == pytest.approx(copies.count(label) / len(copies))


def test_who_voted_counts_as_well_as_how_many() -> None:
    """Lists of judges are counted, and a vote for what no model can answer is left out."""
    told = {"neutral": ["j1", "j2"], "mixed": ["j3"], "skip": ["j4"]}
    assert votes(told, LABELS, MIXES) == {"negative": 1, "neutral": 2, "positive": 1}
    assert repeated(told, LABELS) == ["neutral", "neutral"]
