"""Letters become digits and signs, as in old chat rooms: "leet" → "l33t"."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from quintain.perturbations import letters
from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, TextBatch

_DIGITS = str.maketrans("aeiostbgAEIOSTBG", "43105786" * 2)


@PERTURBATIONS.register("leetspeak")
class Leetspeak(Perturbation):
    """Write the chosen words with digits for letters."""

    name: ClassVar[str] = "leetspeak"
    family: ClassVar[Family] = "robustness"
    scripts = ("Latin",)
    title: ClassVar[str] = "Digits stand for letters"
    version: ClassVar[int] = 3

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Translate whole words, but those of which nothing but digits would be left."""
        words = batch.words
        places = batch.flagged(letters.flags("aeiostbgAEIOSTBG"))
        count = places.count(words.start, words.end)
        eligible = (words.length >= 3) & (count > 0) & (count < words.length)
        chosen = words.choose(eligible, rate)
        start, end = words.start[chosen], words.end[chosen]
        joined = batch.joined
        spelled = [joined[a:b].translate(_DIGITS) for a, b in zip(start.tolist(), end.tolist(), strict=True)]
        return Proposal(start, end.astype(np.int64), spelled)
