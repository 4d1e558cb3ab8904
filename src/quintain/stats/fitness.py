"""Whether a data set is fit to rank models on: large enough, and not all of one kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

# Below a hundred examples, a share of one half is known to ± 10 points at best (95 %).
LEAST_EXAMPLES = 100
MOST_OF_ONE = 0.9
_REACH = 1.959964

Kind = Literal["few", "absent", "one_sided"]


@dataclass(frozen=True, slots=True)
class Weakness:
    """Why a data set is weak ground for a ranking. *labels* are those that it concerns, where they may be told."""

    kind: Kind
    examples: int
    points: float = 0.0
    labels: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Say it in a sentence."""
        if self.kind == "few":
            return f"too small to rank on: with {self.examples} examples, 50 % is known to ± {self.points:.0f} points"
        named = f" ({', '.join(self.labels)})" if self.labels else ""
        if self.kind == "absent":
            return f"one-sided: a label of the task does not occur{named}"
        return f"one-sided: more than {MOST_OF_ONE:.0%} of the answers are one label{named}"

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        return {"kind": self.kind, "text": self.text, "examples": self.examples, "labels": list(self.labels)}


def weaknesses(
    examples: int, counts: Mapping[str, int] | None = None, labels: Sequence[str] = (), *, told: bool = True
) -> tuple[Weakness, ...]:
    """Say why *examples* (or groups of them), with *counts* by answer, are weak ground to rank models on.

    *labels* are those that a task knows; without *told* they are not named, as where they are hidden.

    >>> [one.kind for one in weaknesses(8, {"positive": 8}, ["negative", "positive"])]
    ['few', 'absent', 'one_sided']
    """
    found = []
    if examples < LEAST_EXAMPLES:
        half = 100 * _REACH * sqrt(0.25 / examples) if examples else 50.0
        found.append(Weakness("few", examples, half))
    known = {label: (counts or {}).get(label, 0) for label in labels} if counts is not None else {}
    absent = tuple(label for label, count in known.items() if not count)
    if absent:
        found.append(Weakness("absent", examples, labels=absent if told else ()))
    total = sum(known.values())
    most = max(known, key=lambda label: known[label], default="")
    if total and known[most] > MOST_OF_ONE * total and len(known) > 1:
        found.append(Weakness("one_sided", examples, labels=(most,) if told else ()))
    return tuple(found)
