"""A scanner misreads a letter: "morning" → "moming", "list" → "1ist"."""

from __future__ import annotations

from typing import ClassVar

from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, Table, TextBatch
from quintain.perturbations.forms.slips import alike
from quintain.perturbations.pick import Swaps, swap_letters

# Shapes that look alike in print, compiled for Quintain.
_LOOKALIKES: dict[str, tuple[str, ...]] = {
    "a": ("o", "d", "@"),
    "b": ("h", "6", "lo"),
    "c": ("e", "o", "("),
    "d": ("cl", "a", "o"),
    "e": ("c", "o"),
    "f": ("t", "r"),
    "g": ("9", "q", "y"),
    "h": ("b", "li", "n"),
    "i": ("1", "l", "j", "!"),
    "j": ("i", ";"),
    "k": ("lc", "h"),
    "l": ("1", "I", "i", "|"),
    "m": ("rn", "nn", "in"),
    "n": ("ri", "u", "m"),
    "o": ("0", "c", "a"),
    "p": ("n", "q"),
    "q": ("g", "9"),
    "r": ("n", "i"),
    "s": ("5", "8", "$"),
    "t": ("f", "+", "l"),
    "u": ("ii", "v", "n"),
    "v": ("u", "y"),
    "w": ("vv", "uu", "vy"),
    "x": ("z", "%"),
    "y": ("v", "g"),
    "z": ("2", "x"),
    "A": ("4", "R"),
    "B": ("8", "3", "E"),
    "C": ("G", "(", "O"),
    "D": ("0", "O"),
    "E": ("F", "B"),
    "F": ("P", "E"),
    "G": ("6", "C"),
    "H": ("N", "I-I"),
    "I": ("1", "l", "|"),
    "J": ("I", "U"),
    "K": ("X", "R"),
    "L": ("I", "1"),
    "M": ("N", "IVI"),
    "N": ("M", "H"),
    "O": ("0", "Q", "D"),
    "P": ("F", "R"),
    "Q": ("O", "0"),
    "R": ("K", "P"),
    "S": ("5", "8"),
    "T": ("7", "I"),
    "U": ("V", "J"),
    "V": ("U", "Y"),
    "W": ("VV", "M"),
    "X": ("K", "Y"),
    "Y": ("V", "T"),
    "Z": ("2", "7"),
}
_SWAPS = Swaps(_LOOKALIKES)


@PERTURBATIONS.register("ocr")
class Ocr(Perturbation):
    """Replace one letter of a word by what it looks like."""

    name: ClassVar[str] = "ocr"
    family: ClassVar[Family] = "robustness"
    scripts = ("Latin",)
    table = "ocr"
    title: ClassVar[str] = "A scanner misreads a letter"
    version: ClassVar[int] = 3
    in_paper: ClassVar[bool] = True

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Swap a letter in each chosen word."""
        return swap_letters(batch, _SWAPS, rate)

    def propose_from(self, batch: TextBatch, rate: float, table: Table) -> Proposal:
        """Work from the lists of the language."""
        return alike(batch, rate, table)
