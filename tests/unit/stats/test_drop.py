"""DROP's exact match and F1, by the rules of its paper."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.stats.drop import drop_exact_match, drop_f1, normalise_span
from tests.properties import examples

ANSWERS = st.lists(st.text(alphabet="ab 12-.", min_size=1, max_size=6), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Eiffel-Tower,", "eiffel tower"),
        ("1,000", "1000.0"),
        ("12.50", "12.5"),
        ("3-4", "3.0 4.0"),
        ("an", ""),
        ("Infinity", "infinity"),
        ("8 March 1976", "8.0 march 1976.0"),
    ],
)
def test_normalisation(text: str, normal: str) -> None:
    """Case, punctuation and articles go, hyphens part words, and numbers count by their value."""
    assert normalise_span(text) == normal


@pytest.mark.parametrize(
    ("said", "golds", "exact", "f1"),
    [
        (["5"], [["five", "x"], ["5.0"]], True, 1.0),
        (["4"], [["5"]], False, 0.0),
        (["5 yards"], [["5"]], False, 0.67),
        (["yards"], [["5 yards"]], False, 0.0),
        (["Bears", "Rams"], [["the Rams", "Bears"]], True, 1.0),
        (["Bears"], [["Rams", "Bears"]], False, 0.5),
        (["Bears", "Rams", "Lions"], [["Rams", "Bears"]], False, 0.67),
        (["Bears", "Bears"], [["Bears"]], False, 0.5),
        (["John Smith", "Mary Jones"], [["Mary", "John Smith"]], False, 0.83),
        (["March 1976"], [["8 March 1976"]], False, 0.8),
        ([], [["Bears"]], False, 0.0),
    ],
)
def test_the_rules(said: list[str], golds: list[list[str]], exact: bool, f1: float) -> None:
    """Numbers have to match, spans are paired as well as they can be, and what is left over scores nothing."""
    assert drop_exact_match(said, golds) is exact
    assert drop_f1(said, golds) == pytest.approx(f1)


@given(ANSWERS, ANSWERS)
@settings(max_examples=examples(80), deadline=None)
def test_what_always_holds(said: list[str], gold: list[str]) -> None:
    """F1 is between 0 and 1, does not ask for an order, and an exact match has all of it."""
    found = drop_f1(said, [gold])

    assert 0.0 <= found <= 1.0
    assert drop_f1(said[::-1], [gold]) == found
    assert drop_f1(gold, [gold]) == 1.0
    assert not drop_exact_match(said, [gold]) or found == 1.0
