"""A vowel is drawn out: "bad" → "baaaad"."""

from __future__ import annotations

from typing import ClassVar

from quintain.perturbations import draws, letters
from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.pick import pick_letters

_VOWELS = letters.flags("aeiouyAEIOUYäöüÄÖÜáéíóúÁÉÍÓÚàèìòùâêîôû")


@PERTURBATIONS.register("char_repeat")
class CharRepeat(Perturbation):
    """Repeat one vowel of a word two to four more times."""

    name: ClassVar[str] = "char_repeat"
    family: ClassVar[Family] = "robustness"
    scripts = ("Latin",)
    title: ClassVar[str] = "A vowel is drawn out"
    version: ClassVar[int] = 2

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Stretch a vowel in each chosen word."""
        chosen, at = pick_letters(batch, _VOWELS, rate, shortest=3)
        times = (draws.below(batch.words.draw(chosen, 2), 3) + 2).tolist()
        vowels = letters.text_of(batch.codes[at])
        return Proposal(at + 1, at + 1, [vowel * n for vowel, n in zip(vowels, times, strict=True)])
