"""The board of a task: cells and weights seen as a ranking. Computed, never stored.

`board` gives the matrix of models × axes × data sets that pages, exports and snapshots are made from; `rank` ranks it
by a reader's view of it. The same formula ranks it in the browser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.adapters.contract import ADAPTERS
from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.core.task import Task
from quintain.metrics.contract import METRICS
from quintain.services.board_settings import BoardSpec, board_spec
from quintain.services.models import ModelInfo, list_models
from quintain.services.results import DatasetResult, results
from quintain.services.tasks import get_task
from quintain.stats.utility import Choices, Column, Ranking, Table, rank_models, weighted_mean
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.queries import boards as queries

MEASURED = ("throughput", "memory")
SHARES = ("fairness", "robustness")


@dataclass(frozen=True, slots=True)
class Axis:
    """One column of the board. *scale* turns a stored value into what is shown: percent for rates."""

    name: str
    title: str
    unit: str = ""
    lower: bool = False
    cap: float | None = None
    scale: float = 1.0

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        return {"name": self.name, "title": self.title, "unit": self.unit, "lower": self.lower, "cap": self.cap}


@dataclass(frozen=True, slots=True)
class BoardDataset:
    """A data set that the board knows; *weight* 0 shows it without letting it score."""

    ref: str
    name: str
    hash: str
    role: str
    language: str
    rows: int
    weight: float

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        return {
            "ref": self.ref,
            "name": self.name,
            "hash": self.hash,
            "role": self.role,
            "language": self.language,
            "rows": self.rows,
            "weight": self.weight,
        }


@dataclass(frozen=True, slots=True)
class BoardModel:
    """A row: for each axis a value (with its interval, where it has one) on each data set."""

    ref: str
    name: str
    number: int
    hash: str
    owner: str | None
    visibility: str
    adapter: str
    predictions_only: bool
    family: str | None
    created_at: datetime
    values: Mapping[str, Sequence[Mapping[str, Any] | None]] = field(default_factory=dict)
    cannot: tuple[str, ...] = ()
    pending: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        return {
            "ref": self.ref,
            "name": self.name,
            "version": self.number,
            "hash": self.hash,
            "owner": self.owner,
            "visibility": self.visibility,
            "adapter": self.adapter,
            "predictions_only": self.predictions_only,
            "family": self.family,
            "created_at": self.created_at.isoformat(),
            "values": {name: list(cells) for name, cells in self.values.items()},
            "cannot": list(self.cannot),
            "pending": self.pending,
        }


@dataclass(frozen=True, slots=True)
class Board:
    """Everything that a ranking is made from, and the owner's default view of it."""

    task: Task
    metric: str
    axes: tuple[Axis, ...]
    datasets: tuple[BoardDataset, ...]
    models: tuple[BoardModel, ...]
    spec: BoardSpec
    tag: str | None
    made_at: datetime

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON and for the browser."""
        return {
            "task": self.task.name,
            "metric": self.metric,
            "tag": self.tag,
            "axes": [axis.as_dict() for axis in self.axes],
            "datasets": [dataset.as_dict() for dataset in self.datasets],
            "models": [model.as_dict() for model in self.models],
            "weights": self.spec.axis_weights([axis.name for axis in self.axes]),
            "epsilon": self.spec.epsilon,
            "frozen_until": self.spec.freeze_until,
            "made_at": self.made_at.isoformat(),
        }


@dataclass(frozen=True, slots=True)
class View:
    """What a reader chose: weights of axes and data sets, ε, the base metric, exchange rates by hand."""

    weights: Mapping[str, float] | None = None
    datasets: Mapping[str, float] | None = None
    epsilon: float | None = None
    base: str | None = None
    amrs: Mapping[str, float] | None = None


def board(db: Session, blobs: Blobs, actor: Actor, task_name: str, *, tag: str | None = None) -> Board:
    """Compute the board of *task_name* as *actor* may see it; with *tag*, performance on the examples that have it."""
    task = get_task(db, task_name)
    spec = board_spec(db, task_name)
    found = results(db, blobs, task)
    datasets = _datasets(db, task, spec)
    by_pair = {(one.model_version_id, one.dataset_version_id): one for one in found}
    metric = spec.metric or task.canonical_metric
    axes = _axes(metric, spec)
    models = [
        _model(info, axes, [by_pair.get((info.version.id, place)) for place in datasets], metric, tag)
        for info in list_models(db, actor, task_name)
        if spec.shows(info.name)
    ]
    return Board(
        task=task,
        metric=metric,
        axes=axes,
        datasets=tuple(datasets.values()),
        models=tuple(models),
        spec=spec,
        tag=tag,
        made_at=now(),
    )


def _datasets(db: Session, task: Task, spec: BoardSpec) -> dict[int, BoardDataset]:
    found: dict[int, BoardDataset] = {}
    for version, name in queries.evaluated_versions(db, task.name, before=spec.frozen_at):
        found[version.id] = BoardDataset(
            ref=f"{task.name}/{name}@{version.number}",
            name=name,
            hash=version.hash,
            role=version.role,
            language=version.language,
            rows=version.rows,
            weight=spec.dataset_weight(name, version.role),
        )
    return found


def _axes(name: str, spec: BoardSpec) -> tuple[Axis, ...]:
    metric = METRICS.get(name)
    rate = metric.range == (0.0, 1.0)
    performance = Axis(
        "performance", metric.title, "%" if rate else "", metric.better == "lower", None, 100.0 if rate else 1.0
    )
    return (
        performance,
        Axis("throughput", "Throughput", "examples/s"),
        Axis("memory", "Memory", "GiB", lower=True, cap=spec.caps.get("memory")),
        Axis("fairness", "Fairness", "%", scale=100.0),
        Axis("robustness", "Robustness", "%", scale=100.0),
    )


def _model(
    info: ModelInfo, axes: Sequence[Axis], found: Sequence[DatasetResult | None], metric: str, tag: str | None
) -> BoardModel:
    only_file = ADAPTERS.get(info.version.adapter).place == "file"
    remote = ADAPTERS.get(info.version.adapter).place == "remote"
    cannot = (*MEASURED, *SHARES) if only_file else MEASURED if remote else ()
    version = info.version
    return BoardModel(
        ref=version.ref,
        name=info.name,
        number=version.number,
        hash=version.hash,
        owner=None if info.visibility == "anonymous" else info.owner,
        visibility=info.visibility,
        adapter=version.adapter,
        predictions_only=only_file,
        family=version.meta.get("family"),
        created_at=version.created_at,
        values={axis.name: [None if one is None else _value(axis, one, metric, tag) for one in found] for axis in axes},
        cannot=cannot,
        pending=_pending(found),
    )


def _value(axis: Axis, found: DatasetResult, metric: str, tag: str | None) -> dict[str, Any] | None:
    if axis.name in MEASURED:
        value = found.measurements.get(axis.name)
        if value is None:
            return None
        spread = found.measurements.get(f"{axis.name}_spread") or 0.0
        low, high = (value - 1.96 * spread, value + 1.96 * spread) if spread else (None, None)
        return {"value": value, "low": low, "high": high, "machine": found.measurements.get("machine")}
    if axis.name in SHARES:
        share = found.fairness if axis.name == "fairness" else found.robustness
        return None if share is None else _scaled(share["share"], axis.scale, share.get("rows"))
    metrics, rows = found.metrics, found.rows
    if tag is not None:
        part = next((part for part in found.slices if part["value"] == tag), None)
        if part is None:
            return None
        metrics, rows = part["metrics"], part["examples"]
    return _scaled(metrics[metric], axis.scale, rows) if metric in metrics else None


def _scaled(estimate: Mapping[str, Any], scale: float, rows: int | None) -> dict[str, Any] | None:
    if estimate["value"] is None:
        return None
    shown = {key: None if estimate[key] is None else estimate[key] * scale for key in ("value", "low", "high")}
    return {**shown, "n": rows}


def _pending(found: Sequence[DatasetResult | None]) -> str:
    """Say in words what a row is waiting for."""
    states = [state for one in found if one for state in one.states.values()]
    failed, waiting = states.count("failed"), states.count("queued") + states.count("running")
    words = []
    if waiting or any(one is None for one in found):
        words.append(f"{waiting} runs to go" if waiting else "not run yet")
    if failed:
        words.append(f"{failed} runs failed")
    return ", ".join(words)


def table_of(made: Board, view: View) -> Table:
    """Average over data sets by the view's weights: the table of models × axes that is ranked."""
    weights = [
        dataset.weight if view.datasets is None else float(view.datasets.get(dataset.name, 0.0))
        for dataset in made.datasets
    ]
    if not any(weight > 0 for weight in weights):
        raise BadInput("No data set has a weight.", remedy="Give at least one of them a weight above 0.")
    values = np.full((len(made.models), len(made.axes), len(made.datasets)), np.nan)
    cannot = np.zeros((len(made.models), len(made.axes)), dtype=bool)
    for row, model in enumerate(made.models):
        for column, axis in enumerate(made.axes):
            cannot[row, column] = axis.name in model.cannot
            for place, cell in enumerate(model.values[axis.name]):
                if cell is not None:
                    values[row, column, place] = cell["value"]
    columns = tuple(Column(axis.name, axis.lower, axis.cap) for axis in made.axes)
    return Table(tuple(model.ref for model in made.models), columns, weighted_mean(values, weights), cannot)


def rank(made: Board, view: View | None = None) -> tuple[Table, Ranking]:
    """Rank the board by *view*, or by the owner's default."""
    chosen = view or View()
    table = table_of(made, chosen)
    weights = chosen.weights or made.spec.axis_weights(list(table.names))
    choices = Choices(
        weights=weights,
        epsilon=chosen.epsilon if chosen.epsilon is not None else made.spec.epsilon,
        perf="performance",
        base=chosen.base,
        amrs=chosen.amrs,
    )
    return table, rank_models(table, choices)
