"""Marks are added, doubled or left out: "a good, honest film" → "a good honest film!"."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from quintain.perturbations import draws, letters
from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, Table, TextBatch
from quintain.perturbations.forms.marks import other_marks

_ADDED = (",", ",", ",", ".", ";", ":", "!", "…", " -", "?")
_MARKS = letters.flags(",.;:!?")


@PERTURBATIONS.register("punctuation")
class Punctuation(Perturbation):
    """Behind a chosen word, drop or double the mark that is there, or add one that is not."""

    name: ClassVar[str] = "punctuation"
    family: ClassVar[Family] = "robustness"
    table = "marks"
    title: ClassVar[str] = "Marks added, doubled or left out"
    version: ClassVar[int] = 2
    in_paper: ClassVar[bool] = True

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Edit the place behind each chosen word."""
        words = batch.words
        following = batch.small[words.end]
        eligible = _MARKS[following] | (following == 32) | (following == 10)
        chosen = words.choose(eligible, rate)
        at = words.end[chosen]
        draw = words.draw(chosen, 1)
        marked = _MARKS[batch.small[at]]
        # Inside a longer sign ("...", "3.5", "U.S.") a mark may be doubled but not dropped.
        lone = marked & np.isin(batch.small[np.minimum(at + 1, batch.small.size - 1)], (32, 10))
        drop = lone & ((draw & np.uint64(1)) == 0)
        added = draws.below(draw, len(_ADDED)).tolist()
        signs = letters.text_of(batch.codes[at])
        replacements = [
            "" if gone else sign if there else _ADDED[i]
            for gone, there, sign, i in zip(drop.tolist(), marked.tolist(), signs, added, strict=True)
        ]
        return Proposal(at, at + drop, replacements)

    def propose_from(self, batch: TextBatch, rate: float, table: Table) -> Proposal:
        """Work from the lists of the language."""
        return other_marks(batch, rate, table)
