"""What changed between two texts, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

Piece: TypeAlias = tuple[Literal["same", "removed", "added"], str]
_PIECES = re.compile(r"\w+|\s+|[^\w\s]")


def word_diff(before: str, after: str) -> list[Piece]:
    """Cut two texts into what both have, what only the first and what only the second has, in reading order.

    The pieces that are not added make up *before*, those that are not removed make up *after*.

    >>> word_diff("a good film", "a god film")
    [('same', 'a '), ('removed', 'good'), ('added', 'god'), ('same', ' film')]
    """
    first, second = _PIECES.findall(before), _PIECES.findall(after)
    found: list[Piece] = []
    for operation, start, end, begin, stop in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if operation == "equal":
            found.append(("same", "".join(first[start:end])))
            continue
        if end > start:
            found.append(("removed", "".join(first[start:end])))
        if stop > begin:
            found.append(("added", "".join(second[begin:stop])))
    return found
