"""Fingerprints of texts by which duplicates and near-duplicates are found in a database.

A text's sketch is a MinHash of its character n-grams (Broder, 1997) cut into bands: texts that are much alike share a
band, so that a look-up by band finds the few that are worth comparing in full.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from quintain.core.hashing import content_id
from quintain.core.text_form import text_form
from quintain.stats.near_duplicates import WIDTH, mix, squeeze

# Of texts that share .85 of their n-grams, 1 − (1 − .85⁴)⁸ = 99.7 % share a band; of those that share .5, 40 %.
BANDS, ROWS = 8, 4
ALIKE = 0.85

_SEEDS = mix(np.arange(1, BANDS * ROWS + 1, dtype=np.uint64))


def text_key(task: str, texts: Mapping[str, str]) -> str:
    """Give the hash of a task and what counts of a text: case, punctuation and white space do not.

    >>> text_key("mood", {"text": "Oh, great!"}) == text_key("mood", {"text": "oh great"})
    True
    """
    return content_id([task, *(f"{name}={counted_text(texts[name])}" for name in sorted(texts))])


def counted_text(text: str) -> str:
    """Leave of a text what counts; one without a word, such as an emoji, counts as it is."""
    return squeeze(text) or text_form(text)


def bands(scope: str, text: str) -> list[int]:
    """Give the bands of *text*, as signed 64-bit numbers; only texts of the same *scope* ever share one."""
    grams = _grams(counted_text(text))
    lowest = mix(grams[:, None] ^ _SEEDS[None, :]).min(axis=0)
    salt = np.uint64(int(content_id(scope)[:16], 16))
    values = salt ^ np.arange(BANDS, dtype=np.uint64)
    for rows in lowest.reshape(BANDS, ROWS).T:
        values = mix(values ^ rows)
    return [int(value) for value in values.astype(np.int64)]


def nearest(text: str, others: Sequence[str]) -> int | None:
    """Give the position of the text of *others* that *text* is a near-duplicate of, if there is one.

    It is what `find_nearest` gives, said for one text and a few others: there, arrays cost more than they save.
    """
    asked, given = squeeze(text), [squeeze(other) for other in others]
    if asked in given:
        return given.index(asked) if asked else None
    mine = _windows(asked)
    found, most = None, ALIKE - 1e-12
    for place, other in enumerate(given):
        theirs = _windows(other)
        shared = len(mine & theirs)
        likeness = shared / (len(mine) + len(theirs) - shared) if shared else 0.0
        if likeness > most:
            found, most = place, likeness
    return found


def _windows(squeezed: str) -> set[str]:
    padded = f" {squeezed} ".ljust(WIDTH)
    return {padded[start : start + WIDTH] for start in range(len(padded) - WIDTH + 1)} if squeezed else set()


def _grams(text: str) -> npt.NDArray[np.uint64]:
    padded = f" {text} ".ljust(WIDTH)
    letters = np.frombuffer(padded.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    hashes = np.zeros(len(letters) - WIDTH + 1, dtype=np.uint64)
    for offset in range(WIDTH):
        hashes = mix(hashes ^ letters[offset : offset + len(hashes)])
    return np.unique(hashes)
