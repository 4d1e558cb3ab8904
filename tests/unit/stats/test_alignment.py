"""Words and pieces of texts are found again after an edit around them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.stats.alignment import follow_piece, follow_word
from tests.properties import examples

SENTENCE = ["He", "ate", "pizza", "with", "friends", "with", "glee", "."]


@pytest.mark.parametrize(
    ("after", "number", "place"),
    [
        ("He ate cold pizza with friends with glee .", 3, 4),
        ("With Ada he ate pizza with friends with glee .", 3, 5),
        ("He ate pizza without friends with glee .", 3, 3),
        ("He ate pizza friends with glee .", 3, None),
        ("He ate pizza with glee .", 5, 3),
        ("He ate with friends with glee .", 5, 4),
        ("He ate pizza with friends with glee .", 9, None),
        ("", 3, None),
    ],
)
def test_a_word_is_followed(after: str, number: int, place: int | None) -> None:
    """What is put in or taken out on the left moves it; what replaced it has its place; what is gone has none."""
    assert follow_word(SENTENCE, after.split(), number) == place


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=8),
    st.integers(0, 7),
    st.integers(0, 8),
    st.text("xyz", min_size=1),
)
@settings(max_examples=examples(60), deadline=None)
def test_a_new_word_moves_what_follows_it(words: list[str], number: int, at: int, new: str) -> None:
    """Put one unknown word anywhere: every other word keeps its text, and its order."""
    number, at = number % len(words), at % (len(words) + 1)
    after = [*words[:at], new * 2, *words[at:]]
    assert follow_word(words, after, number) == number + (at <= number)


def test_a_piece_is_followed_letter_by_letter() -> None:
    """A span keeps its text or has no place; also where it begins within a word."""
    before = "Tom ordered tea, and Mira ordered tea."
    assert follow_piece(before, "Today " + before, 34, 3) == 40
    assert follow_piece(before, before.replace("and Mira", "and then Mira"), 34, 3) == 39
    assert follow_piece(before, before.replace("Mira ordered tea", "Mira ordered mate"), 34, 3) is None
    assert follow_piece(before, "Old " + before, 1, 2) == 5
    assert follow_piece(before, before, 500, 3) == 500
    assert follow_piece(before, "", 34, 3) is None
