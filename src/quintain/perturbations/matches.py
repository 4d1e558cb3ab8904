"""Edits at what a pattern finds, text by text: how perturbations work from lists of words.

A share of the places is drawn, spread over the text. That is slower than the vectors over letters that English texts
take, and enough for lists.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import regex

from quintain.core.words import ALONE, find_all
from quintain.perturbations import draws
from quintain.perturbations.batch import Span, TextBatch
from quintain.perturbations.contract import EditDraft, Proposal

# What takes the place of a match, given 31 bits of chance; None leaves it.
Replace = Callable[[regex.Match[str], int], "str | None"]
LETTERS_OF_A_WORD = 2  # where no space parts words: most Chinese words have two characters


@dataclass(frozen=True, slots=True)
class EditablePlace:
    """A place that may be edited, in the offsets of its text."""

    start: int
    end: int
    text: str


def edit_matches(batch: TextBatch, pattern: regex.Pattern[str], rate: float, replace: Replace) -> Proposal:
    """Propose to edit, in each text, about the share *rate* of its words, at least one of those that can be."""
    draft = EditDraft()
    blocked = sorted([*batch.spans, *batch.things()])
    rows = zip(batch.texts, batch.begins.tolist(), batch.seeds, strict=True)
    for i, (text, begin, seed) in enumerate(rows):
        options = _options(text, begin, seed, blocked, pattern, replace)
        if not options:
            continue
        quota = len(options) if rate >= 1 else max(1, round(rate * words_in(batch, i)))
        for option in spread(options, quota, seed):
            draft.add(begin + option.start, begin + option.end, option.text)
    return draft.proposal()


def words_in(batch: TextBatch, number: int) -> int:
    """Count the words of a text, with two characters for one where no space parts them."""
    alone = 0 if batch.texts[number].isascii() else len(find_all(ALONE, batch.texts[number]))
    return int(batch.words.per_text[number]) + alone // LETTERS_OF_A_WORD


def spread(options: Sequence[EditablePlace], quota: int, seed: np.uint64) -> list[EditablePlace]:
    """Draw one option of each of *quota* stretches of the list."""
    quota = min(quota, len(options))
    bounds = [len(options) * k // quota for k in range(quota + 1)]
    drawn = chance(seed, quota, 0)
    return [options[low + drawn[k] % (high - low)] for k, (low, high) in enumerate(pairwise(bounds))]


def chance(seed: np.uint64, count: int, stream: int) -> list[int]:
    """Draw *count* whole numbers of 31 bits."""
    seeds = np.full(count, seed, dtype=np.uint64)
    drawn: list[int] = draws.below(draws.at(seeds, np.arange(count, dtype=np.int64), stream), 1 << 31).tolist()
    return drawn


def _options(
    text: str,
    begin: int,
    seed: np.uint64,
    blocked: Sequence[Span],
    pattern: regex.Pattern[str],
    replace: Replace,
) -> list[EditablePlace]:
    matches = list(pattern.finditer(text))
    options = []
    for match, draw in zip(matches, chance(seed, len(matches), 1) if matches else (), strict=True):
        start, end = match.span()
        near = bisect_right(blocked, (begin + end, -1))
        if any(left < begin + end and begin + start < right for left, right in blocked[:near]):
            continue
        new = replace(match, draw)
        if new is not None and new != match[0]:
            options.append(EditablePlace(start, end, new))
    return options
