"""A report in one language: its own texts said, its numbers written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from quintain.core.records.figures import Estimate
from quintain.core.records.report import Cell, ColumnKind
from quintain.core.texts import Text

T = TypeVar("T")
NONE = "–"
DIGITS = {"number": 1, "parameter": 3, "chance": 3}
LEAST_CHANCE = 0.001


def _number(value: float, digits: int | None = None) -> str:
    return f"{value:,}" if digits is None else f"{value:,.{digits}f}".replace("-", "−")


@dataclass(frozen=True, slots=True)
class Wording:
    """How a language writes numbers (with so many digits) and shares."""

    number: Callable[[float, int | None], str] = _number
    percent: Callable[[float], str] = "{:.1%}".format

    def cell(self, value: Cell, kind: ColumnKind) -> str:
        """Write what stands in a column of a *kind*.

        >>> Wording().cell(Estimate(0.5, 0.25, 0.75), "share")
        '50.0% (25.0%–75.0%)'
        >>> Wording().cell(Estimate(-0.5, -0.75, -0.25), "share")  # no dash between signs
        '-50.0% (-75.0% … -25.0%)'
        >>> Wording().cell(2e-9, "chance")
        '< 0.001'
        """
        if isinstance(value, Estimate):
            if value.value is None:
                return NONE
            ends = [self.cell(end, kind) for end in (value.low, value.high) if end is not None]
            between = " … " if any(end.startswith(("-", "−")) for end in ends) else "–"
            return self.cell(value.value, kind) + (f" ({between.join(ends)})" if len(ends) == 2 else "")
        if value is None or isinstance(value, str):
            return NONE if value is None else value
        if kind == "share":
            return self.percent(value)
        if kind == "chance" and value < LEAST_CHANCE:
            return f"< {self.number(LEAST_CHANCE, DIGITS[kind])}"
        return self.number(value, None if isinstance(value, int) else DIGITS.get(kind))


def map_texts(value: T, change: Callable[[str], str]) -> T:
    """Return a report, or a part of one, with *change* applied to all texts of ours; what is data stays as it is."""
    part: Any = value
    if isinstance(part, Text):
        part = change(part)
    elif isinstance(part, Mapping):
        part = {map_texts(name, change): map_texts(inner, change) for name, inner in part.items()}
    elif isinstance(part, list | tuple):
        part = type(part)(map_texts(inner, change) for inner in part)
    elif is_dataclass(part) and not isinstance(part, type):
        part = replace(part, **{item.name: map_texts(getattr(part, item.name), change) for item in fields(part)})
    changed: T = part
    return changed
