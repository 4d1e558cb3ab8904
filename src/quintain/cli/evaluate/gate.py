"""`--fail-under`: what a model must surely reach, so that a pipeline stops where it does not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from quintain.core.errors import BadInput
from quintain.core.pairs import parse_numbers
from quintain.core.task import Task
from quintain.metrics.contract import METRICS

SHARES = ("robustness", "fairness")


def parse_least(options: Sequence[str], task: Task, *, quick: bool) -> dict[str, float]:
    """Read `METRIC=NUMBER` pairs; refuse a figure that will not be there, or of which less is better."""
    least = parse_numbers(",".join(options), "least scores")
    known = [name for name in task.metrics if name in METRICS and METRICS.get(name).better == "higher"]
    known += [] if quick else SHARES
    for name in least:
        if name not in known:
            raise BadInput(
                "'{name}' cannot be held to a least score here.",
                name=name,
                known=", ".join(known),
                remedy="Use: {known}; the task lists its metrics.",
            )
    return least


def below(least: Mapping[str, float], report: Mapping[str, Any]) -> list[str]:
    """Return a line for each figure that does not surely reach its least score, by the interval's lower end.

    Examples that failed count as wrong. A figure without an interval is held to its value.
    """
    return [line for name, bound in least.items() if (line := _shortfall(name, bound, report))]


def _shortfall(name: str, bound: float, report: Mapping[str, Any]) -> str:
    figure = (report.get(name) or {}).get("share") if name in SHARES else report.get("metrics", {}).get(name)
    if not figure or figure["value"] is None:
        return f"{name} could not be computed; it has to reach {bound:g}."
    ends: Collection[float | None] = (figure.get("low"), report.get("bounds", {}).get(name, {}).get("low"))
    low = min((end for end in ends if end is not None), default=figure["value"])
    if low >= bound:
        return ""
    return f"{name} is surely {low:.4f} or more ({figure['value']:.4f}), and has to reach {bound:g}."
