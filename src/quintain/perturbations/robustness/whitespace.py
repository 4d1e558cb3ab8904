"""Blanks are doubled, lost or slip into a word: "a good film" → "a  good film", "agood film", "a go od film"."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from quintain.perturbations import draws, letters
from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.pick import ordered


@PERTURBATIONS.register("whitespace")
class Whitespace(Perturbation):
    """Double or drop the blank behind a chosen word, or split the word."""

    name: ClassVar[str] = "whitespace"
    family: ClassVar[Family] = "robustness"
    title: ClassVar[str] = "Blanks doubled, lost or misplaced"
    version: ClassVar[int] = 2

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Draw one of the three for each chosen word."""
        words = batch.words
        typed = batch.flags(letters.typed_letters())
        blank = (batch.codes[words.end] == 32) & typed[np.minimum(words.end + 1, typed.size - 1)]
        splits = (words.length >= 4) & typed[words.start] & typed[np.minimum(words.start + 2, typed.size - 1)]
        chosen = words.choose(blank | splits, rate)
        draw = words.draw(chosen, 1)
        split = splits[chosen] & (~blank[chosen] | (draws.below(draw, 3) == 0))
        inner = words.start[chosen] + 2 + draws.below(words.draw(chosen, 2), np.maximum(1, words.length[chosen] - 3))
        plain = _plain_break(batch, inner)
        at = np.where(split, inner, words.end[chosen])
        drop = ~split & ((draw & np.uint64(1)) == 0)
        keep = ~split | plain
        at, drop = at[keep], drop[keep]
        return ordered(at, at + drop, ["" if gone else " " for gone in drop.tolist()])


def _plain_break(batch: TextBatch, at: np.ndarray[tuple[int], np.dtype[np.int64]]) -> letters.Flags:
    """Return where a break falls between two letters, not between a letter and its mark or apostrophe."""
    typed = batch.flags(letters.typed_letters())
    top = typed.size - 1
    return typed[np.minimum(at, top)] & typed[np.minimum(at - 1, top)]
