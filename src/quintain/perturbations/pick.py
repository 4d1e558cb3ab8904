"""Choose words, and one letter in each: the beginning of every perturbation of characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from quintain.perturbations import draws, letters
from quintain.perturbations.batch import Ints, Places, TextBatch
from quintain.perturbations.contract import Proposal
from quintain.perturbations.wordlists import common_words


def pick_letters(
    batch: TextBatch, table: letters.Flags, rate: float, *, shortest: int = 2, inner: bool = False
) -> tuple[Ints, Ints]:
    """Choose words with a letter that *table* flags and pick one such letter in each; give words and places.

    Words under *shortest* characters are left alone; *inner* leaves the first and the last letter alone, as people
    do who type fast.
    """
    edge = 1 if inner else 0
    return pick_places(batch, batch.flags(table), rate, shortest=shortest, after=edge, before=edge)


class Swaps:
    """For some characters, the strings that may take their place."""

    def __init__(self, table: Mapping[str, Sequence[str]]) -> None:
        self.flags = letters.flags("".join(table))
        width = max(len(options) for options in table.values())
        self._row = np.zeros(letters.SIZE, dtype=np.int64)
        self._count = np.ones(len(table), dtype=np.int64)
        self._options: list[str] = []
        for row, (character, options) in enumerate(table.items()):
            self._row[ord(character)] = row
            self._count[row] = len(options)
            self._options += [*options, *[""] * (width - len(options))]
        self._width = width

    def replacements(self, codes: letters.Codes, draw: draws.Hashes) -> list[str]:
        """Draw a replacement for each of *codes*."""
        row = self._row[codes]
        options = self._options
        return [options[i] for i in (row * self._width + draws.below(draw, self._count[row])).tolist()]


def swap_letters(batch: TextBatch, swaps: Swaps, rate: float, *, shortest: int = 2) -> Proposal:
    """Propose to replace one letter in each chosen word by one of its *swaps*."""
    chosen, at = pick_letters(batch, swaps.flags, rate, shortest=shortest)
    replacements = swaps.replacements(batch.small[at], batch.words.draw(chosen, 2))
    return no_other_words(batch, chosen, Proposal(at, at + 1, replacements))


def no_other_words(batch: TextBatch, chosen: Ints, proposal: Proposal) -> Proposal:
    """Leave out the edits, one in each word of *chosen*, that make a common word of another: "not" → "now"."""
    words, joined, common = batch.words, batch.joined, common_words()
    rows = zip(
        words.start[chosen].tolist(),
        words.end[chosen].tolist(),
        proposal.start.tolist(),
        proposal.end.tolist(),
        proposal.replacement,
        strict=True,
    )
    others = [(joined[start:first] + new + joined[last:end]).lower() in common for start, end, first, last, new in rows]
    return proposal.take(np.flatnonzero(~np.array(others, dtype=bool))) if any(others) else proposal


def both_cases(table: Mapping[str, str]) -> dict[str, str]:
    """Add the upper-case half to a table of lower-case letters and their options."""
    return {**table, **{key.upper(): options.upper() for key, options in table.items()}}


@cache
def plain_letters() -> letters.Flags:
    """Flag the letters of the English alphabet."""
    return letters.flags("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def ordered(start: Ints, end: Ints, replacement: list[str]) -> Proposal:
    """Make a proposal of edits that are not yet in the order of their places."""
    order = np.argsort(start, kind="stable")
    return Proposal(start[order], end[order], [replacement[i] for i in order.tolist()])


def pick_places(
    batch: TextBatch, flag: letters.Flags, rate: float, *, shortest: int, after: int = 0, before: int = 0
) -> tuple[Ints, Ints]:
    """Choose words of at least *shortest* characters and pick a flagged place in each, as `pick_letters` does.

    *flag* is over the places of the batch, not over code points; the first *after* and the last *before*
    characters of a word are left alone.
    """
    words, places = batch.words, Places(flag)
    eligible = np.flatnonzero(words.length >= shortest)
    start, end = words.start + after, words.end - before
    eligible = eligible[places.count(start[eligible], end[eligible]) > 0]
    chosen = words.choose(eligible, rate)
    return chosen, places.pick(start[chosen], end[chosen], words.draw(chosen, 1))


def swappable(batch: TextBatch) -> letters.Flags:
    """Flag the letters whose right-hand neighbour is another letter, and a different one."""
    letter = batch.flags(letters.typed_letters())
    flag = np.zeros(letter.size, dtype=bool)
    flag[:-1] = letter[:-1] & letter[1:] & (batch.codes[:-1] != batch.codes[1:])
    return flag
