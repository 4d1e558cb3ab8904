"""Where a word, or a piece of a text, stands once something around it was edited.

What both versions begin with and end with is the same; between, the longest common order of words is. So what is put in
on the left moves what follows it, as a reader would say. The desk's script (`worddiff.js`) finds the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from quintain.core.words import pieces

MOST_CELLS = 1_000_000  # of the table that compares two middles; beyond it nothing is said of them


def follow_word(before: Sequence[str], after: Sequence[str], number: int) -> int | None:
    """Return the number that word *number* of *before* has in *after*; None where it is gone.

    A word that was exchanged for another one has the place of that: compare the two to know.

    >>> follow_word("He ate pizza with olives".split(), "He ate cold pizza with olives".split(), 3)
    4
    >>> follow_word("He ate pizza with olives".split(), "He ate pizza without olives".split(), 3)
    3
    """
    if not 0 <= number < len(before):
        return None
    position = _followed(before, after, number, *_ends(before, after))
    if position is not None and after[position] == before[number]:
        return position
    # Where a word is repeated, what went may be the one or the other: the word itself decides.
    end, start = _ends(before[::-1], after[::-1])
    other = _followed(before, after, number, start, end)
    return other if other is not None and after[other] == before[number] else position


def _followed(before: Sequence[str], after: Sequence[str], number: int, start: int, end: int) -> int | None:
    """Follow a word, where so many words at the start and at the end are taken for the same."""
    if number < start:
        return number
    if number >= len(before) - end:
        return number + len(after) - len(before)
    first, second = before[start : len(before) - end], after[start : len(after) - end]
    position = _in_middle(first, second, number - start)
    return None if position is None else position + start


def follow_piece(before: str, after: str, start: int, length: int) -> int | None:
    """Return where the piece of *before* at *start* begins in *after*; None where it was edited itself.

    >>> follow_piece("Mira ordered tea.", "Yesterday Mira ordered tea.", 13, 3)
    23
    >>> follow_piece("Mira ordered tea.", "Mira ordered cocoa.", 13, 3) is None
    True
    """
    if before == after:
        return start
    first, second = pieces(before), pieces(after)
    starts = [0]
    for piece in first:
        starts.append(starts[-1] + len(piece))
    touched = [at for at in range(len(first)) if starts[at] < start + length and starts[at + 1] > start]
    if not touched:
        return None
    position = follow_word(first, second, touched[0])
    if position is None:
        return None
    begin = sum(len(piece) for piece in second[:position]) + start - starts[touched[0]]
    same = begin >= 0 and after[begin : begin + length] == before[start : start + length]
    return begin if same else None


def _ends(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """Count the words that two texts begin with alike, and those that they then end with."""
    most = min(len(first), len(second))
    start = 0
    while start < most and first[start] == second[start]:
        start += 1
    end = 0
    while end < most - start and first[-1 - end] == second[-1 - end]:
        end += 1
    return start, end


def _in_middle(first: Sequence[str], second: Sequence[str], number: int) -> int | None:
    """Follow a word between what both texts begin and end with."""
    if len(first) * len(second) > MOST_CELLS:
        return None
    pairs = _common(first, second)
    known = dict(pairs)
    if number in known:
        return known[number]
    left = max((pair for pair in pairs if pair[0] < number), default=(-1, -1))
    right = min((pair for pair in pairs if pair[0] > number), default=(len(first), len(second)))
    # As many words went as came between two that stayed: each has the place of one.
    return left[1] + number - left[0] if right[0] - left[0] == right[1] - left[1] else None


def _common(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Pair the words of a longest common order."""
    width = len(second) + 1
    lengths = [[0] * width for _ in range(len(first) + 1)]
    for i in range(len(first) - 1, -1, -1):
        here, below = lengths[i], lengths[i + 1]
        for j in range(len(second) - 1, -1, -1):
            here[j] = below[j + 1] + 1 if first[i] == second[j] else max(below[j], here[j + 1])
    pairs, i, j = [], 0, 0
    while i < len(first) and j < len(second):
        if first[i] == second[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs
