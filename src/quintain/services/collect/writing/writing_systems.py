"""Which script a text is written in, told from the Unicode names of its letters."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

# The first words of the Unicode names of each script's letters.
SCRIPTS: dict[str, tuple[str, ...]] = {
    "Latin": ("LATIN", "FULLWIDTH", "MODIFIER", "FEMININE", "MASCULINE", "MICRO"),
    "Cyrillic": ("CYRILLIC",),
    "Greek": ("GREEK",),
    "Arabic": ("ARABIC",),
    "Hebrew": ("HEBREW",),
    "Devanagari": ("DEVANAGARI",),
    "Bengali": ("BENGALI",),
    "Tamil": ("TAMIL",),
    "Thai": ("THAI",),
    "Han": ("CJK",),
    "Kana": ("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HALFWIDTH"),
    "Hangul": ("HANGUL",),
    "Armenian": ("ARMENIAN",),
    "Georgian": ("GEORGIAN",),
    "Ethiopic": ("ETHIOPIC",),
}
_SCRIPT_OF = {word: script for script, words in SCRIPTS.items() for word in words}
# A foreign name or a word in quotation marks is fine; a text in another script is not.
FOREIGN = 0.5


def foreign_script(text: str, allowed: Sequence[str]) -> str | None:
    """Name the script that most letters of *text* are in, if most are in none of *allowed*.

    Digits, punctuation and emoji belong to no script. A text without letters is never foreign.

    >>> foreign_script("Хорошо, very", ["Latin"])
    'Cyrillic'
    """
    if not allowed:
        return None
    counts = Counter(_script(letter) for letter in text if letter.isalpha())
    foreign = {script: count for script, count in counts.items() if script not in allowed}
    if sum(foreign.values()) <= FOREIGN * counts.total():
        return None
    return max(foreign, key=lambda script: foreign[script])


def _script(letter: str) -> str:
    if letter < "\u0250":
        return "Latin"
    return _SCRIPT_OF.get(unicodedata.name(letter, "UNKNOWN").split()[0], "another script")
