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
            between = " … " if any(one.startswith(("-", "−")) for one in ends) else "–"
            return self.cell(value.value, kind) + (f" ({between.join(ends)})" if len(ends) == 2 else "")
        if value is None or isinstance(value, str):
            return NONE if value is None else value
        if kind == "share":
            return self.percent(value)
        if kind == "chance" and value < LEAST_CHANCE:
            return f"< {self.number(LEAST_CHANCE, DIGITS[kind])}"
        return self.number(value, None if isinstance(value, int) else DIGITS.get(kind))


def said(value: T, say: Callable[[str], str]) -> T:
    """Give a report, or a part of one, with all texts of ours said by *say*; what is data stays as it is."""
    found: Any = value
    if isinstance(found, Text):
        found = say(found)
    elif isinstance(found, Mapping):
        found = {said(name, say): said(one, say) for name, one in found.items()}
    elif isinstance(found, list | tuple):
        found = type(found)(said(one, say) for one in found)
    elif is_dataclass(found) and not isinstance(found, type):
        found = replace(found, **{one.name: said(getattr(found, one.name), say) for one in fields(found)})
    result: T = found
    return result
