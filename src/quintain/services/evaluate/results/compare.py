"""Two models on the same examples: whether the difference is real, where they differ, how much data would tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.cells import PLAIN, CellState
from quintain.core.errors import BadInput, Forbidden, Unavailable
from quintain.core.hashing import content_id
from quintain.core.people import OPERATOR, Actor
from quintain.core.records.base import decode, plain, to_plain
from quintain.core.records.evaluate import AnswerDifference, Comparison, DatasetComparison, PairedEstimate
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.metrics.aligned import Aligned, align
from quintain.metrics.evaluate import metric_named
from quintain.metrics.flips import same_answers
from quintain.metrics.paired import paired_metric
from quintain.services.data.inputs import require_inputs
from quintain.services.data.label_shares import label_shares
from quintain.services.evaluate.results.dataset_results import sees_all
from quintain.services.evaluate.results.examples import example_scores
from quintain.services.evaluate.results.scoring import beside
from quintain.services.evaluate.results.stored_predictions import gold_examples, read_predictions
from quintain.services.jobs import queue
from quintain.services.jobs.figures import ReportProgress
from quintain.services.jobs.memory import WarmValues
from quintain.services.jobs.running import JobRun
from quintain.services.models.registry import get_model, versions_by_id
from quintain.services.tasks.definitions import get_task, leading_metric
from quintain.stats.paired import examples_to_separate, mcnemar
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.queries.evaluate import results as cache
from quintain.store.queries.evaluate.cells import CellRow
from quintain.tasks.contract import kind_of

FORMAT = 3  # goes up when the shape or the meaning of a kept comparison changes
AT_ONCE = 50_000  # examples that are compared while somebody waits
SOON_S = 5
JOB = "comparison"
PENDING = "comparison_pending"


class DifferingAnswers(WarmValues[pl.DataFrame]):
    """Where the pairs of models differ that were compared last, for as long as the workspace is open."""

    def __init__(self) -> None:
        super().__init__(4)


def compare(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    first: str,
    second: str,
    *,
    wait: bool = False,
    tell: ReportProgress | None = None,
) -> Comparison:
    """Compare two models of one task on all data sets that both have predictions for.

    What was compared once is known. Of much data a worker does it the first time, and who asked is told to come back by
    an error with the code PENDING, unless they can *wait*.
    """
    task, pairs, refs = _pairs(db, actor, first, second)
    keys = {name: _key(task, *pair) for name, pair in pairs.items()}
    known = cache.cached(db, list(keys.values()))
    left = [name for name, key in keys.items() if key not in known]
    if not wait and sum(pairs[name][0].dataset_version.rows for name in left) > AT_ONCE:
        cell, other = next(iter(pairs.values()))
        queue.enqueue(db, JOB, f"{cell.model_version.id}:{other.model_version.id}", task=task.name)
        raise Unavailable(
            "The two are being compared: there is much to read, so that a worker does it.",
            retry_after=SOON_S,
            remedy="Try again in a moment; where no worker runs, start one: quintain worker.",
            page="This page looks again by itself.",
            code="comparison_pending",
        )
    for number, name in enumerate(left):
        if tell is not None:
            tell(number, len(left))
        examples = gold_examples(blobs, pairs[name][0].dataset_version.blob).examples
        table = _joined(blobs, examples, *pairs[name])
        compared = _compare_dataset(task, pairs[name][0], table) if table.height else None
        known[keys[name]] = to_plain({"compared": compared})
        with transaction(db):
            cache.keep(db, {keys[name]: known[keys[name]]})
    datasets = [known[keys[name]]["compared"] for name in pairs]
    return Comparison(task.name, *refs, [decode(DatasetComparison, fields) for fields in datasets if fields])


def do_comparison(run: JobRun) -> None:
    """Compare two models for those who will ask: a worker's job."""
    with run.sessions() as db:
        ids = [int(version_id) for version_id in run.subject.split(":")]
        versions = versions_by_id(db, ids)
        compare(
            db,
            run.blobs,
            OPERATOR,
            *(versions[version_id].ref for version_id in ids),
            wait=True,
            tell=run.report_progress,
        )


def _key(task: Task, cell: CellRow, other: CellRow) -> str:
    """Name a comparison by all that goes into it."""
    data = [cell.dataset_version.hash, cell.dataset.name, cell.dataset_version.number, cell.dataset_version.hidden]
    files = [cell.cell.predictions, other.cell.predictions]
    return content_id(["comparison", FORMAT, data, files, leading_metric(task), list(task.label_names), task.language])


def differences(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    first: str,
    second: str,
    dataset: str,
    *,
    only: str = "",
    offset: int = 0,
    limit: int = 20,
) -> tuple[list[AnswerDifference], int]:
    """List the examples of *dataset* that two models answer differently, and how many there are.

    *only* may be `first` or `second`: those that only this one has right, or more nearly right.
    """
    task, pairs, _ = _pairs(db, actor, first, second)
    if dataset not in pairs:
        known = ", ".join(pairs) or Text("none")
        raise BadInput(
            "The two have not both been run on '{dataset}'.",
            dataset=dataset,
            known=known,
            remedy="Both have been run on: {known}.",
        )
    cell, other = pairs[dataset]
    if not sees_all(actor, task.name, cell.dataset_version.hidden):
        raise Forbidden(
            "The labels of {dataset} are hidden, and so are single examples with what is right on them.",
            dataset=dataset,
            remedy="Data sets with open labels show them to everybody.",
            code="labels_hidden",
        )
    require_inputs(db, actor, task.name, cell.dataset_version)
    table = blobs.state.part(DifferingAnswers).get(
        _key(task, cell, other), lambda: _differing(task, _answered(blobs, cell, other))
    )
    if only in {"first", "second"}:
        beaten = "second" if only == "first" else "first"
        table = table.filter(pl.col(f"{only}_score") > pl.col(f"{beaten}_score"))
    names = [item.name for item in kind_of(task).fields(task)]
    page = table.slice(offset, limit)
    page = page.join(_inputs(blobs, cell, page, names), on="id", how="left", maintain_order="left")
    shown = [
        AnswerDifference(
            id=row["id"],
            inputs={name: row[name] for name in names},
            gold=row["answer"],
            first=row["first"],
            second=row["second"],
            first_score=row["first_score"],
            second_score=row["second_score"],
        )
        for row in page.iter_rows(named=True)
    ]
    return shown, table.height


def _inputs(blobs: Blobs, row: CellRow, page: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Read the inputs of the examples of a page, from the part of the file that they are in."""
    source = pl.scan_parquet(blobs.path(row.dataset_version.blob)).select("id", *names)
    if page.height:
        first, last = (int(getattr(page["place"], end)()) for end in ("min", "max"))
        source = source.slice(first, last - first + 1)
    return source.filter(pl.col("id").is_in(page["id"].implode())).collect()


def _differing(task: Task, table: pl.DataFrame) -> pl.DataFrame:
    """Keep the examples that are answered differently, with how right each answer is."""
    same = same_answers(kind_of(task).answer_type, table["first"], table["second"], task.language)
    return table.select(
        "id",
        "place",
        "answer",
        "first",
        "second",
        pl.Series("first_score", example_scores(task, table["answer"], table["first"])),
        pl.Series("second_score", example_scores(task, table["answer"], table["second"])),
    ).filter(pl.Series(~same))


def _pairs(
    db: Session, actor: Actor, first: str, second: str
) -> tuple[Task, dict[str, tuple[CellRow, CellRow]], tuple[str, str]]:
    """Find the finished plain cells of two models, paired by data set."""
    model, other = (get_model(db, actor, ref).version for ref in (first, second))
    if model.task != other.task:
        raise BadInput(
            "{ref} and {other} are models of different tasks.",
            ref=model.ref,
            other=other.ref,
            remedy="Compare models of one task.",
        )
    if model.id == other.id:
        raise BadInput(
            "{ref} is compared with itself.", ref=model.ref, remedy="Name two models, or two versions of one."
        )

    def done(version_id: int) -> dict[str, CellRow]:
        rows = queries.rows(db, model_version_id=version_id, variant=PLAIN, states=[CellState.DONE])
        return {f"{row.dataset.name}@{row.dataset_version.number}": row for row in rows if row.cell.predictions}

    firsts, seconds = done(model.id), done(other.id)
    names = sorted(firsts.keys() & seconds.keys())
    return get_task(db, model.task), {name: (firsts[name], seconds[name]) for name in names}, (model.ref, other.ref)


def _answered(blobs: Blobs, cell: CellRow, other: CellRow) -> pl.DataFrame:
    """Put what both said beside the examples that have a gold answer, and their places in the file."""
    file = pl.scan_parquet(blobs.path(cell.dataset_version.blob), glob=False).select("id", "answer")
    examples = file.with_row_index("place").filter(pl.col("answer").is_not_null()).collect()
    return _joined(blobs, examples, cell, other)


def _joined(blobs: Blobs, examples: pl.DataFrame, cell: CellRow, other: CellRow) -> pl.DataFrame:
    for name, row in {"first": cell, "second": other}.items():
        predictions = read_predictions(blobs, row)
        renamed = {"prediction": name, "probabilities": f"{name}_probabilities"}
        columns = predictions.select(
            "id", *(pl.col(old).alias(new) for old, new in renamed.items() if old in predictions.columns)
        )
        examples = beside(examples, columns)
    return examples


def _compare_dataset(task: Task, row: CellRow, table: pl.DataFrame) -> DatasetComparison:
    name = leading_metric(task)
    kind = kind_of(task)
    metric = metric_named(name, kind.answer_type)
    mine, theirs = (_aligned(task, table, side) for side in ("first", "second"))
    paired = paired_metric(metric, mine, theirs)
    scores = [example_scores(task, table["answer"], table[side]) for side in ("first", "second")]
    scored = [float(metric.value(metric.tally(side).totals())) for side in (mine, theirs)]
    values = [None if math.isnan(value) else value for value in scored]
    same = same_answers(kind.answer_type, table["first"], table["second"], task.language)
    separation = examples_to_separate(*scores, groups=mine.groups)
    return DatasetComparison(
        dataset=f"{row.dataset.name}@{row.dataset_version.number}",
        hidden=row.dataset_version.hidden,
        rows=table.height,
        metric=metric.name,
        first=values[0],
        second=values[1],
        difference=PairedEstimate(**plain(paired.difference), p_value=paired.p_value),
        mcnemar=mcnemar(*(score >= 1.0 for score in scores)),
        examples_needed=separation.needed,
        more_examples_needed=separation.more,
        answers_differ=int((~same).sum()),
    )


def _aligned(task: Task, table: pl.DataFrame, side: str) -> Aligned:
    more: dict[str, Any] = {}
    shares = f"{side}_probabilities"
    if shares in table.columns and table[shares].null_count() == 0:
        more["probabilities"] = table[shares].struct.unnest()
    people = label_shares(task, [leading_metric(task)], table["meta"])
    if people is not None:
        more["distributions"] = people
    if table["group"].null_count() < table.height:
        more["groups"] = table["group"].fill_null(table["id"])
    answer_type = kind_of(task).answer_type
    return align(
        answer_type, table["answer"], table[side], labels=task.label_names or None, language=task.language, **more
    )
