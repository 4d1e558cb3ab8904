"""What a word is, in every script: one table of examples for texts, columns of texts and pages."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.words import (
    PIECE,
    TERM,
    WORD,
    compiled,
    count_spaced,
    pieces,
    shortened,
    token_spans,
    tokens,
    words,
)
from tests.conftest import ROOT

CASES: list[dict[str, Any]] = json.loads((ROOT / "tests" / "data" / "words.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["text"]))
def test_words_and_pieces_of_every_script(case: dict[str, Any]) -> None:
    """Marks stay with their letters, characters of scripts without spaces stand alone, an emoji is one sign."""
    assert words(case["text"]) == case["words"]
    assert pieces(case["text"]) == case["pieces"]
    assert tokens(case["text"]) == [piece for piece in case["pieces"] if not piece.isspace()]


@pytest.mark.parametrize("rule", [WORD, TERM, PIECE])
def test_columns_are_cut_as_single_texts_are(rule: str) -> None:
    """Python's engine and that of columns read the same rules alike."""
    texts = [case["text"] for case in CASES]
    assert pl.Series(texts).str.extract_all(rule).to_list() == [compiled(rule).findall(text) for text in texts]


@given(st.text(max_size=60))
def test_pieces_make_up_the_text(text: str) -> None:
    """Nothing is lost and nothing comes twice, whatever the characters, halves of surrogate pairs among them."""
    assert "".join(pieces(text)) == text


@given(st.text(max_size=40))
def test_no_mark_is_cut_from_its_letter(text: str) -> None:
    """Whatever begins a piece is no combining mark, unless nothing stands before it that it could belong to."""
    before = ""
    for piece in pieces(text):
        assert not (unicodedata.category(piece[0]) == "Mn" and before[-1:].isalpha())
        before = piece


@given(st.text(st.characters(max_codepoint=126), max_size=80))
def test_english_is_cut_as_ever(text: str) -> None:
    """On plain English the rules are those that figures were published with."""
    old = pl.Series([text]).str.extract_all(r"[\p{L}\p{M}\p{N}]+(?:['’\-][\p{L}\p{M}\p{N}]+)*").to_list()[0]
    assert words(text) == old
    assert count_spaced(text) == len(text.split())


def test_spans_are_places_in_the_text() -> None:
    """Where words and signs stand is said in characters of the text as it is; apostrophes keep a word together."""
    text = "isn't 很好。"
    assert [text[start:end] for start, end in token_spans(text)] == ["isn't", "很", "好", "。"]


def test_reading_length_counts_characters_where_there_are_no_spaces() -> None:
    """Signs go with the character before them, as they do between spaces."""
    assert count_spaced("这部电影很好。") == 6
    assert count_spaced("यह अच्छी है ।") == 4


@pytest.mark.parametrize(
    "text",
    ["ab\U0001f469\u200d\U0001f469\u200d\U0001f467cd", "हिन्दी की किताब", "cafe\u0301 noir", "\U0001f1e9\U0001f1ea!!"],
)
def test_nothing_is_cut_within_a_character(text: str) -> None:
    """Whatever the length: a face stays whole, and a mark stays with its letter."""
    whole = [match.end() for match in compiled(r"\X").finditer(text)]
    for most in range(1, len(text)):
        short = shortened(text, most)
        assert short.endswith("…")
        assert len(short) <= most
        assert len(short) - 1 in {0, *whole}
