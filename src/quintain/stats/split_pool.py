"""What is to be split, and what must hold in the splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from quintain.stats.bootstrap import IntArray

BoolArray = npt.NDArray[np.bool_]
LEFT = -1  # of a unit that is in none of the splits


@dataclass(frozen=True, slots=True)
class Pool:
    """Units that can be split, one entry of each array for each.

    *label* is the class, and *said* the class that the model gave (-1: none of them). *attributes* hold codes of values
    (-1: no value). *allowed* names what a unit must fulfil for a split, each with who does. *writer* is -1 for nobody.
    *closed* says, by the name of a split, which units may not be in it. *once* and *apart* hold, by name, codes of what
    belongs together (-1: nothing): of *once* one unit is in the splits at most, of *apart* all are in the same one.
    """

    classes: int
    label: IntArray
    said: IntArray | None = None
    attributes: Mapping[str, IntArray] = field(default_factory=dict)
    allowed: Mapping[str, BoolArray] = field(default_factory=dict)
    writer: IntArray | None = None
    closed: Mapping[str, BoolArray] = field(default_factory=dict)
    once: Mapping[str, IntArray] = field(default_factory=dict)
    apart: Mapping[str, IntArray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.label)

    def fit(self) -> BoolArray:
        """Return which units fulfil everything, and have a class."""
        fit = (self.label >= 0) & (self.label < self.classes)
        for good in self.allowed.values():
            fit = fit & good
        return fit


@dataclass(frozen=True, slots=True)
class SplitTargets:
    """What the splits must be: their *sizes* in units, and the constraints that hold in each.

    *cap* is how many units of one writer may be in the splits altogether; with *disjoint*, a writer is in one split
    only, and who is in a split has nothing in what is left over.
    """

    sizes: Mapping[str, int]
    balanced: bool = True
    at_chance: bool = False
    even: tuple[str, ...] = ()
    disjoint: bool = False
    cap: int | None = None

    def step(self, classes: int) -> int:
        """Return of what number every size is a multiple, so that all shares are whole.

        >>> Wanted({"dev": 720}, at_chance=True).step(3)
        9
        """
        if self.at_chance:
            return classes * classes
        return classes if self.balanced or self.even else 1
