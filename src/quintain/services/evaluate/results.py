"""From stored predictions to figures: performance, throughput, memory, robustness, fairness.

Metrics are pure functions of predictions and gold answers, so a new metric needs no new run. What was computed once is
cached under a hash of everything that went in.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
import polars as pl
from sqlalchemy.orm import Session

from quintain.core.cells import CellState
from quintain.core.example import Role
from quintain.core.hashing import content_id
from quintain.core.people import Actor, RoleName
from quintain.core.records import evaluate as records
from quintain.core.task import Task
from quintain.engine.predicting import EXCHANGE
from quintain.engine.sandbox.layers import LAYERS
from quintain.metrics.contract import METRICS
from quintain.metrics.evaluate import evaluate_metrics
from quintain.metrics.flips import Unchanged, kept_answers, same_answers, unchanged_share
from quintain.perturbations.contract import PERTURBATIONS, Family, perturbation
from quintain.perturbations.tables import lineage
from quintain.services.data.label_shares import label_shares
from quintain.services.evaluate.cells import VARIANT_ROWS
from quintain.services.evaluate.sandbox_wait import SANDBOX
from quintain.services.evaluate.standing import (
    SHARES,
    Gap,
    Run,
    Runs,
    counted,
    counted_at,
    gap,
    needs_of,
    run_of,
    standing,
)
from quintain.services.models.registry import get_model
from quintain.services.tasks.definitions import get_task
from quintain.stats.bootstrap import FloatArray
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as cell_queries
from quintain.store.queries.evaluate import results as cache
from quintain.store.queries.evaluate.cells import MEASURE, PLAIN, CellRow
from quintain.tasks.contract import kind_of

FORMAT = 8  # goes up when the shape or the meaning of a cached value changes
MOST_TAGS = 40
CONSISTENCY = "consistency"
DRAWN = "drawn"
BROKEN = "broken"  # stands for the predictions of a variant that the model broke
NOTHING_CHANGED: Mapping[str, Any] = {
    "share": {"value": None, "low": None, "high": None},
    "rows": 0,
    "examples": 0,
    "kinds": 0,
    "flips": 0,
    "families": {},
}
# On hidden labels, what rests on fewer examples than this would tell about single ones, and is shown to owners only.
FEWEST_SHOWN = 10

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class DatasetResult:
    """What is known of one model version on one data set version. Rates are fractions, memory is in GiB.

    *examples* are those of its *rows* that have a gold answer, on which the metrics rest. *failed* counts, by variant,
    the examples that the model gave no usable answer to: they count as wrong, and as changed. *draws* names where the
    resampled shares of robustness and fairness are kept, for `read_draws`. *waiting* counts the runs that wait for a
    machine with a sandbox. *gaps* say of each axis without a figure why it has none, and *runs* how many of the runs
    behind the axes are done.
    """

    model_version_id: int
    dataset_version_id: int
    dataset: str
    number: int
    role: str
    rows: int
    examples: int = 0
    hidden: bool = False
    metrics: Mapping[str, Any] = field(default_factory=dict)
    slices: Sequence[Mapping[str, Any]] = ()
    confusion: Mapping[str, Any] | None = None
    measurements: Mapping[str, Any] = field(default_factory=dict)
    robustness: Mapping[str, Any] | None = None
    fairness: Mapping[str, Any] | None = None
    states: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, int] = field(default_factory=dict)
    draws: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0
    gaps: Mapping[str, Gap] = field(default_factory=dict)
    runs: Runs = field(default_factory=Runs)

    def record(self) -> records.DatasetResult:
        """Give it as programs see it."""
        return records.DatasetResult(
            dataset=f"{self.dataset}@{self.number}",
            role=self.role,
            rows=self.rows,
            examples=self.examples,
            hidden=self.hidden,
            metrics=self.metrics,
            slices=list(self.slices),
            confusion=self.confusion,
            measurements=self.measurements,
            robustness=self.robustness,
            fairness=self.fairness,
            states=self.states,
            cells=self.cells,
            failed=self.failed,
            gaps=self.gaps,
            runs=self.runs.as_dict(),
        )


def results(
    db: Session, blobs: Blobs, task: Task, *, model_version_id: int | None = None, at: datetime | None = None
) -> list[DatasetResult]:
    """Give the results of every model version of *task*, or of one, on every data set that it has cells for.

    With *at*, they are those of that moment: what was over later was still to come then.
    """
    rows = cell_queries.rows(db, task=task.name, model_version_id=model_version_id)
    grouped: dict[tuple[int, int], list[CellRow]] = {}
    for row in rows:
        grouped.setdefault((row.model_version.id, row.dataset_version.id), []).append(row)
    wanted = {pair: _keys(task, group, at) for pair, group in grouped.items()}
    known = cache.cached(db, [key for keys in wanted.values() for key in keys.values()])
    variants = counted(task) if at is None else variants_at(task, rows, at)
    fresh: dict[str, dict[str, Any]] = {}
    found = []
    for pair, group in grouped.items():
        figures: dict[str, Any] = {}
        for part, key in wanted[pair].items():
            if key not in known:
                known[key] = _put(fresh, key, _compute(db, blobs, task, group, part, at))
            figures[part] = known[key]
        draws = {part: _draws_key(key) for part, key in wanted[pair].items() if part not in {PLAIN, MEASURE}}
        found.append(_stood(replace(_result(group, figures, at), draws=draws), group, variants, at))
    if fresh:
        with transaction(db):
            cache.keep(db, fresh)
    return found


def compute_figures(db: Session, blobs: Blobs, task: Task, row: CellRow) -> None:
    """Compute and keep what a finished cell, and those beside it, say of its model on its data.

    A share of unchanged answers waits for the last of the runs that count, and is computed once more after the last of
    those beside them.
    """
    group = cell_queries.rows(db, model_version_id=row.model_version.id, dataset_version_id=row.dataset_version.id)
    family = family_of(row.cell.variant)
    wanted = _keys(task, group, None)
    if family is not None:
        runs = {one.cell.variant: run_of(one.cell) for one in group}
        counting = counted(task).get(family, ())
        if any(runs.get(name, Run.WAITING) is Run.WAITING for name in counting):
            return
        beside = [run for name, run in runs.items() if family_of(name) == family and name not in counting]
        if row.cell.variant not in counting and Run.WAITING in beside:
            return
        wanted = {part: key for part, key in wanted.items() if part == family}
    known = cache.cached(db, list(wanted.values()))
    fresh: dict[str, dict[str, Any]] = {}
    for part, key in wanted.items():
        if key not in known and (family is not None or part in {PLAIN, MEASURE}):
            _put(fresh, key, _compute(db, blobs, task, group, part, None))
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


def variants_at(task: Task, rows: Sequence[CellRow], at: datetime) -> dict[Family, tuple[str, ...]]:
    """Name the variants that counted at a moment, by the cells that were done then."""
    return counted_at(task, {row.cell.variant for row in rows if run_of(row.cell, at) is Run.DONE})


def _stood(
    found: DatasetResult, group: Sequence[CellRow], variants: Mapping[Family, Sequence[str]], at: datetime | None
) -> DatasetResult:
    """Say what is missing, and take a share away that does not rest on all of its variants."""
    gaps, runs = standing(
        needs_of(group[0].model_version.adapter, variants),
        {row.cell.variant: run_of(row.cell, at) for row in group},
        {row.cell.variant: row.cell.reason for row in group},
    )
    robustness = _share("robustness", found.robustness, gaps)
    fairness = _share("fairness", found.fairness, gaps)
    draws = {family: key for family, key in found.draws.items() if family not in gaps}
    return replace(found, gaps=gaps, runs=runs, draws=draws, robustness=robustness, fairness=fairness)


def _share(family: Family, share: Mapping[str, Any] | None, gaps: dict[str, Gap]) -> Mapping[str, Any] | None:
    if share is not None and family in gaps:
        none = {"value": None, "low": None, "high": None, "reason": gaps[family]["text"]}
        return {**share, "share": none, "all_rows": none}
    if share is not None and share["share"]["value"] is None:
        gaps[family] = gap("unchanged")
    return share


def _draws_key(key: str) -> str:
    return content_id([key, DRAWN])


def read_draws(db: Session, keys: Sequence[str]) -> dict[str, FloatArray]:
    """Give the resampled shares that are kept under *keys*. Models on the same data met the same resamples."""
    known = cache.cached(db, list(keys))
    return {
        key: np.frombuffer(base64.b64decode(value[DRAWN]), dtype="<f4").astype(np.float64)
        for key, value in known.items()
    }


def model_results(db: Session, blobs: Blobs, actor: Actor, ref: str) -> list[DatasetResult]:
    """Give what *actor* may see of the results of the model version that *ref* means, newest data first."""
    version = get_model(db, actor, ref).version
    found = results(db, blobs, get_task(db, version.task), model_version_id=version.id)
    ordered = sorted(found, key=lambda one: (one.dataset, -one.number))
    return [one if sees_all(actor, version.task, one.hidden) else guarded(one) for one in ordered]


def newest_only(found: Sequence[DatasetResult]) -> list[DatasetResult]:
    """Keep the newest version of each data set."""
    newest = {one.dataset: one for one in sorted(found, key=lambda one: one.number)}
    return [newest[name] for name in sorted(newest)]


def sees_all(actor: Actor, task: str, hidden: bool) -> bool:
    """Say whether *actor* may see figures on single examples: everybody on open labels, on hidden ones the owners."""
    return not hidden or actor.has(RoleName.OWNER, task)


def missing_layers(measured: Mapping[str, Any]) -> list[str]:
    """List the layers of the sandbox that did not hold when something was *measured*; what was not noted held."""
    held = measured.get("layers")
    return [] if held is None else [name for name in LAYERS if name not in held]


def guarded(found: DatasetResult) -> DatasetResult:
    """Leave out what would tell the hidden label of single examples: small slices, labels that were rarely answered.

    Without this, a model that answers one label for one example only would read that example's label off the
    confusion matrix, and a tag that one example has would do the same; so would a tag that all but one have, by what is
    missing to the whole.
    """
    slices = [part for part in found.slices if not few_of(part["examples"], found.rows)]
    table = found.confusion
    if table is not None:
        answered = [sum(column) for column in zip(*table["counts"], strict=True)]
        # An example that goes unanswered tells its label as well as one that is answered like no other.
        if any(0 < number < FEWEST_SHOWN for number in (*answered, sum(table["unanswered"]))):
            table = None
    return replace(found, slices=slices, confusion=table)


def few_of(examples: int, rows: int) -> bool:
    """Say whether a figure on so many of *rows* examples tells of single ones: of those it has, or those it lacks."""
    return examples < FEWEST_SHOWN or 0 < rows - examples < FEWEST_SHOWN


def _result(group: Sequence[CellRow], figures: Mapping[str, Any], at: datetime | None) -> DatasetResult:
    first = group[0]
    measured = next((row.cell.measurements for row in group if row.cell.variant == MEASURE and _over(row, at)), {})
    states = {row.cell.variant: row.cell.state if _over(row, at) else CellState.QUEUED.value for row in group}
    return DatasetResult(
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
        confusion=figures.get(PLAIN, {}).get("confusion"),
        measurements={**measured, **figures.get(MEASURE, {})} if measured else {},
        robustness=figures.get("robustness"),
        fairness=figures.get("fairness"),
        states=newest_variants(states),
        cells=newest_variants({row.cell.variant: row.cell.id for row in group}),
        failed=newest_variants(
            {row.cell.variant: number for row in group if (number := (row.cell.measurements or {}).get("failed", 0))}
        ),
        waiting=sum(row.cell.waits_for == SANDBOX for row in group),
    )


def _over(row: CellRow, at: datetime | None) -> bool:
    return at is None or run_of(row.cell, at) is not Run.WAITING


def _usable(group: Sequence[CellRow], at: datetime | None) -> dict[str, CellRow]:
    """Give the cells that figures are made of: those with predictions, and variants that the model broke."""

    def usable(row: CellRow) -> bool:
        if row.cell.variant != PLAIN and run_of(row.cell, at) is Run.BROKEN:
            return family_of(row.cell.variant) is not None
        return bool(row.cell.predictions) and _over(row, at)

    return newest_variants({row.cell.variant: row for row in group if usable(row)})


def _keys(task: Task, group: Sequence[CellRow], at: datetime | None) -> dict[str, str]:
    """Name what can be computed of these cells by hashes of all that goes into it."""
    done = {name: row.cell.predictions or BROKEN for name, row in _usable(group, at).items()}
    if PLAIN not in done:
        return {}
    base = [FORMAT, group[0].dataset_version.hash, done[PLAIN]]
    keys = {PLAIN: content_id([*base, list(metric_names(task, group[0].dataset_version.role)), list(task.label_names)])}
    if MEASURE in done:
        keys[MEASURE] = content_id([*base, MEASURE, done[MEASURE]])
    for family in SHARES:
        members = sorted((name, key) for name, key in done.items() if family_of(name) == family)
        if members:
            keys[family] = content_id([*base, family, [list(member) for member in members]])
    return keys


def metric_names(task: Task, role: str = "") -> tuple[str, ...]:
    """List the metrics that are computed for *task*: its own, as far as they come from predictions.

    Contrast sets are also scored by whether they are right as a whole, where the type of answers allows it.
    """
    own = tuple(name for name in task.metrics if name in METRICS)
    suits = kind_of(task).answer_type in METRICS.get(CONSISTENCY).answer_types
    return (*own, CONSISTENCY) if role == Role.CONTRAST and suits and CONSISTENCY not in own else own


def family_of(variant: str) -> Family | None:
    """Say to which family a variant belongs; None for the plain one and the measurement."""
    return None if variant in {PLAIN, MEASURE} else perturbation(variant.rpartition(".v")[0]).family


def newest_variants(found: Mapping[str, Found]) -> dict[str, Found]:
    """Keep, of each perturbation, only what belongs to its newest version: two versions are never counted together.

    >>> newest_variants({"plain": 1, "typos.v1": 2, "typos.v2": 3})
    {'plain': 1, 'typos.v2': 3}
    """
    newest: dict[str, int] = {}
    for variant in found:
        name, _, version = variant.rpartition(".v")
        if name:
            newest[name] = max(newest.get(name, 0), int(version))
    older = {v for v in found if (name := v.rpartition(".v")[0]) and v != f"{name}.v{newest[name]}"}
    return {variant: value for variant, value in found.items() if variant not in older}


def _compute(
    db: Session, blobs: Blobs, task: Task, group: Sequence[CellRow], part: str, at: datetime | None
) -> dict[str, Any]:
    cells = _usable(group, at)
    plain = read_predictions(blobs, cells[PLAIN])
    if part == PLAIN:
        version = group[0].dataset_version
        return score_table(task, pl.read_parquet(blobs.path(version.blob)), plain, role=version.role)
    if part == MEASURE:
        return _unlike(task, plain, read_predictions(blobs, cells[MEASURE]))
    members = {name: row for name, row in cells.items() if family_of(name) == part}
    return _unchanged(db, blobs, task, plain, members)


def _unlike(task: Task, plain: pl.DataFrame, measured: pl.DataFrame) -> dict[str, Any]:
    """Count the examples that were answered otherwise while the clock ran than in the run that is scored."""
    both = measured.select("id", pl.col("prediction").alias("timed")).join(plain, on="id", how="inner")
    same = same_answers(kind_of(task).answer_type, both["timed"], both["prediction"])
    return {"compared": both.height, "unlike_scored": int((~same).sum())}


def read_predictions(blobs: Blobs, row: CellRow) -> pl.DataFrame:
    """Read the predictions of a cell that is done; older ones say of no example that the model failed on it."""
    table = pl.scan_parquet(blobs.path(str(row.cell.predictions)), glob=False).drop(EXCHANGE, strict=False).collect()
    return table if "failure" in table.columns else table.with_columns(failure=pl.lit(None, dtype=pl.String))


def exchanges(blobs: Blobs, row: CellRow) -> pl.DataFrame:
    """Read what the model of a cell was asked in words and wrote, by example; no more than ids where it was not."""
    table = pl.scan_parquet(blobs.path(str(row.cell.predictions)), glob=False)
    return table.select("id", *(name for name in table.collect_schema() if name in EXCHANGE)).collect()


def score_table(task: Task, examples: pl.DataFrame, predictions: pl.DataFrame, *, role: str = "") -> dict[str, Any]:
    """Score *predictions* against the gold answers of *examples*, which are of a *role*, overall and by tag."""
    table = examples.filter(pl.col("answer").is_not_null()).join(
        predictions, on="id", how="left", maintain_order="left"
    )
    if table.is_empty():
        return {"metrics": {}, "slices": [], "examples": 0}
    beside: dict[str, Any] = {}
    if "probabilities" in table.columns:
        answered = table.filter(pl.col("prediction").is_not_null())["probabilities"]
        if len(answered) and answered.null_count() == 0:  # where it failed there are none, and it counts as wrong
            beside["probabilities"] = table["probabilities"].struct.unnest()
    people = label_shares(task, metric_names(task), table["meta"]) if "meta" in table.columns else None
    if people is not None:
        beside["distributions"] = people
    if table["group"].null_count() < table.height:
        beside["groups"] = table["group"].fill_null(table["id"])
    common = table["tags"].explode().drop_nulls().value_counts(sort=True).head(MOST_TAGS).get_column("tags").to_list()
    tags = table.select(pl.col("tags").list.filter(pl.element().is_in(common))).to_series() if common else None
    by = {"tag": tags} if tags is not None else None
    # A model that gives no probabilities has no log loss, and examples that nobody voted on no soft metric.
    absent = {"probabilities", "distributions"} - beside.keys()
    names = [name for name in metric_names(task, role) if not absent & set(METRICS.get(name).needs)]
    found = evaluate_metrics(task, table["answer"], table["prediction"], names, by=by, **beside)
    return found.as_dict() | {"confusion": confusion(task, table)}


def confusion(task: Task, table: pl.DataFrame) -> dict[str, Any] | None:
    """Count which label (row) was answered by which (column), and was not; None where answers are not labels."""
    if not kind_of(task).needs_labels:
        return None
    labels = list(task.label_names)
    places = {label: place for place, label in enumerate(labels)}
    counts, unanswered = [[0] * len(labels) for _ in labels], [0] * len(labels)
    for answer, prediction, number in table.group_by("answer", "prediction").len().iter_rows():
        if answer in places and prediction in places:
            counts[places[answer]][places[prediction]] = number
        elif answer in places:
            unanswered[places[answer]] += number
    return {"labels": labels, "counts": counts, "unanswered": unanswered}


def _unchanged(
    db: Session, blobs: Blobs, task: Task, plain: pl.DataFrame, members: Mapping[str, CellRow]
) -> dict[str, Any]:
    table = pl.concat([flip_table(db, blobs, plain, row) for row in members.values()])
    if table.is_empty():
        return dict(NOTHING_CHANGED)
    found = _unchanged_share(task, table, perturbed_ids(plain))
    return _shape(found, table) | {DRAWN: base64.b64encode(found.drawn.astype("<f4").tobytes()).decode()}


def perturbed_ids(plain: pl.DataFrame) -> pl.Series:
    """Give the ids of the examples that perturbations are made of, from the answers to all examples."""
    return plain["id"].sort().head(VARIANT_ROWS)


def unchanged_figures(task: Task, table: pl.DataFrame, examples: pl.Series) -> dict[str, Any]:
    """Give the share of unchanged answers of a table with `parent`, `family`, `group`, `before` and `after`.

    *examples* are the ids of all that were perturbed: an answer to one that did not change is unchanged.
    """
    if table.is_empty():
        return dict(NOTHING_CHANGED)
    return _shape(_unchanged_share(task, table, examples), table)


def _shape(found: Unchanged, table: pl.DataFrame) -> dict[str, Any]:
    """Give the figures as plain data, with the perturbations on which the model broke its run."""
    broken = table.filter(BROKEN)["family"].unique().sort().to_list() if BROKEN in table.columns else []
    return found.as_dict() | {BROKEN: broken}


def _unchanged_share(task: Task, table: pl.DataFrame, examples: pl.Series) -> Unchanged:
    """Measure the share; the figure is of the paper's perturbations, and the others stand beside it."""
    same = kept_answers(kind_of(task).answer_type, table["before"], table["after"])
    if BROKEN in table.columns:
        same &= ~table[BROKEN].to_numpy()
    every = pl.DataFrame({"parent": examples}).join(table.select("family").unique(), how="cross")
    left = every.join(table, on=["parent", "family"], how="anti").sort("family", "parent")
    rows = pl.concat([table.select("parent", "family", "group"), left], how="diagonal")
    return unchanged_share(
        np.concatenate([same, np.ones(left.height, dtype=bool)]),
        rows["family"].to_list(),
        changed=np.arange(rows.height) < table.height,
        groups=rows["group"].to_list(),
        clusters=rows["parent"].rank("dense").cast(pl.Int64).to_numpy() - 1,
        beside=[name for name, member in PERTURBATIONS.items() if not member.in_paper],
    )


def flip_table(db: Session, blobs: Blobs, plain: pl.DataFrame, row: CellRow) -> pl.DataFrame:
    """Put the answers before and after a perturbation side by side, one row for each changed example."""
    name = row.cell.variant
    variant = cell_queries.variant(db, row.dataset_version.id, name)
    schema = {"id": pl.String, "parent": pl.String, "group": pl.String, "family": pl.String}
    if variant is None or variant.rows == 0:
        kept = plain.schema["prediction"]
        return pl.DataFrame(schema={**schema, "before": kept, "after": kept, BROKEN: pl.Boolean})
    table = pl.read_parquet(blobs.path(variant.blob))
    said = read_predictions(blobs, row) if row.cell.predictions else None
    return side_by_side(name.rpartition(".v")[0], table, plain, said)


def side_by_side(
    family: str, changed: pl.DataFrame, plain: pl.DataFrame, perturbed: pl.DataFrame | None
) -> pl.DataFrame:
    """Join the *changed* examples of a perturbation with what was answered to them and to their parents.

    Where the model broke the run there is nothing *perturbed*: all of its rows are `broken`, which counts as changed.
    """
    origin = lineage(changed).select("parent", pl.col("group").cast(pl.String))
    named = changed.select("id").hstack(origin).with_columns(family=pl.lit(family))
    before = plain.select(pl.col("id").alias("parent"), pl.col("prediction").alias("before"))
    joined = named.join(before, on="parent", how="left", maintain_order="left")
    if perturbed is None:
        nothing = pl.lit(None, dtype=plain.schema["prediction"])
        return joined.with_columns(nothing.alias("after"), pl.lit(value=True).alias(BROKEN))
    after = perturbed.select("id", pl.col("prediction").alias("after"))
    answered = joined.join(after, on="id", how="left", maintain_order="left")
    return answered.with_columns(pl.lit(value=False).alias(BROKEN))
