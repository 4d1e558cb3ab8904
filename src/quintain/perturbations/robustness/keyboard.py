"""A neighbouring key is hit instead: "the" → "thr"."""

from __future__ import annotations

from typing import ClassVar

from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, Table, TextBatch
from quintain.perturbations.forms.slips import other_key
from quintain.perturbations.pick import Swaps, both_cases, swap_letters

# The rows of a QWERTY keyboard with how far each is shifted to the right, in keys.
_ROWS = (("qwertyuiop", 0.0), ("asdfghjkl", 0.25), ("zxcvbnm", 0.75))


def neighbours() -> dict[str, str]:
    """List, for each letter, the letters whose keys touch its own."""
    keys = {key: (x + shift, y) for y, (row, shift) in enumerate(_ROWS) for x, key in enumerate(row)}
    return {
        key: "".join(other for other, (a, b) in keys.items() if other != key and abs(a - x) <= 1.0 and abs(b - y) <= 1)
        for key, (x, y) in keys.items()
    }


_SWAPS = Swaps(both_cases(neighbours()))


@PERTURBATIONS.register("keyboard")
class Keyboard(Perturbation):
    """Replace one letter of a word by a neighbour on the keyboard."""

    name: ClassVar[str] = "keyboard"
    family: ClassVar[Family] = "robustness"
    scripts = ("Latin",)
    table = "keyboard"
    title: ClassVar[str] = "A neighbouring key is hit"
    version: ClassVar[int] = 3
    in_paper: ClassVar[bool] = True

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Swap a letter in each chosen word."""
        return swap_letters(batch, _SWAPS, rate)

    def propose_from(self, batch: TextBatch, rate: float, table: Table) -> Proposal:
        """Work from the lists of the language."""
        return other_key(batch, rate, table)
