"""The word lists that come with the package, read once."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def lines_of(name: str) -> tuple[str, ...]:
    """Return the lines of a file in `perturb/data` that are neither empty nor a comment."""
    text = (files("quintain.perturbations") / "data" / name).read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line.strip() and not line.startswith("#"))


@cache
def common_words() -> frozenset[str]:
    """Read the common words of English, in lower case."""
    return frozenset(word for line in lines_of("common_words.txt") for word in line.split())


def cased_like(model: str, word: str) -> str:
    """Write *word* in capitals, with a capital, or as it is, as *model* is written.

    >>> cased_like("Her", "his"), cased_like("HER", "his"), cased_like("I", "they")
    ('His', 'HIS', 'They')
    """
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def words_in(text: str) -> tuple[str, ...]:
    """Part a text at its blanks: the way to write a list of words that a person can read."""
    return tuple(text.split())
