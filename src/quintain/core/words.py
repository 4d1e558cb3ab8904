r"""What a word is: one rule for all scripts, for single texts, columns of texts and pages alike.

Words are those of Unicode Standard Annex 29 (Unicode Text Segmentation) as far as regular expressions say them:
letters, digits and marks stay together, also over joiners that nobody sees; an emoji is one sign with all that belongs
to it. In scripts that set no space between words, every character is a word: without a dictionary, neighbouring
characters tell a classifier or an overlap more than whole clauses do. What joins letters within a word differs by what
is asked: a hyphen makes one word for the length of a text, and two where an edit is shown.

The rules are sources of regular expressions that Python's `regex` (version 1), Rust's (in polars) and JavaScript (with
the flag `v`) all read. `web/static/js/words.js` has the same ones, and a test compares them.

>>> words("It isn't well-made: 花了200元。"), pieces("an e\u0301tat")
(['It', "isn't", 'well-made', '花', '了', '200', '元'], ['an', ' ', 'e\u0301tat'])
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache

import regex

# Scripts whose words stand without a space between them: of classes ID and SA of Unicode Standard Annex 14.
SCRIPTS_WITHOUT_SPACES = (
    "Han",
    "Hiragana",
    "Katakana",
    "Bopomofo",
    "Yi",
    "Thai",
    "Lao",
    "Khmer",
    "Myanmar",
    "Tai_Le",
    "New_Tai_Lue",
    "Tai_Tham",
    "Tai_Viet",
)
# Letters that belong to Kana by use and to no script by name: the closing mark, signs of length and voice.
_KANA_MARKS = r"\u3006\u30fc\uff70\uff9e\uff9f"
_SCRIPTS = "".join(rf"\p{{Script={script}}}" for script in SCRIPTS_WITHOUT_SPACES)
ALONE = rf"[\p{{Alphabetic}}&&[{_SCRIPTS}{_KANA_MARKS}]]"
_UNSEEN = r"\u00ad\u200c-\u200f\u2060\ufeff"  # joiners, soft hyphens and marks of direction
# Between letters of one word: apostrophes, the Catalan point, and the signs of Hebrew abbreviations.
_APOSTROPHES = r"'\u2019\uff07\u00b7\u2027\u05f4\u05f3"
_HYPHEN = r"\-"
_POINTS = ".,"
LETTERS = r"\p{Alphabetic}\p{N}"
_LETTERS_AND_LINES = r"\p{Alphabetic}\p{N}\p{Pc}"


def _run(letters: str, joiners: str = "") -> str:
    """Write the rule of words between spaces; a mark belongs to the letter before it, and begins no word."""
    first, others = f"[[{letters}]--{ALONE}]", rf"[[{letters}\p{{M}}]--{ALONE}]"
    between = f"(?:[{_UNSEEN}]+|[{joiners}])" if joiners else f"[{_UNSEEN}]+"
    return f"{first}{others}*(?:{between}{others}+)*"


CHARACTER = rf"{ALONE}[\p{{M}}\u200d]*"
_SIGN = rf"[^{_LETTERS_AND_LINES}\p{{White_Space}}]"
_ATTACHED = r"[\p{M}\p{Emoji_Modifier}]*"
# Flags, faces of several parts, and every other sign alone.
SIGN = rf"\p{{Regional_Indicator}}{{2}}|{_SIGN}{_ATTACHED}(?:\u200d{_SIGN}{_ATTACHED})*"
WORD = f"{CHARACTER}|{_run(LETTERS, _APOSTROPHES + _HYPHEN)}"
SEARCHED = f"{CHARACTER}|{_run(LETTERS)}"  # what a search compares: signs and lines part words
# A name or a number whole, with what stands between its parts.
NAME = f"{CHARACTER}|{_run(_LETTERS_AND_LINES, _APOSTROPHES + _POINTS + _HYPHEN)}"
TERM_WORD = f"{CHARACTER}|{_run(_LETTERS_AND_LINES, _APOSTROPHES)}"
TERM = f"{TERM_WORD}|{SIGN}"
PIECE = rf"{CHARACTER}|{_run(_LETTERS_AND_LINES)}|\p{{White_Space}}+|{SIGN}"
# What stands between spaces, as `str.split` cuts it; a character of a script without spaces stands alone, with the
# signs behind it.
SPACED = rf"{CHARACTER}[^{LETTERS}\p{{White_Space}}]*|[\P{{White_Space}}--{ALONE}]+"


@cache
def compiled(source: str) -> regex.Pattern[str]:
    """Return one of the rules, compiled once: that takes milliseconds, which only those wait for who cut a text."""
    return regex.compile(source, regex.V1)


def find_all(rule: str, text: str) -> list[str]:
    """List all that *rule* finds in a text."""
    matches: list[str] = compiled(rule).findall(text)
    return matches


def replace_all(rule: str, replacement: str, text: str) -> str:
    """Put *replacement* in the place of all that *rule* finds in a text."""
    replaced: str = compiled(rule).sub(replacement, text)
    return replaced


def composed(text: str) -> str:
    """Return *text* in NFC, in which a letter and its accents are the same however they were typed."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def words(text: str) -> list[str]:
    """List the words of a text as they stand; signs are none."""
    return find_all(WORD, text)


def pieces(text: str) -> list[str]:
    """Cut all of a text into words, stretches of white space and signs."""
    return find_all(PIECE, text)


def tokens(text: str) -> list[str]:
    """List the words and signs of a text, without its white space."""
    return [piece for piece in find_all(PIECE, text) if not piece.isspace()]


def token_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each word and sign of a text starts and ends; apostrophes keep a word together."""
    for match in compiled(TERM).finditer(text):
        yield match.span()


def count_spaced(text: str) -> int:
    """Count what stands between spaces, and every character of a script without spaces: how long a text is to read.

    >>> count_spaced("as - is, done"), count_spaced("\u82b1\u4e86200\u5143\u3002")
    (4, 4)
    """
    return len(text.split()) if text.isascii() else len(find_all(SPACED, text))


def shortened(text: str, most: int) -> str:
    """Return the beginning of a text, of at most *most* characters, cut between what a reader sees as characters.

    >>> shortened("abcdef", 4), shortened("ab\U0001f469\u200d\U0001f4bbcdef", 5)
    ('abc…', 'ab…')
    """
    if len(text) <= most:
        return text
    end = 0
    for match in compiled(r"\X").finditer(text):
        if match.end() >= most:
            break
        end = match.end()
    return text[:end] + "…"


def without_spaces(text: str) -> bool:
    """Whether a letter of *text* is of a script that sets no space between words."""
    return not text.isascii() and compiled(CHARACTER).search(text) is not None
