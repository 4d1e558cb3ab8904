"""Put the opposite of a word in its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from quintain.perturbations.drafts.contract import DRAFT_RULES, Change, words_of
from quintain.perturbations.wordlists import cased_like, lines_of


@cache
def opposites() -> Mapping[str, tuple[str, ...]]:
    """Return the opposites of each word, both ways, in the order of the list."""
    by_word: dict[str, dict[str, None]] = {}
    for line in lines_of("antonyms.txt"):
        first, second = line.split()
        by_word.setdefault(first, {})[second] = None
        by_word.setdefault(second, {})[first] = None
    return {word: tuple(others) for word, others in by_word.items()}


@DRAFT_RULES.register("antonyms")
def turn_words(text: str) -> Iterator[Change]:
    """Turn each word that has an opposite in the list.

    >>> [one.after for one in turn_words("Good and early.")]
    ['Bad', 'late']
    """
    for match in words_of(text):
        for other in opposites().get(match[0].lower(), ()):
            yield Change(match.start(), match.end(), cased_like(match[0], other))
