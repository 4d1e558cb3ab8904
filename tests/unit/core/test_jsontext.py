"""JSON and TOML from outside: bounded in depth, digits and characters, with the place of what is wrong."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.core.jsontext import MAX_DEPTH, NotJson, parse_json, too_deep_for_tables
from quintain.core.toml import parse_toml

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


@given(PLAIN)
def test_what_is_written_as_json_is_read_again(value: object) -> None:
    """The bounds are beyond everything that people write."""
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 900, 20_000])
@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_nesting_has_a_bound(depth: int, start: str, end: str) -> None:
    """It is refused as such at every depth beyond it, and looked for before polars is asked."""
    text = start * depth + "1" + end * depth
    with pytest.raises(NotJson, match="nested more than"):
        parse_json(text)
    assert too_deep_for_tables(b'{"a": 1}\n' * 100 + text.encode())


def test_the_deepest_nesting_is_read() -> None:
    """The bound itself is allowed, and many brackets side by side are not nesting."""
    assert parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert len(parse_json("[" + ",".join(["[]"] * 500) + "]")) == 500
    assert not too_deep_for_tables(b'{"a": [1, 2]}\n' * 500)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("9" * 5000, "5,000 digits"),
        ("1e999", "too large"),
        ("NaN", "not a number"),
        ("-Infinity", "not a number"),
        ('"\\ud800"', "surrogate"),
        ('{"a": ["\\udc00"]}', "surrogate"),
        (b"\xff", "UTF-8"),
        ('{"a":', "Expecting value"),
        ("", "Expecting value"),
    ],
)
def test_what_is_no_json_is_said(text: str | bytes, said: str) -> None:
    """The reader gets the reason, and puts its file and row before it."""
    with pytest.raises(NotJson, match=said):
        parse_json(text)


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * 20_000, ".".join("a" * 90) + " = 1", "a = {b = " * 200, "a = " + "9" * 5000, "a = 1979-13-01"],
)
def test_toml_has_the_same_bounds(text: str) -> None:
    """Nesting by brackets or by keys, digits and dates that do not exist are refused with the file's name."""
    with pytest.raises(BadInput, match=r"task\.toml.*not valid TOML"):
        parse_toml(text, file="task.toml")


def test_dots_in_texts_are_no_keys() -> None:
    """A text of many dots and brackets is just a text."""
    text = "…".join(["a.b"] * 200) + "[x]" * 200 + "." * 300
    assert parse_toml(f'a = "{text}"') == {"a": text}
