"""Who gets which condition, model, label or arm: drawn by a seed from what is on record, and so drawn again the same.

The option that is furthest below its share comes next; where several are, a hash of seed, stratum, unit and option
decides, which nobody can foresee who does not know the seed. So options are balanced within blocks of as many draws as
their weights add up to: after each block, every option was drawn exactly as often as its weight says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

from quintain.core.hashing import canonical_json


@dataclass(frozen=True, slots=True)
class Draw:
    """What one option is drawn from.

    *unit* names who or what gets it (a person, a session), *weights* the options. *taken* counts what was drawn before
    within the *stratum* (nothing, where draws are independent of each other).

    >>> Draw("person 1", {"prompt": 1, "blank": 1}, {"prompt": 3, "blank": 2}).pick(seed=7)
    'blank'
    """

    unit: str
    weights: Mapping[str, int]
    taken: Mapping[str, int] = field(default_factory=dict)
    stratum: str = ""

    def __post_init__(self) -> None:
        if not self.weights or min(self.weights.values()) < 1:
            raise ValueError(f"There is nothing to draw from {dict(self.weights)}; a weight is 1 or more.")

    def pick(self, seed: int) -> str:
        """Return the option that the draw falls on."""
        filled = {name: Fraction(self.taken.get(name, 0), weight) for name, weight in self.weights.items()}
        least = min(filled.values())
        return max((name for name, share in filled.items() if share == least), key=lambda name: self._lot(seed, name))

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data for the record: `Draw(**record)` is the same draw."""
        return asdict(self)

    def _lot(self, seed: int, option: str) -> bytes:
        return hashlib.sha256(canonical_json([seed, self.stratum, self.unit, option])).digest()
