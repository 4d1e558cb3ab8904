"""The answers of a data set as people voted: one row for each vote, or shares beside each example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.task import Task
from quintain.labels.views import LABEL_VIEWS, repeated, soft

KEYS = ("distribution", "label_distribution")
SHARES = "distribution"


def votes_of(meta: str | None) -> dict[str, float]:
    """Return the votes kept in an example's *meta*, by label: their number, or how many are named there.

    >>> votes_of('{"label_distribution": {"positive": ["w1", "w2"], "neutral": 1}}')
    {'positive': 2.0, 'neutral': 1.0}
    """
    facts = meta_of(meta)
    votes: Any = next((facts[key] for key in KEYS if key in facts), None)
    votes = _parsed(votes) if isinstance(votes, str) else votes
    return {str(name): _count(value) for name, value in votes.items()} if isinstance(votes, Mapping) else {}


def meta_of(text: str | None) -> Mapping[str, Any]:
    """Return what an example has kept beside its input; nothing where that is no object."""
    facts = _parsed(text)
    return facts if isinstance(facts, Mapping) else {}


def in_view(table: pl.LazyFrame, task: Task, view: str) -> pl.LazyFrame:
    """Return the examples of *table* with their labels in a view of `quintain.labels.views`.

    `majority` leaves them as they are. `distributional` repeats an example for each vote, with that label as answer,
    and so has examples without a majority, too. `soft` has a column `distribution` with the share of each label.
    An example on which no votes were kept counts with its answer; where it has none either, it is left out.
    """
    if view not in LABEL_VIEWS:
        raise BadInput(
            "'{view}' is not a view of labels.", view=view, known=", ".join(LABEL_VIEWS), remedy="There are {known}."
        )
    if view == "majority":
        return table
    schema = table.collect_schema()
    if not task.label_names or "meta" not in schema or schema.get("answer") != pl.String():
        raise BadInput(
            "The votes on these examples are not there to be seen.",
            remedy="Only owners of a task with labels see them, where the answers are not withheld.",
        )
    shares = pl.Struct(dict.fromkeys(task.label_names, pl.Float64()))
    schema_in_view = schema if view == "distributional" else {**schema, SHARES: shares}

    def change(piece: pl.DataFrame) -> pl.DataFrame:
        return _repeated(piece, task) if view == "distributional" else _soft(piece, task, shares)

    return table.map_batches(change, schema=schema_in_view, streamable=True)


def _repeated(piece: pl.DataFrame, task: Task) -> pl.DataFrame:
    copies = [repeated(votes, task.label_names, task.mixes) for votes in _votes(piece)]
    answers = pl.Series("answer", copies, dtype=pl.List(pl.String()))
    return piece.with_columns(answers).filter(answers.list.len() > 0).explode("answer").select(piece.columns)


def _soft(piece: pl.DataFrame, task: Task, dtype: pl.Struct) -> pl.DataFrame:
    shares = [soft(votes, task.label_names, task.mixes) or None for votes in _votes(piece)]
    return piece.with_columns(pl.Series(SHARES, shares, dtype=dtype)).filter(pl.col(SHARES).is_not_null())


def _votes(piece: pl.DataFrame) -> list[dict[str, float]]:
    pairs = zip(piece["meta"].to_list(), piece["answer"].to_list(), strict=True)
    return [votes_of(meta) or ({str(answer): 1.0} if answer is not None else {}) for meta, answer in pairs]


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
