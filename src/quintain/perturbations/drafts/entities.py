"""Put another name of the same text in the place of a name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quintain.perturbations.drafts.contract import DRAFT_RULES, Change

_NAME = re.compile(r"\b[^\W\d_a-z][\w'’]*(?:\s+[^\W\d_a-z][\w'’]*)*")
_FEWEST = 2


@DRAFT_RULES.register("entities")
def swap_names(text: str) -> Iterator[Change]:
    """Put each other name of the text where one stands; the first word of a sentence may be none.

    >>> [one.after for one in swap_names("She saw Ada Byron before Charles did.")]
    ['Charles', 'Ada Byron']
    """
    matches = [match for match in _NAME.finditer(text) if len(match[0]) >= _FEWEST and not _begins(text, match.start())]
    names = list(dict.fromkeys(match[0] for match in matches))
    for match in matches:
        for other in names:
            if other != match[0]:
                yield Change(match.start(), match.end(), other)


def _begins(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t\n\"'“‘(")
    return not before or before[-1] in ".!?:…"
