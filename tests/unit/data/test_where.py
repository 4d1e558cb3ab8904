"""Conditions: how they are read, what they select, and what is said about wrong ones."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.data.where import Every, Not, conjuncts, parse_where
from quintain.data.where_columns import (
    COLUMN_PREFIX,
    LABEL_PREFIX,
    WhereScope,
    check_where,
    file_columns,
    mentions,
    to_expression,
)

SCOPE = WhereScope(
    numbers=("rating", "length", "probability"),
    texts=("predicted", "text"),
    labels=("negative", "positive"),
    columns=("city", "useful", "length"),
)
TABLE = pl.DataFrame(
    {
        "row": [1, 2, 3, 4],
        "rating": [1.0, 5.0, 3.0, None],
        "length": [4, 30, 12, 7],
        "probability": [0.9, 0.6, 0.5, 0.8],
        "predicted": ["positive", "negative", "positive", "negative"],
        "text": ["Never again", "so GOOD", "ok", "fine"],
        LABEL_PREFIX + "positive": [0.9, 0.4, 0.5, 0.2],
        LABEL_PREFIX + "negative": [0.1, 0.6, 0.5, 0.8],
        COLUMN_PREFIX + "city": ["Bonn", "Ulm", None, ""],
        COLUMN_PREFIX + "useful": ["3", "10", "many", None],
        COLUMN_PREFIX + "length": ["long", "short", "long", "short"],
    }
)


def selected(text: str) -> list[int]:
    """Give the rows that a condition selects."""
    condition = parse_where(text)
    check_where(condition, SCOPE, text=text, source="--where")
    return TABLE.filter(to_expression(condition, SCOPE))["row"].to_list()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("rating == 1 and predicted == 'positive'", [1]),
        ("rating in [1, 5]", [1, 2]),
        ("rating not in (1, 5)", [3, 4]),
        ("rating != 1", [2, 3, 4]),
        ("not rating == 1", [2, 3, 4]),
        ("missing(rating)", [4]),
        ("missing(city)", [3, 4]),
        ("city == 'Bonn' or city == \"Ulm\"", [1, 2]),
        ("useful > 3", [2]),
        ("useful == '3'", [1]),
        ("0.4 < probability < 0.7", [2, 3]),
        ("probability('positive') >= 0.5", [1, 3]),
        ("length < 10 and (rating == 1 or missing(rating))", [1, 4]),
        ("`length` == 'long'", [1, 3]),
        ("contains(text, 'good') or contains(text, 'NEVER')", [1, 2]),
        ("contains(city, 'x')", []),
        ("predicted in ['positive']", [1, 3]),
        ("not not rating >= 3", [2, 3]),
        ("rating == 1 or rating == 5 and length > 100", [1]),
        ("rating > -1.5e0", [1, 2, 3]),
    ],
)
def test_conditions_select_rows(text: str, rows: list[int]) -> None:
    """Each part of the language does what it says; what is missing equals nothing."""
    assert selected(text) == rows


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("rating = 1", 8, "did you mean '=='"),
        ("rating == ", 11, "the end comes where"),
        ("rating == 1 and", 16, "the end comes where"),
        ("rating == 1 length < 3", 13, "join conditions with 'and'"),
        ("(rating == 1", 13, "')' is missing"),
        ("predicted == 'positive", 14, "' is never closed"),
        ("rating == 1 & length < 3", 13, "did you mean 'and'"),
        ("rating", 7, "a comparison is missing"),
        ("rating in 1", 11, "'[' is missing"),
        ("rating in [x]", 12, "only numbers and texts"),
        ("exec('rm')", 1, "no function 'exec'"),
        ("rating == 1x", 11, "not a number"),
        ("probability(positive) > 1", 13, "a text in quotation marks"),
        ("missing('x')", 1, "asks for a name"),
        ("stars == 1", 1, "no name 'stars'"),
        ("`citi` == 'x'", 1, "no column 'citi'; did you mean 'city'"),
        ("predicted == 'postive'", 14, "did you mean 'positive'"),
        ("probability('mixed') > 0.5", 1, "never answers 'mixed'"),
        ("predicted in ['positive', 'bad']", 27, "never answers 'bad'"),
        ("predicted < 'positive'", 11, "labels have no order"),
        ("rating == 'one'", 8, "is a number and 'one' is a text"),
        ("", 1, "the end comes where"),
    ],
)
def test_mistakes_are_shown_where_they_are(text: str, place: int, reason: str) -> None:
    """The message has the source, the place counted from 1, the reason, and a mark under the place."""
    with pytest.raises(BadInput) as caught:
        selected(text)
    first, *shown = caught.value.message.split("\n")
    assert first.startswith(f"--where, character {place}: ")
    assert reason in first
    assert shown[-1] == " " * (place + 1) + "^"


def test_a_tower_of_brackets_is_refused() -> None:
    """Depth and length have their limits, so that nobody runs us out of stack."""
    with pytest.raises(BadInput, match="too many brackets"):
        parse_where("(" * 5000 + "rating == 1" + ")" * 4989)
    with pytest.raises(BadInput, match="characters"):
        parse_where("rating == 1 or " * 2000)


@given(st.text(alphabet=st.sampled_from(list("rating'\"`()[]<>=! 1.,andotx-")), max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    """There is no third way out."""
    problem, found = None, None
    try:
        found = parse_where(text)
    except BadInput as error:
        problem = error.message
    assert (problem is None) == bool(conjuncts(found))
    assert problem is None or problem.startswith("--where, character ")


def test_parts_can_be_told_apart() -> None:
    """Conjuncts are flat; columns of the file and what the model says are found wherever they stand."""
    found = parse_where("rating == 1 and (city == 'x' and (not predicted == 'positive'))")
    parts = conjuncts(found)
    assert isinstance(found, Every)
    assert len(parts) == 3
    assert isinstance(parts[2], Not)
    assert file_columns(found, SCOPE) == ["city"]
    assert [mentions(part, SCOPE, "predicted") for part in parts] == [False, False, True]
    assert mentions(parse_where("probability('positive') > 0"), SCOPE, "probability")
    assert file_columns(parse_where("length < 3 and `length` == 'x'"), SCOPE) == ["length"]
