"""What a board is made of: axes, data sets, models with their figures, and a reader's view of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from quintain.core.records.figures import Estimate
from quintain.core.task import Task
from quintain.services.evaluate.standing import Gap, Runs
from quintain.services.tasks.board_spec import BoardSpec
from quintain.services.tasks.machines import RankedMachine
from quintain.stats.fitness import Weakness

Figure: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Axis:
    """One column of the board. *scale* turns a stored value into what is shown: percent for rates.

    A *pooled* column has one figure for each model, over all rounds, instead of one on each data set.
    """

    name: str
    title: str
    unit: str = ""
    lower: bool = False
    cap: float | None = None
    scale: float = 1.0
    pooled: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "unit": self.unit,
            "lower": self.lower,
            "cap": self.cap,
            "pooled": self.pooled,
        }


@dataclass(frozen=True, slots=True)
class BoardDataset:
    """A data set that the board knows; *weight* 0 shows it without letting it score.

    *warnings* say why it is weak ground for a ranking.
    """

    ref: str
    name: str
    hash: str
    role: str
    language: str
    rows: int
    weight: float
    blob: str = ""
    id: int = 0
    warnings: tuple[Weakness, ...] = ()

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
            "warnings": [one.as_dict() for one in self.warnings],
        }


@dataclass(frozen=True, slots=True)
class RoundRate:
    """How one model did in one round: items it answered, how many of them were validated errors, and the rate."""

    model: str
    collected: int
    errors: int
    vmer: Estimate

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        name = self.model.rpartition("/")[2].partition("@")[0]
        rate = self.vmer.as_dict()
        return {"model": self.model, "name": name, "collected": self.collected, "errors": self.errors, "vmer": rate}


@dataclass(frozen=True, slots=True)
class BoardRound:
    """A round as its newest review left it. *human* is how often one judge says what most of the others say."""

    ref: str
    at: datetime
    collected: int
    validated: int
    human: Estimate | None
    models: tuple[RoundRate, ...]

    @property
    def best(self) -> RoundRate | None:
        """The model with the lowest rate; None before anything is validated."""
        known = [one for one in self.models if one.vmer.value is not None]
        return min(known, key=lambda one: (one.vmer.value or 0.0, one.model), default=None)

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON; what the best model reaches is one minus its rate."""
        best = self.best
        return {
            "round": self.ref,
            "title": self.ref.partition("/")[2],
            "at": self.at.isoformat(timespec="seconds"),
            "collected": self.collected,
            "validated": self.validated,
            "human": self.human.as_dict() if self.human else None,
            "best": {"model": best.model, **_rest(best.vmer)} if best else None,
            "models": [one.as_dict() for one in self.models],
        }


def _rest(rate: Estimate) -> dict[str, float | None]:
    """Give one minus a rate; the ends of its interval change places."""
    ends = {"value": rate.value, "low": rate.high, "high": rate.low}
    return {name: None if value is None else 1.0 - value for name, value in ends.items()}


@dataclass(frozen=True, slots=True)
class BoardModel:
    """A row: for each axis a figure (with its interval, where it has one) on each data set.

    *pooled* holds the figures of axes that have one over all rounds instead. A row that stands for several seeds has
    their references in *seeds*, and each figure the deviation over them as `spread`. *predictions* names, for each
    data set, the stored predictions of each seed, and *draws* for some axes where the resampled figures are kept.
    *gaps* say, as *values* are laid out, why a figure is missing; one that does not rank is shown there as `figure`.
    *runs* counts, for each data set, the runs that figures need.
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
    pooled: Mapping[str, Figure | None] = field(default_factory=dict)
    slices: Sequence[Sequence[Figure]] = ()
    cannot: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    hashes: tuple[str, ...] = ()
    predictions: tuple[tuple[str | None, ...], ...] = ()
    draws: Mapping[str, tuple[tuple[str | None, ...], ...]] = field(default_factory=dict)
    gaps: Mapping[str, Sequence[Gap | None]] = field(default_factory=dict)
    runs: Sequence[Runs] = ()

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
            "pooled": dict(self.pooled),
            "gaps": {name: list(cells) for name, cells in self.gaps.items() if any(cells)},
            "runs": [one.as_dict() for one in self.runs],
            "cannot": list(self.cannot),
            "seeds": list(self.seeds),
        }


@dataclass(frozen=True, slots=True)
class BoardPart:
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
    rounds: tuple[BoardRound, ...]
    models: tuple[BoardModel, ...]
    spec: BoardSpec
    part: BoardPart
    tags: tuple[str, ...]
    languages: tuple[str, ...]
    frozen_at: datetime | None
    made_at: datetime
    machine: RankedMachine = field(default_factory=RankedMachine)

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON and for the browser."""
        runs = self.runs()
        return {
            "task": self.task.name,
            "metric": self.metric,
            "tag": self.part.tag,
            "language": self.part.language,
            "tags": list(self.tags),
            "languages": list(self.languages),
            "axes": [axis.as_dict() for axis in self.axes],
            "datasets": [dataset.as_dict() for dataset in self.datasets],
            "rounds": [one.as_dict() for one in self.rounds],
            "models": [model.as_dict() for model in self.models],
            "weights": self.spec.axis_weights([axis.name for axis in self.axes]),
            "epsilon": self.spec.epsilon,
            "human": self.human,
            "machine": self.machine.as_dict(),
            "provisional": runs.waiting > 0,
            "runs": runs.as_dict(),
            "frozen_at": self.frozen_at.isoformat() if self.frozen_at else None,
            "frozen_until": self.spec.freeze_until if self.frozen_at else None,
            "made_at": self.made_at.isoformat(),
        }

    @property
    def human(self) -> float | None:
        """What people reach on the canonical metric, in the unit of the axis."""
        return None if self.spec.human is None else self.spec.human * self.axes[0].scale

    def runs(self, weights: Sequence[float] | None = None) -> Runs:
        """Count the runs behind the board, on data sets that score; *weights* say which, instead of the owner."""
        chosen = [dataset.weight for dataset in self.datasets] if weights is None else weights
        found = [runs for model in self.models for runs, weight in zip(model.runs, chosen, strict=False) if weight > 0]
        return Runs(sum(one.needed for one in found), sum(one.done for one in found), sum(one.waiting for one in found))

    @property
    def provisional(self) -> bool:
        """Whether runs are still to come that the order rests on."""
        return self.runs().waiting > 0

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to rank: no model, or nothing that one could have a figure on."""
        return not self.models or not (self.datasets or any(axis.pooled for axis in self.axes))

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
