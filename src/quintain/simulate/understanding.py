"""What a text means to somebody who reads it: one of the demo's, one of the language, or what a visitor wrote."""

from __future__ import annotations

import re
from functools import lru_cache

from quintain.models.polarity import NEGATORS, POLARITY
from quintain.simulate.handwritten import find_sentence
from quintain.simulate.language import parse_sentence
from quintain.simulate.lexicon import BLAME, PRAISE, RARE_BLAME, RARE_PRAISE
from quintain.simulate.sentences import MIXED, NEGATIVE, NEUTRAL, POSITIVE, Sentence

NEGATION_REACH = 3
STRONG = 3  # words of praise and blame that nobody overlooks
_GOOD = frozenset({*PRAISE, *RARE_PRAISE, *(word for word, weight in POLARITY.items() if weight >= STRONG)})
_BAD = frozenset({*BLAME, *RARE_BLAME, *(word for word, weight in POLARITY.items() if weight <= -STRONG)})


@lru_cache(maxsize=50_000)
def understand(text: str) -> Sentence | None:
    """Return a sentence that was written by hand or in the language with what it means; None for any other text."""
    return find_sentence(text) or parse_sentence(text)


def gist(text: str) -> str:
    """Return what *text* means or, where nobody knows it, what its words say, turned round by a "not" before.

    >>> gist("I loved the soup."), gist("Not a good idea at all!"), gist("Lovely room, but I hated the noise.")
    ('positive', 'negative', 'mixed')
    """
    known = understand(text)
    return known.sentiment if known is not None else _polarity(text)


def _polarity(text: str) -> str:
    words = re.findall(r"[\w'-]+", text.lower().replace("’", "'"))
    heard = set()
    for position, word in enumerate(words):
        weight = POLARITY.get(word, 0)
        if any(before in NEGATORS for before in words[max(position - NEGATION_REACH, 0) : position]):
            weight = -weight
        if weight:
            heard.add(POSITIVE if weight > 0 else NEGATIVE)
    return MIXED if len(heard) > 1 else heard.pop() if heard else NEUTRAL


def word_sense(text: str) -> str:
    """Return what *text* means to somebody who looks at its words of praise and blame alone."""
    words = set(re.findall(r"[\w-]+", text.lower()))
    good, bad = words & _GOOD, words & _BAD
    if good and bad:
        return MIXED
    return POSITIVE if good else NEGATIVE if bad else NEUTRAL
