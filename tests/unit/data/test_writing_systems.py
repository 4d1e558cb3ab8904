"""Whether texts are in the script, and by their small words in the language, that is said of them."""

from __future__ import annotations

import polars as pl
import pytest

from quintain.data.writing_systems import LanguageCheck, scripts_of
from tests.languages import LANGUAGES, opinions


def _hint(language: str, texts: list[str]) -> str:
    check = LanguageCheck(language)
    check.add(pl.Series(texts))
    return str(check.hint() or "")


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_in_their_language_are_passed(language: str) -> None:
    """Nothing is said of opinions in the language that they are said to be in."""
    assert _hint(language, [row["text"] for row in opinions(language, half=0)]) == ""


@pytest.mark.parametrize(
    ("said", "language", "script"),
    [
        ("en", "zh", "Han"),
        ("zh", "en", "Latin"),
        ("ar", "hi", "Devanagari"),
        ("hi", "ar", "Arabic"),
        ("de", "zh", "Han"),
    ],
)
def test_texts_in_another_script_are_counted(said: str, language: str, script: str) -> None:
    """The warning says how many, and which script most of their letters are in."""
    texts = [row["text"] for row in opinions(language, half=0)]
    assert f"{len(texts)} of {len(texts)} texts are not in the script" in _hint(said, texts)
    assert f"most such letters are {script}" in _hint(said, texts)


def test_languages_of_one_script_are_told_by_small_words() -> None:
    """German texts in an English task are named where most of them speak for German."""
    texts = [f"Das ist die {number}. Suppe, und sie war nicht kalt." for number in range(30)]
    assert "most texts are in 'de'" in _hint("en", texts)
    assert _hint("de", texts) == ""
    assert _hint("fi", texts) == ""


def test_names_in_another_script_make_no_other_language() -> None:
    """A Chinese name in an English text, digits and emoji say nothing."""
    assert _hint("en", ["The poet 李白 was read by all of us.", "10 + 10 = 20", "😀😀"]) == ""
    assert _hint("ja", ["映画は良い", "カメラ", "東京"]) == ""


def test_a_language_that_is_not_known_is_not_checked() -> None:
    """What Unicode names no script for is passed as it is."""
    assert scripts_of("x-klingon") == ()
    assert _hint("qaa", ["这部电影"]) == ""
