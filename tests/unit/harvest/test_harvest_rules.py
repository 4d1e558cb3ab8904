"""Rules of a harvest: what a file says, and what is said about a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintain.core.errors import BadInput, NotFound
from quintain.data.harvest_rules import DEFAULT_RULES, SentenceLimits, parse_rules, read_rules

ONE = '[[strata]]\nname = "all"\nshare = 1.0\n'


def test_the_default_rules_are_the_papers() -> None:
    """Half contradicts the stars, a quarter each way; the rest is spread over label and rating."""
    rules = parse_rules(DEFAULT_RULES)
    assert [one.share for one in rules.strata] == [0.25, 0.25, 0.5]
    assert [one.group for one in rules.strata] == ["contradiction", "contradiction", ""]
    assert rules.strata[2].across == ("predicted", "rating")
    assert rules.limits == SentenceLimits(words=(3, 60), characters=(10, 500))


def test_the_hash_is_of_the_content() -> None:
    """Comments and layout do not change it; a share does."""
    other = ONE.replace("1.0", "1.0  # all of it\n")
    assert parse_rules(ONE).hash == parse_rules(other).hash
    assert parse_rules(ONE).hash != parse_rules("where = 'length < 9'\n" + ONE).hash


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = ", "not valid TOML"),
        ("", "field 'strata': is missing"),
        ("stratum = 1\n" + ONE, "field 'stratum': no such key; did you mean 'strata'"),
        (ONE + "wher = 'x'\n", "field 'strata.wher': no such key; did you mean 'where'"),
        (ONE + "where = 3\n", "is not a condition"),
        (
            ONE + "where = 'rating = 1'\n",
            "rules.toml, field 'strata.where': the condition, character 8: '=' means nothing",
        ),
        (ONE.replace("1.0", "0.5"), "the shares add up to 0.5, not to 1"),
        (ONE.replace("1.0", "2"), "is 2, not a number above 0 and at most 1"),
        (ONE.replace("share = 1.0", ""), "'all' needs either a share or a count"),
        (ONE + "count = 3\n", "'all' needs either a share or a count"),
        (ONE.replace("share = 1.0", "count = 0"), "is 0, not a whole number from 1"),
        ("size = 9\n" + ONE.replace("share = 1.0", "count = 3"), "is 9, but the counts add up to 3"),
        (ONE + "[[strata]]\nshare = 0\n", "field 'strata.share': entry 2: is 0, not a number above 0"),
        (ONE + ONE, "the name 'all' is there twice"),
        (ONE + '[[strata]]\nname = "b"\ncount = 3\n', "some have a share and some a count"),
        ("[limits]\nwords = 3\n" + ONE, "is 3, not the least and the most, such as [3, 60]"),
        ("[limits]\nwords = [9, 3]\n" + ONE, "is [9, 3], not the least and the most"),
        ("[limits]\nscripts = ['Klingon']\n" + ONE, "is ['Klingon'], not a list with any of Arabic"),
        (
            "[limits]\nlanguages = ['tlh']\n" + ONE,
            "field 'limits.languages': is ['tlh'], not a list with any of en, de",
        ),
        ("[limits]\nlanguages = 'en'\n" + ONE, "is 'en', not a list with any of en"),
        ("[limits]\nnear_duplicates = 0\n" + ONE, "is 0, not a number above 0 and at most 1"),
        ("[limits]\nper_text = -1\n" + ONE, "is -1, not a whole number from 0"),
        ("limits = 3\n" + ONE, "is not a table"),
        (ONE + "across = 'rating'\n", "not a list of at most 100 different texts"),
        (ONE.replace('"all"', "7"), "is 7, not a text"),
        ("size = true\n" + ONE, "is true, not a whole number"),
    ],
)
def test_wrong_rules_are_explained(text: str, reason: str) -> None:
    """The message names the file, the key and what to write instead."""
    with pytest.raises(BadInput, match=r"rules\.toml") as caught:
        parse_rules(text, file="rules.toml")
    assert reason in str(caught.value)


def test_a_missing_file_says_where_to_get_one(tmp_path: Path) -> None:
    """So does one that is not text."""
    with pytest.raises(NotFound, match="--show-rules"):
        read_rules(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="line 1: byte 0xff is not UTF-8"):
        read_rules(tmp_path / "bad.toml")
