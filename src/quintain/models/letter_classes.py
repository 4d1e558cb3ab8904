"""Which code points are letters, signs and spaces, as arrays: by the one rule of what a word is.

Models of format 1 knew letters beyond Latin by wide ranges only; they go on reading as they have learned.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from quintain.core.words import ALONE, LETTERS, compiled

# An attached sign belongs to what stands before it: a combining mark, or a joiner that nobody sees.
SPACE, WORD, MARK, CHARACTER, ATTACHED = 0, 1, 2, 3, 4
_ATTACHED = r"[\p{M}\u00ad\u200c-\u200f\u2060\ufeff]"
_SPACES = r"[\p{White_Space}\p{Cc}]"
_LAST = 0x110000

Classes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]


def classes_of(codes: npt.NDArray[np.uint32], version: int) -> tuple[Classes, Bools]:
    """Return the class of each code point (a space, part of a word or a sign alone), and where words begin.

    *version* is the format of the model that asks.
    """
    if version == 1 or codes.max(initial=0) < 0x80:
        classes = _RANGES.take(codes, mode="clip")
        word = classes == WORD
        word[1:] &= ~word[:-1]
        return classes, word
    classes = _table()[codes]
    attached = classes == ATTACHED
    whole = classes[np.maximum.accumulate(np.where(attached, 0, np.arange(len(codes))))]
    begins = (whole == CHARACTER) & ~attached
    begins[1:] |= (whole[1:] == WORD) & (whole[:-1] != WORD)
    loose = attached & ((whole == SPACE) | (whole == MARK))
    return np.where(loose, SPACE, np.where(whole == CHARACTER, WORD, whole)).astype(np.uint8), begins


def _ranges() -> Classes:
    table = np.full(0x3100, WORD, dtype=np.uint8)
    for code in range(0x100):
        letter = chr(code)
        table[code] = WORD if letter.isalnum() or letter == "'" else SPACE if not letter.strip() else MARK
    table[:0x20] = SPACE
    table[0x2010:0x2070] = MARK
    table[0x2000:0x2010] = SPACE
    table[0x2019] = WORD  # the curly apostrophe
    table[0x3000:0x3040] = MARK
    return table


_RANGES = _ranges()


@cache
def _table() -> Classes:
    """Return the class of every code point; made once, where a text is not ASCII."""
    letters = "".join(map(chr, range(_LAST)))
    table = np.full(_LAST, MARK, dtype=np.uint8)
    for rule, kind in ((f"[{LETTERS}]", WORD), (ALONE, CHARACTER), (_ATTACHED, ATTACHED), (_SPACES, SPACE)):
        for match in compiled(f"{rule}+").finditer(letters):
            table[match.start() : match.end()] = kind
    table[:0x80] = _RANGES[:0x80]
    table[0x2019] = WORD
    return table
