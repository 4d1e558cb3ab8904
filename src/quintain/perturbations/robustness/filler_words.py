"""Words that say nothing slip in: "it is good" → "it is, you know, good"."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from quintain.perturbations import draws
from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, Table, TextBatch
from quintain.perturbations.forms.marks import fillers
from quintain.perturbations.wordlists import common_words

_FILLERS = ("um", "uh", "you know", "I mean", "er", "like", "well", "so to speak", "if you will", "as it were")


@PERTURBATIONS.register("filler_words")
class FillerWords(Perturbation):
    """Insert fillers between words."""

    name: ClassVar[str] = "filler_words"
    family: ClassVar[Family] = "robustness"
    languages = ("en",)
    table = "fillers"
    title: ClassVar[str] = "Fillers slip in"
    version: ClassVar[int] = 3
    rate: ClassVar[float] = 0.05

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Insert a filler behind each chosen word that another word follows."""
        words = batch.words
        between = batch.codes[words.end] == 32
        between[:-1] &= words.start[1:] == words.end[:-1] + 1
        between[-1:] = False
        between &= ~_in_names(batch)
        chosen = words.choose(between, rate)
        at = words.end[chosen]
        drawn = draws.below(words.draw(chosen, 1), len(_FILLERS)).tolist()
        return Proposal(at, at, [f", {_FILLERS[i]}," for i in drawn])

    def propose_from(self, batch: TextBatch, rate: float, table: Table) -> Proposal:
        """Work from the lists of the language."""
        return fillers(batch, rate, table)


def _in_names(batch: TextBatch) -> NDArray[np.bool_]:
    """Flag the words behind which a name or a title may go on: a capital at most three words before and behind.

    "the Lord, um, of the Rings" is another thing; where all is in capitals, nothing tells a name.
    """
    words = batch.words
    capital = np.zeros(len(words), dtype=bool)
    capital[:] = [batch.joined[start].isupper() for start in words.start.tolist()]
    capital &= (words.length > 1) | ~np.array([word == "i" for word in words.lower], dtype=bool)
    capital &= ~np.array([word.startswith("i'") for word in words.lower], dtype=bool)
    before, behind = capital.copy(), np.zeros_like(capital)
    for far in range(1, 4):
        same = words.text[far:] == words.text[:-far]
        behind[:-far] |= capital[far:] & same
        if far < 3:
            before[far:] |= capital[:-far] & same
    # Where nothing is in capitals, a name shows as words that are not common.
    small = np.bincount(words.text[capital], minlength=len(batch)) == 0
    rare = np.array([word.removesuffix("'s") not in common_words() for word in words.lower], dtype=bool)
    either, both = rare.copy(), rare.copy()
    either[:-1] |= rare[1:]
    both[:-1] &= rare[1:]  # "hocus pocus", too
    names: NDArray[np.bool_] = (before & behind) | both | (either & small[words.text])
    return names
