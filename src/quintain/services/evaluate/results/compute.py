"""From stored predictions to figures: performance, throughput, memory, robustness, fairness.

Metrics are pure functions of predictions and gold answers, so a new metric needs no new run. What was computed once is
cached under a hash of everything that went in.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.cells import MEASURE, PLAIN, CellState
from quintain.core.hashing import content_id
from quintain.core.people import Actor
from quintain.core.records.figures import Gap
from quintain.core.task import Task
from quintain.perturbations.contract import Family, perturbation
from quintain.services.evaluate.cells.sandbox_wait import SANDBOX
from quintain.services.evaluate.results.asking_facts import asking_facts
from quintain.services.evaluate.results.axis_gaps import (
    SHARES,
    RunState,
    axis_gaps,
    counted_variants,
    counted_variants_at,
    gap,
    run_state,
    runs_needed,
)
from quintain.services.evaluate.results.dataset_results import StoredResult, guarded, sees_all
from quintain.services.evaluate.results.flips import DRAWN, share_of_cells
from quintain.services.evaluate.results.measurement_gaps import (
    count_unlike,
    measured_figures,
    measurement_gaps,
    without_withheld,
)
from quintain.services.evaluate.results.scoring import ScoringRules, metric_names, score_on
from quintain.services.evaluate.results.stored_predictions import gold_examples, read_predictions, read_samples
from quintain.services.evaluate.results.unchanged import BROKEN
from quintain.services.evaluate.results.variants import family_of, newest_variants
from quintain.services.models.registry import get_model
from quintain.services.tasks.board_settings import board_spec
from quintain.services.tasks.board_spec import APART
from quintain.services.tasks.definitions import get_task
from quintain.stats.bootstrap import FloatArray
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as cell_queries
from quintain.store.queries.evaluate import results as cache
from quintain.store.queries.evaluate.cells import CellRow

FORMAT = 10  # goes up when the shape or the meaning of a cached value changes


def results(
    db: Session, blobs: Blobs, task: Task, *, model_version_id: int | None = None, at: datetime | None = None
) -> list[StoredResult]:
    """Return the results of every model version of *task*, or of one, on every data set that it has cells for.

    With *at*, they are those of that moment: what was over later was still to come then.
    """
    rows = cell_queries.rows(db, task=task.name, model_version_id=model_version_id)
    grouped: dict[tuple[int, int], list[CellRow]] = {}
    for row in rows:
        grouped.setdefault((row.model_version.id, row.dataset_version.id), []).append(row)
    apart = _refusals_apart(db, task)
    keys_by_pair = {pair: _keys(task, group, at, apart=apart) for pair, group in grouped.items()}
    known = cache.cached(db, [key for keys in keys_by_pair.values() for key in keys.values()])
    variants = counted_variants(task) if at is None else variants_at(task, rows, at)
    fresh: dict[str, dict[str, Any]] = {}
    stored = []
    for pair, group in grouped.items():
        figures: dict[str, Any] = {}
        for part, key in keys_by_pair[pair].items():
            if key not in known:
                known[key] = _put(fresh, key, _compute(db, blobs, task, group, part, at, apart=apart))
            figures[part] = known[key]
        draws = {part: _draws_key(key) for part, key in keys_by_pair[pair].items() if part not in {PLAIN, MEASURE}}
        stored.append(_stood(replace(_result(group, figures, at), draws=draws), group, variants, at))
    if fresh:
        with transaction(db):
            cache.keep(db, fresh)
    return stored


def compute_figures(db: Session, blobs: Blobs, task: Task, row: CellRow) -> None:
    """Compute and keep what a finished cell, and those beside it, say of its model on its data.

    A share of unchanged answers waits for the last of the runs that count, and is computed once more after the last of
    those beside them.
    """
    group = cell_queries.rows(db, model_version_id=row.model_version.id, dataset_version_id=row.dataset_version.id)
    family = family_of(row.cell.variant)
    apart = _refusals_apart(db, task)
    keys = _keys(task, group, None, apart=apart)
    if family is not None:
        runs = {one.cell.variant: run_state(one.cell) for one in group}
        counting = counted_variants(task).get(family, ())
        if any(runs.get(name, RunState.WAITING) is RunState.WAITING for name in counting):
            return
        beside = [run for name, run in runs.items() if family_of(name) == family and name not in counting]
        if row.cell.variant not in counting and RunState.WAITING in beside:
            return
        keys = {part: key for part, key in keys.items() if part == family}
    known = cache.cached(db, list(keys.values()))
    fresh: dict[str, dict[str, Any]] = {}
    for part, key in keys.items():
        if key not in known and (family is not None or part in {PLAIN, MEASURE}):
            _put(fresh, key, _compute(db, blobs, task, group, part, None, apart=apart))
    if fresh:
        with transaction(db):
            cache.keep(db, fresh)


def _put(fresh: dict[str, dict[str, Any]], key: str, value: dict[str, Any]) -> dict[str, Any]:
    """Note what was computed under its key, and what was drawn beside it: few ask for it, and it is long."""
    drawn = value.pop(DRAWN, None)
    fresh[key] = value
    if drawn is not None:
        fresh[_draws_key(key)] = {DRAWN: drawn}
    return value


def computed_again(
    db: Session,
    blobs: Blobs,
    task: Task,
    group: Sequence[CellRow],
    moments: Iterable[datetime | None],
    *,
    only_known: bool,
) -> dict[str, dict[str, Any]]:
    """Compute what there is to know of a model version on a data set version at *moments* again, by its keys.

    With *only_known* that is what is known already: the rest is computed when its last run is done.
    """
    apart = _refusals_apart(db, task)
    moments_by_key: dict[str, tuple[str, datetime | None]] = {}
    for at in moments:
        for part, key in _keys(task, group, at, apart=apart).items():
            moments_by_key.setdefault(key, (part, at))
    computed: dict[str, dict[str, Any]] = {}
    for key in cache.cached(db, list(moments_by_key)) if only_known else moments_by_key:
        part, at = moments_by_key[key]
        _put(computed, key, _compute(db, blobs, task, group, part, at, apart=apart))
    return computed


def variants_at(task: Task, rows: Sequence[CellRow], at: datetime) -> dict[Family, tuple[str, ...]]:
    """Name the variants that counted at a moment, by the cells that were done then."""
    return counted_variants_at(task, {row.cell.variant for row in rows if run_state(row.cell, at) is RunState.DONE})


def _stood(
    result: StoredResult, group: Sequence[CellRow], variants: Mapping[Family, Sequence[str]], at: datetime | None
) -> StoredResult:
    """Return a result with what is missing, without shares that do not rest on all of their variants."""
    gaps, runs = axis_gaps(
        runs_needed(group[0].model_version.adapter, variants),
        {row.cell.variant: run_state(row.cell, at) for row in group},
        {row.cell.variant: row.cell.reason for row in group},
    )
    gaps = measurement_gaps(result.measurements) | gaps
    measurements = without_withheld(result.measurements)
    robustness = _share("robustness", result.robustness, gaps)
    fairness = _share("fairness", result.fairness, gaps)
    draws = {family: key for family, key in result.draws.items() if family not in gaps}
    return replace(
        result,
        gaps=gaps,
        runs=runs,
        draws=draws,
        measurements=measurements,
        robustness=robustness,
        fairness=fairness,
    )


def _share(family: Family, share: Mapping[str, Any] | None, gaps: dict[str, Gap]) -> Mapping[str, Any] | None:
    if share is not None and family in gaps:
        none = {"value": None, "low": None, "high": None, "reason": gaps[family].text}
        return {**share, "share": none, "all_rows": none}
    if share is not None and share["share"]["value"] is None:
        gaps[family] = gap("unchanged")
    return share


def _draws_key(key: str) -> str:
    return content_id([key, DRAWN])


def read_draws(db: Session, keys: Sequence[str]) -> dict[str, FloatArray]:
    """Return the resampled shares that are kept under *keys*. Models on the same data met the same resamples."""
    known = cache.cached(db, list(keys))
    return {
        key: np.frombuffer(base64.b64decode(value[DRAWN]), dtype="<f4").astype(np.float64)
        for key, value in known.items()
    }


def model_results(db: Session, blobs: Blobs, actor: Actor, ref: str) -> list[StoredResult]:
    """Return what *actor* may see of the results of the model version that *ref* means, newest data first."""
    version = get_model(db, actor, ref).version
    stored = results(db, blobs, get_task(db, version.task), model_version_id=version.id)
    ordered = sorted(stored, key=lambda result: (result.dataset, -result.number))
    return [result if sees_all(actor, version.task, result.hidden) else guarded(result) for result in ordered]


def _result(group: Sequence[CellRow], figures: Mapping[str, Any], at: datetime | None) -> StoredResult:
    first = group[0]
    measured = next((row.cell.measurements for row in group if row.cell.variant == MEASURE and _over(row, at)), {})
    scored = next((row.cell.measurements for row in group if row.cell.variant == PLAIN and _over(row, at)), None) or {}
    states = {row.cell.variant: row.cell.state if _over(row, at) else CellState.QUEUED.value for row in group}
    return StoredResult(
        model_version_id=first.model_version.id,
        dataset_version_id=first.dataset_version.id,
        dataset=first.dataset.name,
        number=first.dataset_version.number,
        role=first.dataset_version.role,
        rows=first.dataset_version.rows,
        examples=figures.get(PLAIN, {}).get("examples", 0),
        hidden=first.dataset_version.hidden,
        metrics=figures.get(PLAIN, {}).get("metrics", {}),
        slices=figures.get(PLAIN, {}).get("slices", ()),
        uneven=figures.get(PLAIN, {}).get("uneven", ()),
        confusion=figures.get(PLAIN, {}).get("confusion"),
        bounds=figures.get(PLAIN, {}).get("bounds", {}),
        measurements=measured_figures(measured, scored, figures.get(MEASURE, {})) if measured else {},
        robustness=figures.get("robustness"),
        fairness=figures.get("fairness"),
        states=newest_variants(states),
        cells=newest_variants({row.cell.variant: row.cell.id for row in group}),
        failed=newest_variants(
            {row.cell.variant: number for row in group if (number := (row.cell.measurements or {}).get("failed", 0))}
        ),
        asked=asking_facts(scored, figures.get(PLAIN, {}).get("spread")),
        refusals="apart" if figures.get(PLAIN, {}).get("apart") else None,
        waiting=sum(row.cell.waits_for == SANDBOX for row in group),
    )


def _over(row: CellRow, at: datetime | None) -> bool:
    return at is None or run_state(row.cell, at) is not RunState.WAITING


def _usable(group: Sequence[CellRow], at: datetime | None) -> dict[str, CellRow]:
    """Return the cells that figures are made of: those with predictions, and variants that the model broke."""

    def usable(row: CellRow) -> bool:
        if row.cell.variant != PLAIN and run_state(row.cell, at) is RunState.BROKEN:
            return family_of(row.cell.variant) is not None
        return bool(row.cell.predictions) and _over(row, at)

    return newest_variants({row.cell.variant: row for row in group if usable(row)})


def _refusals_apart(db: Session, task: Task) -> bool:
    """Whether the task's owner leaves what models refuse out of metrics."""
    return board_spec(db, task.name).refusals == APART


def _rules(row: CellRow, *, apart: bool) -> ScoringRules:
    """Return how the answers of a run enter figures; what is left apart matters where something was refused."""
    facts = row.cell.measurements or {}
    return ScoringRules(str(facts.get("reduce") or ""), apart and bool(facts.get("outcomes", {}).get("refused")))


def _keys(task: Task, group: Sequence[CellRow], at: datetime | None, *, apart: bool) -> dict[str, str]:
    """Name what can be computed of these cells by hashes of all that goes into it."""
    cells = _usable(group, at)
    done = {name: row.cell.predictions or BROKEN for name, row in cells.items()}
    if PLAIN not in done:
        return {}
    rules = _rules(cells[PLAIN], apart=apart)
    beside = [] if rules == ScoringRules() else [rules.reduce, rules.apart]
    base = [FORMAT, task.language, group[0].dataset_version.hash, done[PLAIN]]
    names = list(metric_names(task, group[0].dataset_version.role))
    keys = {PLAIN: content_id([*base, names, list(task.label_names), *beside])}
    if MEASURE in done:
        keys[MEASURE] = content_id([*base, MEASURE, done[MEASURE]])
    for family in SHARES:
        members = sorted((name, key) for name, key in done.items() if family_of(name) == family)
        if members:
            also = sorted(name for name in task.counted_perturbations if perturbation(name).family == family)
            keys[family] = content_id([*base, family, [list(member) for member in members], *([also] if also else [])])
    return keys


def _compute(
    db: Session,
    blobs: Blobs,
    task: Task,
    group: Sequence[CellRow],
    part: str,
    at: datetime | None,
    *,
    apart: bool,
) -> dict[str, Any]:
    cells = _usable(group, at)
    plain = read_predictions(blobs, cells[PLAIN])
    if part == PLAIN:
        version, rules = group[0].dataset_version, _rules(cells[PLAIN], apart=apart)
        sampled = read_samples(blobs, cells[PLAIN])
        answers = plain if sampled is None else sampled
        scores = score_on(task, gold_examples(blobs, version.blob), answers, role=version.role, rules=rules)
        return scores | {"apart": True} if rules.apart else scores
    if part == MEASURE:
        return count_unlike(task, plain, read_predictions(blobs, cells[MEASURE]))
    members = {name: row for name, row in cells.items() if family_of(name) == part}
    return share_of_cells(db, blobs, task, plain, members)
