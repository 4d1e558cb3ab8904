"""One text against a few others: the same answer as of the search among many."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.services.collect.writing.duplicates import ALIKE, nearest
from quintain.stats.near_duplicates import find_nearest
from tests.properties import examples

WORDS = st.sampled_from(["what", "a", "dull", "film", "that", "was", "really", "!", "Great", "…", "é"])
TEXTS = st.lists(WORDS, max_size=14).map(" ".join)


@settings(max_examples=examples(150), deadline=None)
@given(text=TEXTS, others=st.lists(TEXTS, max_size=6), edit=st.integers(0, 3))
def test_it_agrees_with_the_search_among_many(text: str, others: list[str], edit: int) -> None:
    """Whatever the texts, near ones and equal ones among them, the same one is found."""
    others = [*others, text[:-edit] if edit else text.upper()]
    found = find_nearest([text], others, threshold=ALIKE)
    assert nearest(text, others) == (int(found.index[0]) if found.index[0] >= 0 else None)


def test_nothing_is_like_nothing() -> None:
    """No others, and texts without a word, are no near-duplicates."""
    assert nearest("A fine film.", []) is None
    assert nearest("!!!", ["!!!", "?"]) is None
