"""Word diffs give back both texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintain.stats.diff import word_diff


@given(st.text(alphabet="ab c.\n", max_size=40), st.text(alphabet="ab c.\n", max_size=40))
def test_both_texts_can_be_read_off(before: str, after: str) -> None:
    """Without what was added it is the first text, without what was removed the second."""
    pieces = word_diff(before, after)
    assert "".join(text for kind, text in pieces if kind != "added") == before
    assert "".join(text for kind, text in pieces if kind != "removed") == after


def test_words_change_as_a_whole() -> None:
    """A typo marks its word, not its letter; equal texts have one piece."""
    assert ("removed", "wonderful") in word_diff("a wonderful day", "a wonedrful day")
    assert word_diff("same", "same") == [("same", "same")]
