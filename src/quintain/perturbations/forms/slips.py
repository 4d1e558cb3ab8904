"""Slips of keys: a neighbouring key, a letter swapped, left out, added or mistaken, a character that sounds alike."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import regex

from quintain.core.languages import base_language
from quintain.perturbations.batch import TextBatch
from quintain.perturbations.contract import Proposal
from quintain.perturbations.matches import Replace, edit_matches
from quintain.perturbations.wordbooks import Table, compiled, table_of
from quintain.perturbations.wordlists import words_in

_LATIN = r"\p{Latin}"
_NO_KEY = "_"
_HAN = r"\p{Han}"
SLIPS = ("swap", "delete", "insert", "replace")


def other_key(batch: TextBatch, rate: float, table: Table) -> Proposal:
    """Replace an inner letter by a neighbour on its keyboard; in Chinese a character by one that sounds alike."""
    language = base_language(batch.language)
    if "characters" in table:
        return alike(batch, rate, table)
    pattern = compiled(_word(table.get("letters", _LATIN), table["shortest"]))
    return edit_matches(batch, pattern, rate, _neighbour(language, table.get("last", 1)))


def alike(batch: TextBatch, rate: float, table: Table) -> Proposal:
    """Replace a character by another one that sounds or looks like it, as *table* pairs them."""
    pairs: dict[str, str] = {pair[0]: pair[1] for pair in words_in(table["characters"])}
    left = table.get("left", "")
    return edit_matches(
        batch, compiled(_HAN), rate, lambda match, draw: None if match[0] in left else pairs.get(match[0])
    )


def slip(batch: TextBatch, rate: float, table: Table) -> Proposal:
    """Swap, delete, insert or replace an inner letter; in Chinese double a character or swap two neighbours."""
    if "letters" not in table:
        return edit_matches(batch, compiled(rf"(?<={_HAN}){_HAN}{{2}}(?={_HAN})"), rate, _han_slip(table["left"]))
    pattern = compiled(_word(table.get("word", _LATIN), table["shortest"]))
    return edit_matches(batch, pattern, rate, _letter_slip(table["letters"], table.get("slips", SLIPS)))


def _word(letter: str, shortest: int) -> str:
    """Write the pattern of words of such letters only, with their marks, as long as that or longer."""
    return rf"(?<![\p{{L}}\p{{M}}\p{{N}}_'’-])(?:{letter}\p{{M}}*+){{{shortest},}}+(?![\p{{L}}\p{{M}}\p{{N}}_'’-])"


@cache
def neighbours(language: str) -> dict[str, str]:
    """List, for each letter of a language's keyboard, the letters whose keys touch its own.

    >>> neighbours("de")["z"], "y" in neighbours("en-GB")
    ('tugh', False)
    """
    table = table_of(language, "keyboard") or {}
    rows = zip(table.get("rows", ()), table.get("shifts", ()), strict=True)
    keys = {key: (x + shift, y) for y, (row, shift) in enumerate(rows) for x, key in enumerate(row) if key != _NO_KEY}
    return {
        key: "".join(other for other, (a, b) in keys.items() if other != key and abs(a - x) <= 1 and abs(b - y) <= 1)
        for key, (x, y) in keys.items()
    }


def _neighbour(language: str, last: int) -> Replace:
    keys = neighbours(language)

    def replace(match: regex.Match[str], draw: int) -> str | None:
        word: str = match[0]
        places = [i for i in range(1, len(word) - last) if word[i].lower() in keys]
        if not places:
            return None
        at = places[draw % len(places)]
        options = keys[word[at].lower()]
        new = options[(draw >> 12) % len(options)]
        return word[:at] + (new.upper() if word[at].isupper() else new) + word[at + 1 :]

    return replace


def _letter_slip(letters: str, slips: Sequence[str]) -> Replace:
    """Make one of *slips* at an inner letter of the list that another one, and no mark, follows."""

    def replace(match: regex.Match[str], draw: int) -> str | None:
        word: str = match[0]
        bare = [i for i in range(1, len(word) - 1) if word[i] in letters and word[i + 1] in letters]
        if not bare:
            return None
        at, slip = bare[draw % len(bare)], slips[(draw >> 12) % len(slips)]
        stray = letters[(draw >> 14) % len(letters)]
        if slip == "swap" and word[at] != word[at + 1]:
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        if slip == "delete":
            return word[:at] + word[at + 1 :]
        return word[:at] + stray + word[at + (slip == "replace") :]

    return replace


def _han_slip(left: str) -> Replace:
    def replace(match: regex.Match[str], draw: int) -> str | None:
        first, second = str(match[0])[0], str(match[0])[1]
        if first == second or first in left or second in left:
            return None
        return second + first if draw % 2 else first + first + second

    return replace
