"""Words as a search compares them: without case and accents, each by how it begins."""

from __future__ import annotations

import unicodedata

from quintain.core.words import SEARCHED, find_all


def words_of(text: str) -> list[str]:
    """Return the words of *text* in the form in which they are compared.

    >>> words_of("Café-reviews_v2, MOOD/test")
    ['cafe', 'reviews', 'v2', 'mood', 'test']
    """
    bare = "".join(mark for mark in unicodedata.normalize("NFKD", text) if not unicodedata.combining(mark))
    return find_all(SEARCHED, bare.casefold())


def beginnings(query: str) -> list[str]:
    """Return what the words of a hit begin with: the words of *query*, without the ending of a plural.

    >>> beginnings("Reviews of glass")
    ['review', 'of', 'glass']
    """
    return [
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in dict.fromkeys(words_of(query))
    ]
