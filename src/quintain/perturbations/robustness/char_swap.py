"""Two neighbouring letters change places: "restaurant" → "restuarant"."""

from __future__ import annotations

from typing import ClassVar

from quintain.perturbations import letters
from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.pick import no_other_words, pick_places, swappable


@PERTURBATIONS.register("char_swap")
class CharSwap(Perturbation):
    """Exchange two different neighbouring inner letters of a word."""

    name: ClassVar[str] = "char_swap"
    family: ClassVar[Family] = "robustness"
    title: ClassVar[str] = "Two letters change places"
    version: ClassVar[int] = 3

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Swap a pair in each chosen word, but where that makes another common word."""
        chosen, at = pick_places(batch, swappable(batch), rate, shortest=4, after=1, before=2)
        pairs = letters.text_of(batch.codes[at + 1]), letters.text_of(batch.codes[at])
        swapped = [first + second for first, second in zip(*pairs, strict=True)]
        return no_other_words(batch, chosen, Proposal(at, at + 2, swapped))
