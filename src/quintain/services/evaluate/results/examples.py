"""Single examples and what a model made of them: flips, mistakes, failures.

Hidden labels stay hidden. Whether a model is right on one example tells its label, so on hidden data sets that is for
the task's owners alone; what a model answered there, without the gold, is for its builder too where the inputs of the
data set are open to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy.orm import Session

from quintain.core.cells import PLAIN
from quintain.core.errors import Forbidden, NotFound
from quintain.core.people import Actor
from quintain.core.records.evaluate import Flip, Flips
from quintain.core.task import Task
from quintain.metrics.aligned import align
from quintain.metrics.contract import MeanMetric
from quintain.metrics.evaluate import metric_named
from quintain.metrics.flips import kept_answers, same_answers
from quintain.services.data.inputs import may_read_perturbed, require_inputs
from quintain.services.evaluate.cells.lifecycle import may_see_logs
from quintain.services.evaluate.results.dataset_results import sees_all
from quintain.services.evaluate.results.flips import flip_table
from quintain.services.evaluate.results.stored_predictions import read_predictions
from quintain.services.evaluate.results.variants import family_of, newest_variants
from quintain.services.jobs.memory import WarmValues
from quintain.services.models.registry import ModelVersionInfo, get_model
from quintain.services.tasks.definitions import get_task
from quintain.stats.bootstrap import FloatArray
from quintain.stats.diff import Piece, word_diff
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate import cells as queries
from quintain.store.queries.evaluate.cells import CellRow
from quintain.tasks.contract import kind_of

FIRST_KEPT = 50


class KnownFlips(WarmValues[pl.DataFrame]):
    """The flips that were looked at last, without texts: going on to the next page reads what is on it."""

    def __init__(self) -> None:
        super().__init__(4)


class KnownMistakes(WarmValues[pl.DataFrame]):
    """The mistakes that were looked at last, without texts, for as long as the workspace is open."""

    def __init__(self) -> None:
        super().__init__(4)


class FirstMistakes(WarmValues[tuple[pl.DataFrame, int]]):
    """The surest mistakes of a model on a data set and how many there are, by the files that say so."""

    def __init__(self) -> None:
        super().__init__(100)


@dataclass(frozen=True, slots=True)
class Mistake:
    """An example that a model got wrong, the surest first; *failed* where it gave no usable answer at all."""

    id: str
    inputs: Mapping[str, Any]
    gold: Any
    answer: Any
    confidence: float | None
    score: float
    failed: bool = False


@dataclass(frozen=True, slots=True)
class FailedExample:
    """An example that a model gave no usable answer to, and why; the reason is None for those who may not see logs."""

    id: str
    inputs: Mapping[str, Any]
    reason: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {"id": self.id, "inputs": dict(self.inputs), "reason": self.reason}


def flips(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    model: str,
    dataset: str,
    *,
    family: str | None = None,
    group: str | None = None,
    offset: int = 0,
    limit: int = 20,
) -> Flips:
    """List the examples of *dataset* on which *model* changed its answer when only the wording changed.

    What the wording became is for the task's owners.
    """
    version = get_model(db, actor, model).version
    task = get_task(db, version.task)
    cells = finished_cells(db, version, dataset)
    require_answers(db, actor, cells[PLAIN])
    members = {name: row for name, row in cells.items() if family_of(name) is not None}
    texts = may_read_perturbed(actor, task.name)
    if not members:
        return Flips([], 0, [], [], texts)
    key = (_key(task, cells[PLAIN]), *((name, row.cell.predictions) for name, row in members.items()))
    table = blobs.state.part(KnownFlips).get(key, lambda: _all_flips(db, blobs, task, cells[PLAIN], members))
    families, groups = (sorted(table[name].drop_nulls().unique().to_list()) for name in ("family", "group"))
    if family:
        chosen = [name for name in members if family in {name.rpartition(".v")[0], family_of(name)}]
        table = table.filter(pl.col("variant").is_in(chosen))
    if group:
        table = table.filter(pl.col("group") == group)
    shown = table.slice(offset, limit)
    changed = _read_flips(db, blobs, task, cells, shown)
    if not texts:
        changed = [_without_perturbed(flip, task) for flip in changed]
    return Flips(changed, table.height, families, groups, texts)


def _without_perturbed(flip: Flip, task: Task) -> Flip:
    """Leave out what a perturbation made of the example, and an answer that may be a part of that."""
    fields: dict[str, list[Piece]] = {name: [("same", _text(value))] for name, value in flip.inputs.items()}
    return replace(flip, fields=fields, after=flip.after if _is_choice(flip.after, task) else None)


def _is_choice(answer: Any, task: Task) -> bool:
    """Whether an answer is a label, a number or several of them: it holds no text of the example."""
    if isinstance(answer, list):
        return all(_is_choice(part, task) for part in answer)
    return isinstance(answer, int | float) or answer in task.label_names


def _all_flips(db: Session, blobs: Blobs, task: Task, row: CellRow, members: Mapping[str, CellRow]) -> pl.DataFrame:
    """Put the answers that changed side by side, of all perturbations, in the order in which they are shown."""
    plain = read_predictions(blobs, row, ("id", "prediction"))
    tables = [flip_table(db, blobs, plain, one).with_columns(variant=pl.lit(name)) for name, one in members.items()]
    table = pl.concat(tables)
    changed = ~kept_answers(kind_of(task).answer_type, table["before"], table["after"], task.language)
    return table.filter(pl.Series(changed)).sort("family", "parent", "id")


def _key(task: Task, row: CellRow) -> tuple[str | None, ...]:
    """Name what a model said of a data set, and how it is looked at."""
    return kind_of(task).answer_type, row.dataset_version.blob, row.cell.predictions


def _read_flips(db: Session, blobs: Blobs, task: Task, cells: Mapping[str, CellRow], shown: pl.DataFrame) -> list[Flip]:
    """Look up the texts of the flips on one page."""
    names = [item.name for item in kind_of(task).fields(task)]
    dataset = cells[PLAIN].dataset_version
    old = _rows(blobs.path(dataset.blob), shown["parent"].to_list(), names)
    new: dict[tuple[str, str], Mapping[str, Any]] = {}
    for variant in shown["variant"].unique().to_list():
        stored = queries.variant(db, dataset.id, variant)
        if stored is not None:
            ids = shown.filter(pl.col("variant") == variant)["id"].to_list()
            new |= {(variant, key): row for key, row in _rows(blobs.path(stored.blob), ids, names).items()}
    return [
        Flip(
            id=row["parent"],
            family=row["family"],
            group=row["group"],
            fields=_changes(old[row["parent"]], new[row["variant"], row["id"]]),
            inputs=old[row["parent"]],
            before=row["before"],
            after=row["after"],
        )
        for row in shown.iter_rows(named=True)
    ]


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[Piece]]:
    pieces: dict[str, list[Piece]] = {}
    for name, value in before.items():
        old, new = _text(value), _text(after.get(name))
        pieces[name] = word_diff(old, new) if old != new else [("same", old)]
    return pieces


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " · ".join(str(item) for item in value)
    return "" if value is None else str(value)


def _rows(path: Path, ids: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, Any]]:
    table = pl.scan_parquet(path, glob=False).filter(pl.col("id").is_in(list(ids))).select("id", *names).collect()
    return {row.pop("id"): row for row in table.to_dicts()}


def mistakes(
    db: Session, blobs: Blobs, actor: Actor, model: str, dataset: str, *, offset: int = 0, limit: int = 10
) -> tuple[list[Mistake], int]:
    """List what *model* got wrong on *dataset*, the surest mistakes first, and how many there are.

    Of many models the first of them are remembered, and all of those that were looked at last.
    """
    version = get_model(db, actor, model).version
    task = get_task(db, version.task)
    row = finished_cells(db, version, dataset)[PLAIN]
    require_gold(db, actor, row)
    key = _key(task, row)
    if offset + limit <= FIRST_KEPT:
        first, total = blobs.state.part(FirstMistakes).get(key, lambda: _first(_all_mistakes(blobs, task, row)))
    else:
        wrong = blobs.state.part(KnownMistakes).get(key, lambda: _all_mistakes(blobs, task, row))
        first, total = wrong, wrong.height
    shown = first.slice(offset, limit)
    names = [item.name for item in kind_of(task).fields(task)]
    inputs = _rows(blobs.path(row.dataset_version.blob), shown["id"].to_list(), names)
    mistakes_on_page = [
        Mistake(
            id=example["id"],
            inputs=inputs[example["id"]],
            gold=example["answer"],
            answer=example["prediction"],
            confidence=example["confidence"],
            score=example["score"],
            failed=example["failure"] is not None,
        )
        for example in shown.iter_rows(named=True)
    ]
    return mistakes_on_page, total


def _first(wrong: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Return the first mistakes, and how many there are."""
    return wrong.head(FIRST_KEPT).rechunk(), wrong.height


def _all_mistakes(blobs: Blobs, task: Task, row: CellRow) -> pl.DataFrame:
    """Return what a model got wrong, the surest first, without the texts: those are read of what is shown."""
    examples = pl.read_parquet(blobs.path(row.dataset_version.blob), columns=["id", "answer"])
    table = scored(task, examples, read_predictions(blobs, row))
    wrong = table.filter(pl.col("score") < 1).sort(["score", "confidence", "id"], descending=[False, True, False])
    return wrong.select("id", "answer", "prediction", "confidence", "score", "failure")


def failures(
    db: Session, blobs: Blobs, actor: Actor, model: str, dataset: str, *, offset: int = 0, limit: int = 10
) -> tuple[list[FailedExample], int]:
    """List the examples of *dataset* that *model* gave no usable answer to, and how many there are.

    Why it failed is often in the model's own words, so it is for those who may read what the model printed.
    """
    version = get_model(db, actor, model).version
    task = get_task(db, version.task)
    row = finished_cells(db, version, dataset)[PLAIN]
    require_answers(db, actor, row)
    failed = read_predictions(blobs, row, ("id", "failure")).filter(pl.col("failure").is_not_null()).sort("id")
    shown = failed.slice(offset, limit)
    names = [item.name for item in kind_of(task).fields(task)]
    inputs = _rows(blobs.path(row.dataset_version.blob), shown["id"].to_list(), names)
    with_reasons = may_see_logs(actor, row)
    failed_examples = [
        FailedExample(key, inputs[key], reason if with_reasons else None)
        for key, reason in shown.select("id", "failure").iter_rows()
    ]
    return failed_examples, failed.height


def example_scores(task: Task, gold: pl.Series, predictions: pl.Series) -> FloatArray:
    """Return how right the answer to each example is, between 0 and 1."""
    answers = kind_of(task).answers
    metric = metric_named(answers.graded_by, answers.name) if answers.graded_by else None
    if isinstance(metric, MeanMetric):
        return metric.scores(align(answers.name, gold, predictions, language=task.language))
    return same_answers(answers.name, gold, predictions, task.language).astype(np.float64)


def scored(task: Task, examples: pl.DataFrame, predictions: pl.DataFrame) -> pl.DataFrame:
    """Put examples that have a gold answer beside what was answered, with a `score` and a `confidence` for each."""
    table = examples.filter(pl.col("answer").is_not_null()).join(
        predictions, on="id", how="left", maintain_order="left"
    )
    confidence: pl.Expr = pl.lit(None, dtype=pl.Float64)
    if "probabilities" in table.columns:
        confidence = pl.max_horizontal(
            pl.col("probabilities").struct.field(name) for name in table["probabilities"].struct.fields
        )
    scores = example_scores(task, table["answer"], table["prediction"])
    return table.with_columns(pl.Series("score", scores), confidence=confidence)


def finished_cells(db: Session, version: ModelVersionInfo, dataset: str) -> dict[str, CellRow]:
    """Return the finished cells of a model on *dataset* (`name` or `name@2`), by variant; never without a plain one."""
    name, _, number = dataset.rpartition("/")[2].partition("@")
    rows = [row for row in queries.rows(db, model_version_id=version.id) if row.dataset.name == name]
    version_number = (
        int(number)
        if number.isdecimal() and len(number) < 10
        else max((row.dataset_version.number for row in rows), default=0)
    )
    cells = {
        row.cell.variant: row for row in rows if row.dataset_version.number == version_number and row.cell.predictions
    }
    if PLAIN not in cells:
        raise NotFound(
            "{ref} has no predictions on '{dataset}' yet.",
            ref=version.ref,
            dataset=dataset,
            task=version.task,
            name=name,
            remedy="`quintain evaluate why {ref} {task}/{name}` says why.",
            page="The page of the model's runs says why.",
        )
    return newest_variants(cells)


def require_gold(db: Session, actor: Actor, row: CellRow) -> None:
    """Refuse what would tell a hidden label, or an input, to somebody who may not see it."""
    if not sees_all(actor, row.task.name, row.dataset_version.hidden):
        raise Forbidden(
            "The labels of {name} are hidden, and what is right or wrong on one example tells its label.",
            name=row.dataset.name,
            remedy="The task's owners see them; data sets with open labels show them to everybody.",
            code="labels_hidden",
        )
    require_inputs(db, actor, row.task.name, row.dataset_version)


def require_answers(db: Session, actor: Actor, row: CellRow) -> None:
    """Refuse single answers on hidden labels to all but owners and the model's builder, and where inputs are closed.

    A model may answer with the input itself, so that its answers are no more open than the inputs are.
    """
    if not sees_all(actor, row.task.name, row.dataset_version.hidden) and not may_see_logs(actor, row):
        raise Forbidden(
            "The labels of {name} are hidden, so single answers are for the model's builder.",
            name=row.dataset.name,
            remedy="Data sets with open labels show them to everybody.",
            code="labels_hidden",
        )
    require_inputs(db, actor, row.task.name, row.dataset_version)
