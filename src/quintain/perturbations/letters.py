"""What kind of character a code point is, as tables that numpy can index."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

SIZE = 0x10000
APOSTROPHES = "'’"
# From the CJK radicals on, one character is a syllable or a word: mistyping one is another thing altogether.
_TYPED_BELOW = 0x2E80

Codes = NDArray[np.uint8] | NDArray[np.uint32]
Table = NDArray[np.uint32]
Flags = NDArray[np.bool_]


@cache
def word_characters() -> Flags:
    """Flag what may stand in a word: letters, their marks, digits, the low line."""
    flags = [(c := chr(i)).isalnum() or c == "_" or unicodedata.category(c)[0] == "M" for i in range(SIZE)]
    return np.array(flags, dtype=bool)


@cache
def typed_letters() -> Flags:
    """Flag letters of alphabets, which can be mistyped one at a time."""
    return np.array([i < _TYPED_BELOW and chr(i).isalpha() for i in range(SIZE)], dtype=bool)


@cache
def not_letters() -> Flags:
    """Flag characters of words that are no letters: digits and low lines; a word with one is a code, not a word."""
    others = [not (chr(i).isalpha() or unicodedata.category(chr(i))[0] == "M") for i in range(SIZE)]
    both: Flags = word_characters() & np.array(others, dtype=bool)
    return both


@cache
def upper_codes() -> Table:
    """Map each code point to its upper case where that is one character."""
    return _cases(str.upper)


@cache
def lower_codes() -> Table:
    """Map each code point to its lower case where that is one character."""
    return _cases(str.lower)


def _cases(change: Callable[[str], str]) -> Table:
    changed = (change(chr(i)) for i in range(SIZE))
    return np.array([ord(c) if len(c) == 1 else i for i, c in enumerate(changed)], dtype=np.uint32)


def flags(characters: str) -> Flags:
    """Flag just *characters*."""
    table = np.zeros(SIZE, dtype=bool)
    table[[ord(c) for c in characters]] = True
    return table


def text_of(codes: NDArray[np.integer]) -> str:
    """Turn code points into a string."""
    return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
