"""What changed between two texts, word by word."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from rapidfuzz.distance import Levenshtein

from quintain.core.words import pieces as pieces_of
from quintain.core.words import tokens as tokens_of

Piece: TypeAlias = tuple[Literal["same", "removed", "added"], str]


@dataclass(frozen=True, slots=True)
class EditSize:
    """How large an edit is: *tokens* and *characters* changed, and the tokens as a *share* of the longer text."""

    tokens: int
    characters: int
    share: float


def edit_size(before: str, after: str) -> EditSize:
    """Measure an edit by the fewest tokens, and characters, that are put in, taken out or replaced.

    >>> edit_size("a good film", "not a bad film")
    EditSize(tokens=2, characters=7, share=0.5)
    """
    first, second = tokens_of(before), tokens_of(after)
    tokens = Levenshtein.distance(first, second)
    longest = max(len(first), len(second), 1)
    return EditSize(tokens, Levenshtein.distance(before, after), tokens / longest)


def word_diff(before: str, after: str) -> list[Piece]:
    """Cut two texts into what both have, what only the first and what only the second has, in reading order.

    The pieces that are not added make up *before*, those that are not removed make up *after*.

    >>> word_diff("a good film", "a god film")
    [('same', 'a '), ('removed', 'good'), ('added', 'god'), ('same', ' film')]
    """
    first, second = pieces_of(before), pieces_of(after)
    pieces: list[Piece] = []
    for operation, start, end, begin, stop in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if operation == "equal":
            pieces.append(("same", "".join(first[start:end])))
            continue
        if end > start:
            pieces.append(("removed", "".join(first[start:end])))
        if stop > begin:
            pieces.append(("added", "".join(second[begin:stop])))
    return pieces
