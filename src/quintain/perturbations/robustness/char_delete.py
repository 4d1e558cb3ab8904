"""A letter is left out: "restaurant" → "restarant"."""

from __future__ import annotations

from typing import ClassVar

from quintain.perturbations import letters
from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.pick import no_other_words, pick_letters


@PERTURBATIONS.register("char_delete")
class CharDelete(Perturbation):
    """Leave out one inner letter of a word of at least four."""

    name: ClassVar[str] = "char_delete"
    family: ClassVar[Family] = "robustness"
    title: ClassVar[str] = "A letter is left out"
    version: ClassVar[int] = 3

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Delete a letter in each chosen word, but where that makes another common word."""
        chosen, at = pick_letters(batch, letters.typed_letters(), rate, shortest=4, inner=True)
        return no_other_words(batch, chosen, Proposal(at, at + 1, [""] * at.size))
