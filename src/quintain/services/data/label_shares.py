"""How people labelled an example, where a data set has kept it: what the soft metrics compare a model with."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from quintain.core.task import Task
from quintain.data.label_view import votes_of
from quintain.metrics.contract import METRICS


def label_shares(task: Task, metrics: Sequence[str], meta: pl.Series) -> list[dict[str, float]] | None:
    """Return people's shares of the labels for each example; None where no metric asks, or an example has none.

    They stand in an example's *meta* by label: votes, shares, or lists of those who voted. Votes for other labels, such
    as "mixed", do not count.
    """
    if not any("distributions" in METRICS.get(name).needs for name in metrics):
        return None
    shares = []
    for text in meta.to_list():
        votes = votes_of(text)
        known = {name: votes.get(name, 0.0) for name in task.label_names}
        total = sum(known.values())
        if not total > 0:
            return None
        shares.append({name: count / total for name, count in known.items()})
    return shares
