"""How people labelled an example, where a data set has kept it: what the soft metrics compare a model with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from quintain.core.jsontext import NotJson, parse_json
from quintain.core.task import Task
from quintain.metrics.contract import METRICS

KEYS = ("distribution", "label_distribution")


def label_shares(task: Task, metrics: Sequence[str], meta: pl.Series) -> list[dict[str, float]] | None:
    """Give people's shares of the task's labels for each example; None where no metric asks, or an example has none.

    They stand in an example's *meta* by label: votes, shares, or lists of those who voted. Votes for other labels, such
    as "mixed", do not count.
    """
    if not any("distributions" in METRICS.get(name).needs for name in metrics):
        return None
    found = []
    for text in meta.to_list():
        votes = votes_of(text)
        known = {name: votes.get(name, 0.0) for name in task.label_names}
        total = sum(known.values())
        if not total > 0:
            return None
        found.append({name: count / total for name, count in known.items()})
    return found


def votes_of(text: str | None) -> dict[str, float]:
    """Give the votes that an example's *meta* holds, by label; none where there are none."""
    meta = _parsed(text)
    given: Any = next((meta[key] for key in KEYS if key in meta), None) if isinstance(meta, Mapping) else None
    given = _parsed(given) if isinstance(given, str) else given
    return {str(name): _count(value) for name, value in given.items()} if isinstance(given, Mapping) else {}


def _parsed(text: str | None) -> Any:
    try:
        return parse_json(text or "{}")
    except NotJson:
        return {}


def _count(value: Any) -> float:
    if isinstance(value, list):
        return float(len(value))
    number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return float(value) if number else 0.0
