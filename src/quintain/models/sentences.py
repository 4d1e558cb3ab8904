"""Where sentences begin and end, by a rule of thumb."""

from __future__ import annotations

import re

_END = re.compile(r"(?:[.!?…]+[\"'”’)\]]*|[。！？]|\n{2,})(?=\s|$)|[。！？]|\n{2,}")
_ABBREVIATION = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|No|Fig|cf|e\.g|i\.e)|\b[A-Z])\.$")


def sentences(text: str) -> list[tuple[int, int]]:
    """Give the start and end of each sentence, without the space around it.

    >>> sentences("Mr. Bell rang. Who came?")
    [(0, 14), (15, 24)]
    """
    cuts = [match.end() for match in _END.finditer(text) if not _ABBREVIATION.search(text[: match.end()][-8:])]
    found = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        piece = text[start:end]
        if piece.strip():
            begin = start + len(piece) - len(piece.lstrip())
            found.append((begin, begin + len(piece.strip())))
    return found
