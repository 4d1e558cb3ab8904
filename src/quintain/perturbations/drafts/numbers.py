"""Change a number, in figures or in words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quintain.perturbations.drafts.contract import DRAFT_RULES, Change, words_of
from quintain.perturbations.wordlists import cased_like, words_in

_FIGURE = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w,])|(?<![\w.,])\d{1,9}(?![\w,]|\.\d)")
_WORDS = words_in("zero one two three four five six seven eight nine ten eleven twelve")
_ORDINALS = words_in("first second third fourth fifth sixth seventh eighth ninth tenth")


@DRAFT_RULES.register("numbers")
def change_numbers(text: str) -> Iterator[Change]:
    """Put the next number in the place of each, and the one before it.

    >>> [one.after for one in change_numbers("Two of 1,000 came second in 1999.")]
    ['Three', 'One', 'third', 'first', '1,001', '999', '2000', '1998']
    """
    for match in words_of(text):
        for row in (_WORDS, _ORDINALS):
            if match[0].lower() in row:
                rank = row.index(match[0].lower())
                for other in (rank + 1, rank - 1):
                    if 0 <= other < len(row):
                        yield Change(match.start(), match.end(), cased_like(match[0], row[other]))
    for match in _FIGURE.finditer(text):
        number = int(match[0].replace(",", ""))
        for other in (number + 1, number - 1):
            if other >= 0:
                yield Change(match.start(), match.end(), f"{other:,}" if "," in match[0] else str(other))
