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
    """Why a data set is weak ground for a ranking. *labels* are those that it concerns, where they may be told.

    *units* is what was counted: examples or, where they come *grouped*, groups of them.
    """

    kind: Kind
    units: int
    grouped: bool = False
    points: float = 0.0
    labels: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The weakness in a sentence."""
        if self.kind == "few":
            what = "groups of examples" if self.grouped else "examples"
            return f"too small to rank on: with {self.units} {what}, one half is known to ± {self.points:.0f} points"
        named = f" ({', '.join(self.labels)})" if self.labels else ""
        if self.kind == "absent":
            return f"one-sided: a label of the task does not occur{named}"
        return f"one-sided: more than {MOST_OF_ONE:.0%} of the answers are one label{named}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return {"kind": self.kind, "text": self.text, "units": self.units, "labels": list(self.labels)}


def weaknesses(
    units: int,
    counts: Mapping[str, int],
    labels: Sequence[str] = (),
    *,
    grouped: bool = False,
    name_labels: bool = True,
) -> tuple[Weakness, ...]:
    """Return why *units* (examples or groups of them), with *counts* by answer, are weak ground for a ranking.

    *labels* are those that a task knows; without *name_labels* they are not named, as where they are hidden.

    >>> [one.kind for one in weaknesses(8, {"positive": 8}, ["negative", "positive"])]
    ['few', 'one_sided']
    >>> [one.kind for one in weaknesses(300, {"a": 150, "b": 150}, ["a", "b", "c"])]
    ['absent']
    """
    reasons = []
    if units < LEAST_EXAMPLES:
        half = 100 * _REACH * sqrt(0.25 / units) if units else 50.0
        reasons.append(Weakness("few", units, grouped, half))
    known = {label: counts.get(label, 0) for label in labels}
    absent = tuple(label for label, count in known.items() if not count)
    if absent and len(absent) < len(known) - 1:  # where one label is all there is, the next sentence says so
        reasons.append(Weakness("absent", units, grouped, labels=absent if name_labels else ()))
    most = max(known, key=lambda label: known[label], default="")
    if len(known) > 1 and known[most] > MOST_OF_ONE * sum(known.values()):
        reasons.append(Weakness("one_sided", units, grouped, labels=(most,) if name_labels else ()))
    return tuple(reasons)
