"""JSON from those who are not trusted is read within bounds, and texts are made fit to be stored."""

from __future__ import annotations

import json
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.core.untrusted import Bounds, read_json, storable

BOUNDS = Bounds(size=100_000, text=10_000, elements=1_000)
PLAIN_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**90), 10**90) | st.floats(allow_nan=False, allow_infinity=False)
    | PLAIN_TEXT,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(PLAIN_TEXT, inner, max_size=6),
    max_leaves=40,
)  # fmt: skip


@given(VALUES, st.booleans())
def test_what_is_within_bounds_reads_back(value: Any, ascii_only: bool) -> None:
    """Everything that JSON can say comes back as it was, whatever quotes and backslashes stand in its texts."""
    assert read_json(json.dumps(value, ensure_ascii=ascii_only).encode(), BOUNDS) == value


@given(st.binary(max_size=200) | st.text(st.sampled_from('[]{}",:\\ue0d81"'), max_size=80).map(lambda s: s.encode()))
def test_nothing_but_bad_input_is_raised(data: bytes) -> None:
    """Whatever bytes come: a value that can be stored, or one kind of error."""
    try:
        value = read_json(data, BOUNDS)
    except BadInput:
        return
    text = json.dumps(value, ensure_ascii=False)
    assert text.encode("utf-8")
    assert "\x00" not in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 20_000 + "]" * 20_000, "members"),
        ("[" * 40 + "]" * 40, "nested more than 32 deep"),
        ('{"a":' * 40 + "1" + "}" * 40, "nested more than 32 deep"),
        ("[" * 40, "nested"),
        ('{"p": ' + "1" + "0" * 400 + "}", "more than 100 digits"),
        ("[1e999]", "too large a number"),
        ("[NaN]", "NaN is not a number"),
        ("[-Infinity]", "Infinity is not a number"),
        ("[" + "[]," * 2_000 + "[]]", "members of lists"),
        ("[" + '"",' * 4_000 + '""]', "too many texts"),
        ('["' + "x" * 20_000 + '"]', "text of 20,000 bytes"),
        ('"' + "x" * 200_000 + '"', "200,002 bytes; 100,000 are allowed"),
        ('{"a" 1}', "not JSON"),
        ("", "not JSON"),
    ],
    ids=lambda text: text[:16],
)
def test_what_breaks_a_bound_is_refused(text: str, said: str) -> None:
    """Each bound has its own words."""
    with pytest.raises(BadInput, match=said):
        read_json(text, BOUNDS)


def test_brackets_and_quotes_inside_texts_do_not_count() -> None:
    """What stands in a text is no structure, also behind escaped quotes and backslashes."""
    value = ["[" * 500, 'a"[[[,', "\\", '\\"', "{" * 500 + '"\\']
    assert read_json(json.dumps(value), BOUNDS) == value


def test_what_no_store_takes_is_replaced() -> None:
    """Half surrogates and NUL become the replacement character, in keys too; whole pairs stay letters."""
    assert read_json(rb'{"\ud800k": "a\u0000b\udfffc", "pair": "\ud83d\ude00"}', BOUNDS) == {
        "\ufffdk": "a\ufffdb\ufffdc",
        "pair": "😀",
    }
    assert read_json(b'"\xed\xa0\x80"', BOUNDS).strip("\ufffd") == ""
    assert storable("a\x00\ud800b" * 10, 5) == "a\ufffd\ufffdba"


def test_a_hostile_reply_costs_little() -> None:
    """Millions of tiny lists are refused before they are built: in a moment, and in little more than their bytes."""
    bounds = Bounds(size=16 << 20, text=64 << 10, elements=500_000)
    body = b"[" + b"[]," * (5 << 20) + b"[]]"
    tracemalloc.start()
    begun = time.process_time()
    with pytest.raises(BadInput, match="members"):
        read_json(body, bounds)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * len(body)
    assert time.process_time() - begun < 5
