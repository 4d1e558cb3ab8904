"""What a board is made of: axes, data sets, models with their figures, and a reader's view of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from quintain.core.errors import NotFound
from quintain.core.records import board as records
from quintain.core.records.base import decode
from quintain.core.records.figures import Estimate, Figure, Gap, KeptEstimate, RunCounts
from quintain.core.task import Task
from quintain.services.tasks.board_spec import BoardSpec
from quintain.stats.fitness import Weakness

# What a slice is kept as: there are many, and few are ever looked at.
PlainSlice: TypeAlias = Mapping[str, Any]


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

    def record(self) -> records.BoardAxis:
        """Return the record that everybody sees."""
        return records.BoardAxis(self.name, self.title, self.unit, self.lower, self.cap, self.pooled)


@dataclass(frozen=True, slots=True)
class MatrixDataset:
    """A data set that the board knows; *weight* 0 shows it without letting it score.

    *warnings* say why it is weak ground for a ranking. *inapplicable* names the axes of which it can say nothing,
    whatever the model: no perturbation changes its examples, or most models were measured too unevenly to rank.
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
    inapplicable: tuple[str, ...] = ()

    def record(self) -> records.BoardDataset:
        """Return the record that everybody sees."""
        return records.BoardDataset(
            self.ref,
            self.name,
            self.hash,
            self.role,
            self.language,
            self.rows,
            self.weight,
            [
                records.BoardWarning(warning.kind, warning.text, warning.units, list(warning.labels))
                for warning in self.warnings
            ],
            list(self.inapplicable),
        )


@dataclass(frozen=True, slots=True)
class RoundRate:
    """How one model did in one round: items it answered, how many of them were validated errors, and the rate."""

    model: str
    collected: int
    errors: int
    vmer: Estimate

    def record(self) -> records.RoundModel:
        """Return the record that everybody sees."""
        name = self.model.rpartition("/")[2].partition("@")[0]
        return records.RoundModel(self.model, name, self.collected, self.errors, _to_kept(self.vmer))


@dataclass(frozen=True, slots=True)
class MatrixRound:
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
        known = [model for model in self.models if model.vmer.value is not None]
        return min(known, key=lambda rate: (rate.vmer.value or 0.0, rate.model), default=None)

    def record(self) -> records.BoardRound:
        """Return the record that everybody sees; what the best model reaches is one minus its rate."""
        best = self.best
        return records.BoardRound(
            round=self.ref,
            title=self.ref.partition("/")[2],
            at=self.at.replace(microsecond=0),
            collected=self.collected,
            validated=self.validated,
            human=_to_kept(self.human) if self.human else None,
            best=records.RoundBest(best.model, *_rest(best.vmer)) if best else None,
            models=[model.record() for model in self.models],
        )


def rest_of(rate: Estimate) -> Estimate:
    """Return one minus a rate with its interval."""
    value, low, high = _rest(rate)
    return Estimate(value, low, high)


def _to_kept(rate: Estimate) -> KeptEstimate:
    return KeptEstimate(rate.value, rate.low, rate.high, rate.reason or None)


def _rest(rate: Estimate) -> list[float | None]:
    """Return one minus a rate and the ends of its interval, which change places."""
    return [None if value is None else 1.0 - value for value in (rate.value, rate.high, rate.low)]


@dataclass(frozen=True, slots=True)
class MatrixModel:
    """A row: for each axis a figure (with its interval, where it has one) on each data set.

    *pooled* holds the figures of axes that have one over all rounds instead. A row that stands for several seeds has
    their references in *seeds*, and each figure the deviation over them as `spread`. *predictions* names, for each
    data set, the stored predictions of each seed, and *draws* for some axes where the resampled figures are kept.
    *gaps* say, as *values* are laid out, why a figure is missing; one that does not rank is shown there as `figure`.
    *runs* counts, for each data set, the runs that figures need. *newer* is a version that waits for its runs, until
    which this one keeps its place.
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
    slices: Sequence[Sequence[PlainSlice]] = ()
    cannot: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    hashes: tuple[str, ...] = ()
    predictions: tuple[tuple[str | None, ...], ...] = ()
    draws: Mapping[str, tuple[tuple[str | None, ...], ...]] = field(default_factory=dict)
    gaps: Mapping[str, Sequence[Gap | None]] = field(default_factory=dict)
    runs: Sequence[RunCounts] = ()
    newer: records.ComingModel | None = None

    @property
    def disturbed(self) -> float | None:
        """The largest share of the machine that other work had while it was measured, also where it does not rank."""
        gaps = [why.figure for cells in self.gaps.values() for why in cells if why is not None]
        figures = [*(figure for cells in self.values.values() for figure in cells), *gaps]
        return max((figure.busy for figure in figures if figure is not None and figure.busy), default=None)

    def record(self) -> records.BoardModel:
        """Return the record that everybody sees."""
        return records.BoardModel(
            ref=self.ref,
            name=self.name,
            version=self.number,
            hash=self.hash,
            owner=self.owner,
            visibility=self.visibility,
            adapter=self.adapter,
            predictions_only=self.predictions_only,
            family=self.family,
            created_at=self.created_at,
            values={name: list(cells) for name, cells in self.values.items()},
            pooled=self.pooled,
            gaps={name: list(cells) for name, cells in self.gaps.items() if any(cells)},
            runs=list(self.runs),
            cannot=list(self.cannot),
            seeds=list(self.seeds),
            newer=self.newer,
        )


@dataclass(frozen=True, slots=True)
class BoardPart:
    """Which part of a board is asked for: examples with one tag, data sets in one language, seeds apart."""

    tag: str | None = None
    language: str | None = None
    seeds_apart: bool = False
    live: bool = False


@dataclass(frozen=True, slots=True)
class BoardMatrix:
    """Everything that a ranking is made from, and the owner's default view of it."""

    task: Task
    metric: str
    axes: tuple[Axis, ...]
    datasets: tuple[MatrixDataset, ...]
    rounds: tuple[MatrixRound, ...]
    models: tuple[MatrixModel, ...]
    spec: BoardSpec
    part: BoardPart
    tags: tuple[str, ...]
    languages: tuple[str, ...]
    frozen_at: datetime | None
    made_at: datetime
    machine: records.BoardMachine = field(default_factory=records.BoardMachine)
    held: records.HeldRanking | None = None

    def record(self) -> records.Board:
        """Return the record that everybody sees."""
        runs = self.runs()
        return records.Board(
            task=self.task.name,
            metric=self.metric,
            tag=self.part.tag,
            language=self.part.language,
            tags=list(self.tags),
            languages=list(self.languages),
            axes=[axis.record() for axis in self.axes],
            datasets=[dataset.record() for dataset in self.datasets],
            rounds=[one.record() for one in self.rounds],
            models=[model.record() for model in self.models],
            weights=self.spec.axis_weights([axis.name for axis in self.axes]),
            epsilon=self.spec.epsilon,
            human=self.human,
            rate=self.spec.rate,
            held=self.held,
            machine=self.machine,
            provisional=runs.waiting > 0,
            runs=runs,
            frozen_at=self.frozen_at,
            frozen_until=self.spec.freeze_until if self.frozen_at else None,
            made_at=self.made_at,
        )

    @property
    def human(self) -> float | None:
        """What people reach on the canonical metric, in the unit of the axis."""
        return None if self.spec.human is None else self.spec.human * self.axes[0].scale

    def runs(self, weights: Sequence[float] | None = None) -> RunCounts:
        """Count the runs behind the board, on data sets that score; *weights* say which, instead of the owner."""
        chosen = [dataset.weight for dataset in self.datasets] if weights is None else weights
        counts = [runs for model in self.models for runs, weight in zip(model.runs, chosen, strict=False) if weight > 0]
        return sum(counts, RunCounts())

    def slices_of(self, ref: str) -> records.BoardModelSlices:
        """Return the slices of a row on each data set, by its reference or name; NotFound without one."""
        row = self.position(ref)
        if row is None:
            raise NotFound("There is no model '{model}' on this board.", model=ref)
        model = self.models[row]
        slices = {
            one.name: decode(list[records.BoardSlice], list(pieces))
            for one, pieces in zip(self.datasets, model.slices, strict=True)
        }
        return records.BoardModelSlices(model.ref, model.name, slices)

    @property
    def provisional(self) -> bool:
        """Whether runs are still to come that the order rests on."""
        return self.runs().waiting > 0

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to rank: no model, or nothing that one could have a figure on."""
        return not self.models or not (self.datasets or any(axis.pooled for axis in self.axes))

    def position(self, ref: str) -> int | None:
        """Return the row of the model *ref*, by its reference or its name; None where it has none."""
        return next((row for row, model in enumerate(self.models) if ref in (model.ref, model.name)), None)
