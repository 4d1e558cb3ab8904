"""Rank a board by a reader's view of it. The same formula ranks it in the browser."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from quintain.core.errors import BadInput
from quintain.core.pairs import parse_numbers
from quintain.core.records import ranking as records
from quintain.core.records.base import to_plain
from quintain.core.records.board import BoardView
from quintain.core.records.figures import Estimate, RunCounts
from quintain.core.texts import Text
from quintain.services.board.gaps import why_unranked
from quintain.services.board.parts import BoardMatrix
from quintain.stats.utility import Choices, UtilityColumn, UtilityRanking, UtilityTable, rank_models, weighted_mean

NOTHING_SCORES = "no data set scores yet"


def parse_view(
    weights: str = "",
    datasets: str = "",
    *,
    epsilon: float | None = None,
    base: str = "",
    amrs: str = "",
    rate: str = "",
) -> BoardView:
    """Read a view from texts such as `performance:4,memory:1`, as addresses and command lines carry it.

    >>> parse_view("performance:4,memory:1").weights
    {'performance': 4.0, 'memory': 1.0}
    """
    return BoardView(
        weights=parse_numbers(weights.replace(":", "="), "weights") or None,
        datasets=parse_numbers(datasets.replace(":", "="), Text("weights of data sets")) or None,
        epsilon=epsilon,
        base=base or None,
        amrs=parse_numbers(amrs.replace(":", "="), Text("exchange rates")) or None,
        rate=rate or None,
    )


def dataset_weights(matrix: BoardMatrix, view: BoardView) -> list[float]:
    """Return the weight of each data set in *view*; those that it does not name get 0, and unknown ones are refused."""
    if view.datasets is None:
        return [dataset.weight for dataset in matrix.datasets]
    names = [dataset.name for dataset in matrix.datasets]
    strange = [name for name in view.datasets if name not in names]
    if strange:
        known = ", ".join(names) or Text("none")
        raise BadInput(
            "There is no data set '{dataset}' on this board.",
            dataset=strange[0],
            known=known,
            remedy="There are: {known}.",
        )
    return [float(view.datasets.get(name, 0.0)) for name in names]


def axis_shares(matrix: BoardMatrix, axis: str, weights: Sequence[float]) -> list[float]:
    """Return the shares of the data sets in an axis, which add up to one: only those where it applies have any."""
    applied = [
        0.0 if axis in dataset.inapplicable else weight
        for dataset, weight in zip(matrix.datasets, weights, strict=True)
    ]
    return [weight / (sum(applied) or 1.0) for weight in applied]


def dropped_axes(matrix: BoardMatrix, weights: Sequence[float]) -> list[str]:
    """Name the axes that apply to none of the data sets that have a weight: no model can have a figure there."""
    if not any(weights):
        return []
    return [axis.name for axis in matrix.axes if not axis.pooled and not any(axis_shares(matrix, axis.name, weights))]


def table_of(matrix: BoardMatrix, view: BoardView) -> tuple[UtilityTable, dict[str, str]]:
    """Average over data sets by the view's weights: the table that is ranked, and which models lie beyond a cap.

    A value beyond its cap is no good to anybody: the cell is left empty, so that its model is shown unranked.
    """
    weights = dataset_weights(matrix, view)
    scores = any(weight > 0 for weight in weights)
    if matrix.datasets and view.datasets is not None and not scores:
        raise BadInput("No data set has a weight.", remedy="Give at least one of them a weight above 0.")
    shape = (len(matrix.models), len(matrix.axes), len(matrix.datasets))
    values = np.full(shape, np.nan)
    cannot = np.zeros(shape[:2], dtype=bool)
    for row, model in enumerate(matrix.models):
        for column, axis in enumerate(matrix.axes):
            cannot[row, column] = axis.name in model.cannot
            for index, cell in enumerate(model.values[axis.name]):
                if cell is not None:
                    values[row, column, index] = cell.value
    means = np.full(shape[:2], np.nan)
    for column, axis in enumerate(matrix.axes):
        shares = axis_shares(matrix, axis.name, weights)
        if any(shares):
            means[:, column] = weighted_mean(values[:, column], shares)
        if axis.pooled:
            figures = [model.pooled.get(axis.name) for model in matrix.models]
            means[:, column] = [np.nan if figure is None else figure.value for figure in figures]
    means[cannot] = np.nan
    beyond = {}
    for column, axis in enumerate(matrix.axes):
        if axis.cap is None:
            continue
        for row in np.flatnonzero(means[:, column] > axis.cap).tolist():
            unit = f" {axis.unit}" if axis.unit else ""
            beyond[matrix.models[row].ref] = f"{axis.name} above the cap of {axis.cap:g}{unit}"
            means[row, column] = np.nan
    columns = tuple(UtilityColumn(axis.name, axis.lower, axis.cap) for axis in matrix.axes)
    return UtilityTable(tuple(model.ref for model in matrix.models), columns, means, cannot), beyond


def choices_of(matrix: BoardMatrix, view: BoardView) -> Choices:
    """Return what the formula is told: the view and, where it says nothing, the owner's settings.

    An axis that applies nowhere has no weight for anybody, unless it is the only one that has any.
    """
    weights = view.weights or matrix.spec.axis_weights([axis.name for axis in matrix.axes])
    dropped = dropped_axes(matrix, dataset_weights(matrix, view))
    left = {name: 0.0 if name in dropped else weight for name, weight in weights.items()}
    return Choices(
        weights=left if any(left.values()) else weights,
        epsilon=view.epsilon if view.epsilon is not None else matrix.spec.epsilon,
        perf="performance",
        base=view.base,
        amrs=view.amrs,
        rate=view.rate or matrix.spec.rate,
    )


@dataclass(frozen=True, slots=True)
class Ranked:
    """A board in the order of one view; *weights* are those of its data sets.

    While some of the *runs* behind what the view ranks are still to come, the order is provisional. *by_median* is the
    ranking by the median of the same exchange rates, where one pair of neighbours holds more than half of one.
    """

    board: BoardMatrix
    view: BoardView
    table: UtilityTable
    ranking: UtilityRanking
    reasons: Mapping[str, str]
    weights: Sequence[float]
    runs: RunCounts
    by_median: UtilityRanking | None = None

    def order(self) -> list[int]:
        """Return the rows from the best on; those without a rank come last, by name."""
        last = len(self.board.models) + 1
        models = self.board.models
        return sorted(range(len(models)), key=lambda row: (self.ranking.rank[row] or last, models[row].name))

    def figure(self, row: int, axis: str) -> Estimate | None:
        """Return one cell over data sets, with its interval: the halves add up as independent errors do."""
        column = self.table.position(axis)
        value = float(self.table.values[row, column])
        if math.isnan(value):
            return None
        if self.board.axes[column].pooled:
            figure = self.board.models[row].pooled[axis]
            return Estimate(value, figure.low, figure.high) if figure else Estimate(value)
        return Estimate(value, self._end(row, axis, value, "low", -1.0), self._end(row, axis, value, "high", 1.0))

    def examples(self, row: int, axis: str) -> int | None:
        """Count the examples that one cell over data sets rests on; None where its figures do not say."""
        model = self.board.models[row]
        if self.board.axes[self.table.position(axis)].pooled:
            figure = model.pooled[axis]
            return figure.n if figure else None
        figures = [
            figure for share, figure in zip(self.shares(axis), model.values[axis], strict=True) if share > 0 and figure
        ]
        counts = [figure.n for figure in figures if figure.n is not None]
        return sum(counts) if counts and len(counts) == len(figures) else None

    def _end(self, row: int, axis: str, value: float, end: Literal["low", "high"], sign: float) -> float | None:
        squares = 0.0
        for share, figure in zip(self.shares(axis), self.board.models[row].values[axis], strict=True):
            if share > 0 and figure is not None:
                reached = figure.low if end == "low" else figure.high
                half = math.nan if reached is None else reached - figure.value
                squares += (share * half) ** 2
        return None if math.isnan(squares) else value + sign * math.sqrt(squares)

    def page(self, order: Sequence[int], *, limit: int, offset: int = 0) -> records.Ranking:
        """Return *limit* rows as everybody sees them, from place *offset* of its *order*."""
        ranking = self.ranking
        return records.Ranking(
            task=self.board.task.name,
            provisional=self.runs.waiting > 0,
            runs=self.runs,
            machine=self.board.machine,
            models=[self._model(row) for row in order[offset : offset + limit]],
            amrs=ranking.amrs,
            weights=ranking.weights,
            datasets=self.dataset_weights(),
            warnings={
                dataset.name: [why.text for why in dataset.warnings]
                for dataset in self.board.datasets
                if dataset.warnings
            },
            epsilon=ranking.epsilon,
            base=ranking.base,
            worth=ranking.worth,
            amounts=self.table.amounts(),
            notes=ranking.notes,
            total=len(order),
            over=self.over(),
            dropped=dropped_axes(self.board, self.weights),
            rate=ranking.rate,
            held=self.board.held,
            unrun=self.unrun(),
            dominant={
                name: records.RatePair(pair.first, pair.second, pair.share, pair.pairs)
                for name, pair in ranking.dominant.items()
            },
        )

    def shares(self, axis: str) -> list[float]:
        """Return the shares of the data sets in an axis: only those where it applies have any."""
        return axis_shares(self.board, axis, self.weights)

    def over(self) -> dict[str, list[str]]:
        """Name, for each axis, the data sets that it is averaged over; one over all rounds has none."""
        return {
            axis.name: [
                dataset.name
                for dataset, share in zip(self.board.datasets, self.shares(axis.name), strict=True)
                if share > 0
            ]
            for axis in self.board.axes
            if not axis.pooled
        }

    def unrun(self) -> list[str]:
        """Name the data sets without a weight on which runs of ranked models are missing: weighing one ranks nobody.

        Where nobody is ranked, it is those on which every model still waits.
        """
        ranked = [row for row, place in enumerate(self.ranking.rank) if place is not None]
        every = [model.runs for model in self.board.models if model.runs]
        asked, lacking = ([self.board.models[row].runs for row in ranked], any) if ranked else (every, all)
        return [
            dataset.name
            for place, (dataset, weight) in enumerate(zip(self.board.datasets, self.weights, strict=True))
            if not weight and asked and lacking(runs[place].waiting > 0 for runs in asked if runs)
        ]

    def partial(self) -> list[tuple[str, list[str], int]]:
        """List the axes that are not averaged over every data set that scores: over which, and over how many."""
        scoring = sum(weight > 0 for weight in self.weights)
        return [(name, names, scoring) for name, names in self.over().items() if len(names) < scoring]

    def dataset_weights(self) -> dict[str, float]:
        """Return the weight of each data set, by its name."""
        return {dataset.name: weight for dataset, weight in zip(self.board.datasets, self.weights, strict=True)}

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as files hold it: a reason stands there only where there is one, and nobody counts."""
        order = self.order()
        shape: dict[str, Any] = without_reasons(to_plain(self.page(order, limit=len(order))))
        del shape["total"]
        return shape

    def _model(self, row: int) -> records.RankedModel:
        model = self.board.models[row]
        return records.RankedModel(
            model=model.ref,
            name=model.name,
            dynascore=self.ranking.dynascore[row],
            rank=self.ranking.rank[row],
            values={axis.name: self.figure(row, axis.name) for axis in self.board.axes},
            reason=self.reasons.get(model.ref) or None,
            by_median=None
            if self.by_median is None
            else records.Aggregate(self.by_median.dynascore[row], self.by_median.rank[row]),
            newer=model.newer,
        )


def without_reasons(shape: Any) -> Any:
    """Leave out, all the way down, a reason that is null: what files hold has one only where there is something to say.

    >>> without_reasons({"value": 0.5, "reason": None})
    {'value': 0.5}
    """
    if isinstance(shape, dict):
        return {name: without_reasons(one) for name, one in shape.items() if (name, one) != ("reason", None)}
    return [without_reasons(one) for one in shape] if isinstance(shape, list) else shape


def rank(matrix: BoardMatrix, view: BoardView | None = None) -> Ranked:
    """Rank the board by *view*, or by the owner's default."""
    chosen = view or BoardView()
    table, beyond = table_of(matrix, chosen)
    choices = choices_of(matrix, chosen)
    ranking = rank_models(table, choices)
    by_median = rank_models(table, replace(choices, rate="median")) if ranking.dominant else None
    weights = dataset_weights(matrix, chosen)
    reasons = {}
    waiting = bool(matrix.datasets) and not any(weights)
    for row, model in enumerate(matrix.models):
        if model.ref in ranking.unranked:
            gone = [axis.name for axis, value in zip(matrix.axes, table.values[row], strict=True) if np.isnan(value)]
            counting = {name: axis_shares(matrix, name, weights) for name in gone if ranking.weights[name] > 0}
            rests = why_unranked(model, counting, weights)
            why = NOTHING_SCORES if waiting else beyond.get(model.ref) or ranking.unranked[model.ref]
            reasons[model.ref] = f"{why} ({rests})" if rests else why
    return Ranked(matrix, chosen, table, ranking, reasons, weights, matrix.runs(weights), by_median)
