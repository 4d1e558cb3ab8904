"""The short way of checking one example against the table's: what it calls fine, no rule may find faulty."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.core.task import Field
from quintain.tasks.rules import field_rules, find_faults, label_rules, surely_fine
from tests.properties import examples

SPACES = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\u200b\ufeff"
RULES = [
    *field_rules(Field("text", max_length=6)),
    *field_rules(Field("note", required=False, max_length=6)),
    *field_rules(Field("place", "token")),
    *label_rules(("good", "bad"), extra=("unsure",)),
]
SCHEMA = {"text": pl.String(), "note": pl.String(), "place": pl.Int64(), "answer": pl.String()}
TEXT = st.none() | st.text(st.sampled_from(SPACES + "ab\x00\x7fé👍🏽"), max_size=8)
ROW = st.fixed_dictionaries(
    {
        "text": TEXT,
        "note": TEXT,
        "place": st.none() | st.integers(-1, 3),
        "answer": st.none() | st.sampled_from(["good", "bad", "unsure", "Good", ""]),
    }
)


@given(ROW)
@settings(max_examples=examples(300), deadline=None)
def test_what_is_surely_fine_breaks_no_rule_of_the_table(row: dict[str, Any]) -> None:
    """White space of every kind, control characters, lengths in code points, missing values: both ways agree."""
    found = find_faults(pl.DataFrame([row], schema=SCHEMA), RULES)
    assert surely_fine(row, RULES) == (not found)


@pytest.mark.parametrize("space", SPACES)
def test_a_text_of_nothing_but_space_is_never_taken_at_once(space: str) -> None:
    """A character that the table strips is stripped by the short way too."""
    row = {"text": space, "note": None, "place": 0, "answer": "good"}
    if find_faults(pl.DataFrame([row], schema=SCHEMA), RULES):
        assert not surely_fine(row, RULES)
    else:
        assert surely_fine(row, RULES)


def test_a_rule_without_a_short_way_goes_to_the_table() -> None:
    """Where a kind brings a rule of its own, nothing is taken at once."""
    assert not surely_fine({"words": ["a"]}, field_rules(Field("words", "tokens")))
