"""The board of a task: cells and weights seen as a ranking. Computed, never stored.

`board` gives the matrix of models × axes × data sets that pages, exports and snapshots are made from; `board_rank`
ranks it by a reader's view of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.adapters.contract import ADAPTERS
from quintain.core.cells import MEASURE, PLAIN
from quintain.core.people import Actor
from quintain.core.records.base import plain
from quintain.core.records.figures import Figure, Gap, Machine, RunCounts
from quintain.core.task import ABILITY, VMER, Task
from quintain.engine.sandbox.layers import missing_layers
from quintain.metrics.contract import METRICS
from quintain.services.access.permissions import require_owner
from quintain.services.board.abilities import figures_of, shown_abilities
from quintain.services.board.gaps import figures_at_hand, mostly_uneven, on_machine, without_ground
from quintain.services.board.parts import Axis, BoardMatrix, BoardPart, MatrixDataset, MatrixModel, PlainSlice
from quintain.services.board.rounds import pooled_rate, rounds_of
from quintain.services.board.seeds import merge_seeds
from quintain.services.data.fitness import fitness
from quintain.services.evaluate.results.axis_gaps import MEASURED, SHARES, counted_variants
from quintain.services.evaluate.results.compute import results
from quintain.services.evaluate.results.dataset_results import StoredResult, guarded, sees_all
from quintain.services.evaluate.results.measurement_gaps import share_disturbed
from quintain.services.models.registry import ModelInfo, ModelVersionInfo, list_models
from quintain.services.tasks.board_settings import board_spec, frozen_at
from quintain.services.tasks.board_spec import BoardSpec
from quintain.services.tasks.definitions import get_task, leading_metric
from quintain.services.tasks.machines import Measurement, class_of, ranked_machine
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.queries.board import boards as queries
from quintain.store.queries.board.boards import CellFacts
from quintain.store.queries.tasks import board_settings


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What is known of one model version on one data set, with when and from what."""

    result: StoredResult
    facts: Mapping[str, CellFacts]


def board(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    task_name: str,
    part: BoardPart | None = None,
    *,
    at: datetime | None = None,
    before: Mapping[str, int] | None = None,
) -> BoardMatrix:
    """Compute the board of *task_name* as *actor* may see it, or the *part* of it that is asked for.

    While the board is frozen it shows what was known when it was; its owner may ask for the live one. *at* gives the
    board of a moment, by the settings of then; who is shown is as it is now. A model that *before* names stands there
    with its newest version before that number.
    """
    part = part or BoardPart()
    task = get_task(db, task_name)
    spec = board_spec(db, task_name)
    if part.live:
        require_owner(actor, task_name)
    moment = None if part.live else frozen_at(spec)
    if at is not None:
        then = board_spec(db, task_name, at=at)
        spec, moment = replace(then, models=spec.models, hidden_models=spec.hidden_models), at
    metric = spec.metric or task.canonical_metric
    if metric in {VMER, ABILITY} and (part.tag or part.language):
        metric = leading_metric(task)  # rounds and abilities are not divided by tag or language
    abilities = figures_of(shown_abilities(db, task_name, moment)) if metric == ABILITY else {}
    axes = _axes(metric, spec)
    variants = counted_variants(task)
    outcomes = _outcomes(db, blobs, actor, task, moment)
    datasets = _datasets(db, blobs, task, spec, moment, part.tag)
    languages = tuple(sorted({dataset.language for dataset in datasets}))
    tags = _tags(outcomes, datasets)
    datasets = _chosen(datasets, outcomes, part)
    shown = [info for info in list_models(db, actor, task_name) if spec.shows(info.name)]
    rounds = rounds_of(db, task_name, shown, moment)
    chosen = ((info, version_at(info, moment, (before or {}).get(info.name))) for info in shown)
    versions = [(info, version) for info, version in chosen if version is not None]
    machine = ranked_machine(spec.machine, _measurements([version for _, version in versions], datasets, outcomes))
    models = [
        _model(
            info,
            version,
            [outcomes.get((version.id, dataset.id)) for dataset in datasets],
            axes=axes,
            stands=[
                figures_at_hand(version, dataset, one.result if one else None, variants)
                for dataset in datasets
                for one in [outcomes.get((version.id, dataset.id))]
            ],
            machine=machine.name,
            metric=metric,
            tag=part.tag,
            pooled=abilities.get(version.ref) if metric == ABILITY else pooled_rate(rounds, version.ref, axes[0].scale),
        )
        for info, version in versions
    ]
    foreign = {family for family in SHARES if family not in variants}  # too few kinds are for the task's languages
    datasets = [
        replace(
            dataset,
            inapplicable=tuple(
                axis.name
                for axis in axes
                if axis.name in foreign
                or without_ground(models, axis.name, place)
                or mostly_uneven(models, axis.name, place)
            ),
        )
        for place, dataset in enumerate(datasets)
    ]
    return BoardMatrix(
        task=task,
        metric=metric,
        axes=axes,
        datasets=tuple(datasets),
        rounds=rounds,
        models=tuple(models if part.seeds_apart else merge_seeds(models)),
        spec=spec,
        part=part,
        tags=tags,
        languages=languages,
        frozen_at=None if at else moment,
        made_at=at or now(),
        machine=machine,
    )


def _outcomes(
    db: Session, blobs: Blobs, actor: Actor, task: Task, moment: datetime | None
) -> dict[tuple[int, int], _Outcome]:
    """Return all results by model and data set version; of a frozen board, those that were there at *moment*.

    On hidden labels, what rests on few examples is for the task's owners, as everywhere.
    """
    facts = queries.cell_facts(db, task.name)
    outcomes = {}
    for result in results(db, blobs, task, at=moment):
        known = {variant: facts[cell] for variant, cell in result.cells.items() if cell in facts}
        if moment is not None:
            known = {name: fact for name, fact in known.items() if fact.finished_at and fact.finished_at <= moment}
        shown = result if sees_all(actor, task.name, result.hidden) else guarded(result)
        outcomes[(result.model_version_id, result.dataset_version_id)] = _Outcome(shown, known)
    return outcomes


def _measurements(
    versions: Sequence[ModelVersionInfo],
    datasets: Sequence[MatrixDataset],
    outcomes: Mapping[tuple[int, int], _Outcome],
) -> Iterator[Measurement]:
    """List on what classes of machines the models of the board were measured, on data sets that score if any does."""
    scoring = [dataset for dataset in datasets if dataset.weight > 0] or datasets
    for version in versions:
        for dataset in scoring:
            outcome = outcomes.get((version.id, dataset.id))
            if outcome is not None and outcome.result.measurements.get("throughput") is not None:
                yield Measurement(version.ref, class_of(outcome.result.measurements), _measured_at(outcome) or "")


def version_at(info: ModelInfo, moment: datetime | None, before: int | None = None) -> ModelVersionInfo | None:
    """Choose the version that stands on the board: the newest that is not withdrawn and, if frozen, was there.

    With a number *before*, it is the newest of those before that one.
    """
    for version in info.versions:
        late = (moment is not None and version.created_at > moment) or (before is not None and version.number >= before)
        if version.withdrawn_at is None and not late:
            return version
    return None


def _datasets(
    db: Session, blobs: Blobs, task: Task, spec: BoardSpec, moment: datetime | None, tag: str | None
) -> list[MatrixDataset]:
    versions = board_settings.evaluated_versions(db, task.name, before=moment)
    weights = spec.dataset_weights([(name, version.language) for version, name in versions])
    return [
        MatrixDataset(
            ref=f"{task.name}/{name}@{version.number}",
            name=name,
            hash=version.hash,
            role=version.role,
            language=version.language,
            rows=version.rows,
            weight=weight,
            blob=version.blob,
            id=version.id,
            warnings=fitness(blobs, task, version.blob, hidden=version.hidden, tag=tag),
        )
        for (version, name), weight in zip(versions, weights, strict=True)
    ]


def _tags(outcomes: Mapping[tuple[int, int], _Outcome], datasets: Sequence[MatrixDataset]) -> tuple[str, ...]:
    scoring = {dataset.id for dataset in datasets if dataset.weight > 0}
    names = {
        str(piece["value"])
        for (_, dataset), one in outcomes.items()
        if dataset in scoring
        for piece in one.result.slices
        if piece["by"] == "tag"
    }
    return tuple(sorted(names))


def _chosen(
    datasets: Sequence[MatrixDataset], outcomes: Mapping[tuple[int, int], _Outcome], part: BoardPart
) -> list[MatrixDataset]:
    """Keep the data sets of the language, and those in which the tag occurs."""
    chosen = [dataset for dataset in datasets if part.language in (None, dataset.language)]
    if part.tag is None:
        return chosen
    with_tag = {
        place for (_, place), one in outcomes.items() if any(piece["value"] == part.tag for piece in one.result.slices)
    }
    return [dataset for dataset in chosen if dataset.id in with_tag]


def _axes(name: str, spec: BoardSpec) -> tuple[Axis, ...]:
    return (
        _performance_axis(name),
        Axis("throughput", "Throughput", "examples/s"),
        Axis("memory", "Memory", "GiB", lower=True, cap=spec.caps.get("memory")),
        Axis("fairness", "Fairness", "%", scale=100.0),
        Axis("robustness", "Robustness", "%", scale=100.0),
    )


def _performance_axis(name: str) -> Axis:
    # A rate of which less is better has a natural cap: what is left of the whole is the good, here 1 − vMER.
    if name == VMER:
        return Axis("performance", "vMER", "%", lower=True, cap=100.0, scale=100.0, pooled=True)
    if name == ABILITY:
        return Axis("performance", "Ability", pooled=True)
    metric = METRICS.get(name)
    low, high = metric.range
    scale = 100.0 if (low, high) == (0.0, 1.0) else 1.0
    lower = metric.better == "lower"
    cap = high * scale if lower and np.isfinite(high) else None
    return Axis("performance", metric.title, "%" if scale > 1 else "", lower, cap, scale)


def _model(
    info: ModelInfo,
    version: ModelVersionInfo,
    outcomes: Sequence[_Outcome | None],
    *,
    axes: Sequence[Axis],
    stands: Sequence[tuple[Mapping[str, Gap], RunCounts]],
    machine: str | None,
    metric: str,
    tag: str | None,
    pooled: Figure | None,
) -> MatrixModel:
    location = ADAPTERS.get(version.adapter).place
    cannot = (*MEASURED, *SHARES) if location == "file" else MEASURED if location == "remote" else ()
    cells = {
        axis.name: [
            on_machine(axis.name, None if one is None else _value(axis, one, metric, tag), gaps.get(axis.name), machine)
            for one, (gaps, _) in zip(outcomes, stands, strict=True)
        ]
        for axis in axes
    }
    return MatrixModel(
        ref=version.ref,
        name=info.name,
        number=version.number,
        hash=version.hash,
        owner=None if info.visibility == "anonymous" else info.owner,
        visibility=info.visibility,
        adapter=version.adapter,
        predictions_only=location == "file",
        family=version.meta.get("family"),
        created_at=version.created_at,
        values={name: [figure for figure, _ in pairs] for name, pairs in cells.items()},
        gaps={name: [why for _, why in pairs] for name, pairs in cells.items()},
        runs=[runs for _, runs in stands],
        pooled={axis.name: pooled for axis in axes if axis.pooled},
        slices=[[] if outcome is None else _slices(axes[0], outcome.result, metric) for outcome in outcomes],
        cannot=cannot,
        hashes=(version.hash,),
        draws={
            name: tuple((outcome.result.draws.get(name) if outcome else None,) for outcome in outcomes)
            for name in SHARES
        },
        predictions=tuple(
            (outcome.facts[PLAIN].predictions if outcome is not None and PLAIN in outcome.facts else None,)
            for outcome in outcomes
        ),
    )


def _value(axis: Axis, outcome: _Outcome, metric: str, tag: str | None) -> Figure | None:
    result = outcome.result
    if axis.name in MEASURED:
        return _measured(axis, outcome)
    if axis.name in SHARES:
        share = result.fairness if axis.name == "fairness" else result.robustness
        if share is None:
            return None
        ends = [fact.finished_at for name, fact in outcome.facts.items() if name not in {PLAIN, MEASURE}]
        figure = _scaled(share["share"], axis.scale, share["examples"], max(filter(None, ends), default=None))
        return None if figure is None else replace(figure, pairs=share["rows"], kinds=share["kinds"])
    metrics, rows = result.metrics, result.examples
    if tag is not None:
        piece = next((piece for piece in result.slices if piece["value"] == tag), None)
        if piece is None:
            return None
        metrics, rows = piece["metrics"], piece["examples"]
    end = outcome.facts[PLAIN].finished_at if PLAIN in outcome.facts else None
    figure = _scaled(metrics[metric], axis.scale, rows, end) if metric in metrics else None
    bounds = result.bounds.get(metric) if tag is None else None
    if figure is not None and result.asked is not None:
        figure = replace(figure, outcomes=result.asked["outcomes"], method=result.asked["method"])
    if figure is None or bounds is None:
        return figure
    low, high = bounds["low"] * axis.scale, bounds["high"] * axis.scale
    worst, best = (high, low) if axis.lower else (low, high)
    return replace(figure, failed=bounds["examples"], worst=worst, best=best)


def _measured(axis: Axis, outcome: _Outcome) -> Figure | None:
    measured = outcome.result.measurements
    value = measured.get(axis.name)
    if value is None:
        return None
    half = measured.get(f"{axis.name}_half")
    low, high = (max(0.0, value - half), value + half) if half else (None, None)
    lacked = missing_layers(measured)
    machine = measured.get("machine") or None
    return Figure(
        value,
        low,
        high,
        n=measured.get("examples"),
        at=_measured_at(outcome),
        machine_class=class_of(measured),
        machine=Machine(**machine) if isinstance(machine, Mapping) else machine,
        without=(lacked if measured["layers"] else ["all"]) if lacked else None,
        busy=share_disturbed(measured),
    )


def _measured_at(outcome: _Outcome) -> str | None:
    return _when(outcome.facts[MEASURE].finished_at if MEASURE in outcome.facts else None)


def _slices(axis: Axis, result: StoredResult, metric: str) -> list[PlainSlice]:
    pieces: list[PlainSlice] = []
    for piece in result.slices:
        figure = _scaled(piece["metrics"].get(metric, {"value": None}), axis.scale, piece["examples"], None)
        if figure is not None:
            pieces.append({"by": piece["by"], "name": piece["value"], **plain(figure)})
    return pieces


def _scaled(estimate: Mapping[str, Any], scale: float, rows: int | None, at: datetime | None) -> Figure | None:
    if estimate["value"] is None:
        return None
    low, high = (None if estimate[key] is None else estimate[key] * scale for key in ("low", "high"))
    return Figure(estimate["value"] * scale, low, high, rows, _when(at))


def _when(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds") if moment else None
