"""Figures with their intervals, as every room gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quintain.core.records.base import Record


@dataclass(frozen=True, slots=True)
class Estimate(Record):
    """A figure with its interval; where it is undefined, *value* is None and *reason* says why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        shape: dict[str, Any] = {"value": self.value, "low": self.low, "high": self.high}
        return shape | {"reason": self.reason} if self.reason else shape
