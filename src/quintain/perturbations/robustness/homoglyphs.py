"""A letter of another alphabet that looks the same: Cyrillic "а" for Latin "a"."""

from __future__ import annotations

from typing import ClassVar

from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.pick import Swaps, swap_letters

_TWINS = dict(zip("aceiopsxyjABCEHIKMOPSTXYJ", "асеіорѕхујАВСЕНІКМОРЅТХУЈ", strict=True))
_SWAPS = Swaps({latin: (twin,) for latin, twin in _TWINS.items()})


@PERTURBATIONS.register("homoglyphs")
class Homoglyphs(Perturbation):
    """Replace one letter of a word by its Cyrillic twin."""

    name: ClassVar[str] = "homoglyphs"
    family: ClassVar[Family] = "robustness"
    scripts = ("Latin",)
    title: ClassVar[str] = "A look-alike letter of another alphabet"
    version: ClassVar[int] = 2

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Swap a letter in each chosen word."""
        return swap_letters(batch, _SWAPS, rate, shortest=1)
