"""Words that say nothing slip in: "it is good" → "it is, you know, good"."""

from __future__ import annotations

from typing import ClassVar

from quintain.perturbations import draws
from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, TextBatch

_FILLERS = ("um", "uh", "you know", "I mean", "er", "like", "well", "so to speak", "if you will", "as it were")


@PERTURBATIONS.register("filler_words")
class FillerWords(Perturbation):
    """Insert fillers between words."""

    name: ClassVar[str] = "filler_words"
    family: ClassVar[Family] = "robustness"
    title: ClassVar[str] = "Fillers slip in"
    version: ClassVar[int] = 2
    rate: ClassVar[float] = 0.05

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Insert a filler behind each chosen word that another word follows."""
        words = batch.words
        between = batch.codes[words.end] == 32
        between[:-1] &= words.start[1:] == words.end[:-1] + 1
        between[-1:] = False
        chosen = words.choose(between, rate)
        at = words.end[chosen]
        drawn = draws.below(words.draw(chosen, 1), len(_FILLERS)).tolist()
        return Proposal(at, at, [f", {_FILLERS[i]}," for i in drawn])
