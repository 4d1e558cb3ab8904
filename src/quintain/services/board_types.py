"""What a board is made of: axes, data sets, models with their figures, and a reader's view of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from quintain.core.task import Task
from quintain.services.board_settings import BoardSpec

Figure: TypeAlias = Mapping[str, Any]


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
    blob: str = ""
    id: int = 0

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
    """A row: for each axis a figure (with its interval, where it has one) on each data set.

    A row that stands for several seeds has their references in *seeds*, and each figure the deviation over them as
    `spread`. *predictions* names, for each data set, the stored predictions of each seed.
    """

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
    values: Mapping[str, Sequence[Figure | None]] = field(default_factory=dict)
    slices: Sequence[Sequence[Figure]] = ()
    cannot: tuple[str, ...] = ()
    pending: str = ""
    seeds: tuple[str, ...] = ()
    hashes: tuple[str, ...] = ()
    predictions: tuple[tuple[str | None, ...], ...] = ()

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
            "seeds": list(self.seeds),
        }


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of a board is asked for: examples with one tag, data sets in one language, seeds apart."""

    tag: str | None = None
    language: str | None = None
    seeds_apart: bool = False
    live: bool = False


@dataclass(frozen=True, slots=True)
class Board:
    """Everything that a ranking is made from, and the owner's default view of it."""

    task: Task
    metric: str
    axes: tuple[Axis, ...]
    datasets: tuple[BoardDataset, ...]
    models: tuple[BoardModel, ...]
    spec: BoardSpec
    part: Part
    tags: tuple[str, ...]
    languages: tuple[str, ...]
    frozen_at: datetime | None
    made_at: datetime

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON and for the browser."""
        return {
            "task": self.task.name,
            "metric": self.metric,
            "tag": self.part.tag,
            "language": self.part.language,
            "tags": list(self.tags),
            "languages": list(self.languages),
            "axes": [axis.as_dict() for axis in self.axes],
            "datasets": [dataset.as_dict() for dataset in self.datasets],
            "models": [model.as_dict() for model in self.models],
            "weights": self.spec.axis_weights([axis.name for axis in self.axes]),
            "epsilon": self.spec.epsilon,
            "human": self.human,
            "frozen_at": self.frozen_at.isoformat() if self.frozen_at else None,
            "frozen_until": self.spec.freeze_until if self.frozen_at else None,
            "made_at": self.made_at.isoformat(),
        }

    @property
    def human(self) -> float | None:
        """What people reach on the canonical metric, in the unit of the axis."""
        return None if self.spec.human is None else self.spec.human * self.axes[0].scale

    def position(self, ref: str) -> int | None:
        """Give the row of the model *ref*, by its reference or its name."""
        return next((row for row, model in enumerate(self.models) if ref in (model.ref, model.name)), None)


@dataclass(frozen=True, slots=True)
class View:
    """What a reader chose: weights of axes and data sets, ε, the base metric, exchange rates by hand."""

    weights: Mapping[str, float] | None = None
    datasets: Mapping[str, float] | None = None
    epsilon: float | None = None
    base: str | None = None
    amrs: Mapping[str, float] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Give what was chosen as plain data; what was not is left out."""
        shape = {
            "weights": None if self.weights is None else dict(self.weights),
            "datasets": None if self.datasets is None else dict(self.datasets),
            "epsilon": self.epsilon,
            "base": self.base,
            "amrs": dict(self.amrs) if self.amrs else None,
        }
        return {name: value for name, value in shape.items() if value is not None}
