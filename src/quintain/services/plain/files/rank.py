"""Rank the models of a plain table by Dynascore: no workspace, no account, no server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.records.base import plain
from quintain.data.in_memory import Source
from quintain.data.numbers import plain_numbers
from quintain.data.tables import FAULT_LIMIT, read_table, row_number
from quintain.stats.aggregate import AGGREGATIONS, mean_zscore, pareto_front
from quintain.stats.utility import Choices, UtilityColumn, UtilityRanking, UtilityTable, rank_models, ranks

# How a table says that a model can never have a value, as against one that is not there yet (an empty cell).
CANNOT = ("n/a", "na", "-", "–", "—")


@dataclass(frozen=True, slots=True)
class RankOptions:
    """How to read the table and what to rank by."""

    lower: Sequence[str] = ()
    caps: Mapping[str, float] = field(default_factory=dict)
    choices: Choices = field(default_factory=Choices)
    aggregates: Sequence[str] = ()
    skip: Sequence[str] = ()
    columns: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class RankReport:
    """The ranking of a table, with what other aggregations make of it.

    Where one pair of neighbours holds more than half of a rate, *by_median* is the ranking by the median of the rates.
    """

    table: UtilityTable
    ranking: UtilityRanking
    zscores: tuple[float | None, ...]
    pareto: tuple[bool, ...]
    aggregates: Mapping[str, tuple[float | None, ...]]
    by_median: UtilityRanking | None = None

    def order(self) -> list[int]:
        """Return the rows from the best on; those without a rank come last, in the order of the file."""
        last = len(self.table.models) + 1
        return sorted(range(len(self.table.models)), key=lambda row: self.ranking.rank[row] or last)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        ranking = self.ranking
        return {
            "models": [self._model(row) for row in self.order()],
            "amrs": dict(ranking.amrs),
            "weights": dict(ranking.weights),
            "epsilon": ranking.epsilon,
            "perf": ranking.perf,
            "base": ranking.base,
            "worth": dict(ranking.worth),
            "amounts": self.table.amounts(),
            "notes": dict(ranking.notes),
            "rate": ranking.rate,
            "dominant": {name: plain(pair) for name, pair in ranking.dominant.items()},
        }

    def _model(self, row: int) -> dict[str, Any]:
        name = self.table.models[row]
        shape: dict[str, Any] = {
            "model": name,
            "dynascore": self.ranking.dynascore[row],
            "rank": self.ranking.rank[row],
            "zscore": self.zscores[row],
            "pareto": self.pareto[row],
        }
        if self.by_median is not None:
            shape["by_median"] = {"score": self.by_median.dynascore[row], "rank": self.by_median.rank[row]}
        if name in self.ranking.unranked:
            shape["reason"] = self.ranking.unranked[name]
        if self.aggregates:
            shape["aggregates"] = {
                kind: {"score": scores[row], "rank": ranks(scores)[row]} for kind, scores in self.aggregates.items()
            }
        return shape


def rank_file(path: Source, options: RankOptions | None = None) -> RankReport:
    """Rank the models in the table at *path*: a column `model`, then one column per metric."""
    options = options or RankOptions()
    table = read_rank_table(path, options)
    try:
        ranking = rank_models(table, options.choices)
    except BadInput as error:
        raise _placed(error, path) from error
    weights = ranking.weights
    strange = [name for name in options.aggregates if name not in AGGREGATIONS]
    if strange:
        raise BadInput(
            "There is no aggregation '{name}'.",
            name=strange[0],
            names=", ".join(AGGREGATIONS),
            remedy="Known: {names}.",
        )
    return RankReport(
        table,
        ranking,
        mean_zscore(table, weights),
        pareto_front(table, weights),
        {name: AGGREGATIONS[name](table, weights) for name in options.aggregates},
        rank_models(table, replace(options.choices, rate="median")) if ranking.dominant else None,
    )


def read_rank_table(path: Source, options: RankOptions) -> UtilityTable:
    """Read models and metrics; every cell that is no number is named with its row and column."""
    frame = read_table(path, required=["model"], columns=options.columns)
    absent = [name for name in options.skip if name not in frame.columns]
    if absent:
        raise BadInput(faults=[Fault("there is no column '{absent}' to skip", absent=absent[0], file=path.name)])
    frame = frame.drop(list(options.skip))
    names = frame.columns[1:]
    if not names:
        raise BadInput(faults=[Fault("there is no metric beside the column 'model'", file=path.name)])
    _check_names(names, options)
    faults = _model_faults(frame, path)
    values, cannot = np.full((len(frame), len(names)), np.nan), np.zeros((len(frame), len(names)), dtype=bool)
    for position, name in enumerate(names):
        values[:, position], cannot[:, position], cell_faults = _numbers(frame[name], path)
        faults += cell_faults
    if faults:
        raise BadInput(
            faults=faults[:FAULT_LIMIT],
            total=len(faults),
            remedy="An empty cell is missing, 'n/a' one that the model cannot have; --skip NAME leaves a column out.",
        )
    lower = {*options.lower, *options.caps}
    columns = tuple(UtilityColumn(name, name in lower, options.caps.get(name)) for name in names)
    return UtilityTable(tuple(frame["model"]), columns, values, cannot)


def _check_names(names: Sequence[str], options: RankOptions) -> None:
    for name in (*options.lower, *options.caps):
        if name not in names:
            raise BadInput(
                "There is no metric called '{name}'.",
                name=name,
                names=", ".join(names),
                remedy="Metrics here: {names}.",
            )


def _model_faults(frame: pl.DataFrame, path: Source) -> list[Fault]:
    models = frame["model"].fill_null("").str.strip_chars()
    faults = [
        Fault("the model has no name", file=path.name, row=row_number(path, row), field="model")
        for row in (models == "").arg_true()
    ]
    again = ((models != "") & ~models.is_first_distinct()).arg_true()
    return faults + [
        Fault(
            "the model '{model}' is there twice",
            model=models[row],
            file=path.name,
            row=row_number(path, row),
            field="model",
        )
        for row in again.to_list()
    ]


def _numbers(column: pl.Series, path: Source) -> tuple[Any, Any, list[Fault]]:
    """Read a column of numbers: its values, which cells can never be had, and what is wrong."""
    if column.dtype.is_nested():
        return np.nan, False, [Fault("a list or an object is no number", file=path.name, field=column.name)]
    text = column.cast(pl.String).fill_null("").str.strip_chars()
    cannot = text.str.to_lowercase().is_in(CANNOT)
    numbers = plain_numbers(text).cast(pl.Float64, strict=False)
    bad = (text != "") & ~cannot & ~numbers.is_finite().fill_null(False)
    faults = [
        Fault(
            "'{given}' is not a number", given=text[row], file=path.name, row=row_number(path, row), field=column.name
        )
        for row in bad.arg_true().to_list()
    ]
    return numbers.fill_null(float("nan")).to_numpy(), cannot.to_numpy(), faults


def _placed(error: BadInput, path: Source) -> BadInput:
    """Put the file's name on faults that the formula found."""
    if not error.faults:
        return error
    faults = [
        Fault(
            fault.reason,
            file=path.name,
            row=None if fault.row is None else row_number(path, fault.row),
            field=fault.field,
        )
        for fault in error.faults
    ]
    return BadInput(faults=faults, remedy=error.remedy)
