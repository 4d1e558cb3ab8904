"""A stray letter slips in: "good" → "goiod"."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from quintain.perturbations import draws
from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.pick import no_other_words, pick_letters, plain_letters

_ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@PERTURBATIONS.register("char_insert")
class CharInsert(Perturbation):
    """Insert one letter before an inner letter of a word."""

    name: ClassVar[str] = "char_insert"
    family: ClassVar[Family] = "robustness"
    scripts = ("Latin",)
    title: ClassVar[str] = "A stray letter slips in"
    version: ClassVar[int] = 3

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Insert a letter in each chosen word, but where that makes another common word."""
        chosen, at = pick_letters(batch, plain_letters(), rate, shortest=3, inner=True)
        capital = ((batch.codes[at] >= 65) & (batch.codes[at] <= 90)).astype(np.int64)
        drawn = draws.below(batch.words.draw(chosen, 2), 26) + 26 * capital
        return no_other_words(batch, chosen, Proposal(at, at, [_ALPHABET[i] for i in drawn.tolist()]))
