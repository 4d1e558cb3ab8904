"""Data sets of a workspace as studies take them: examples, tags, votes, and what models said of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from sqlalchemy.orm import Session

from quintain.core.cells import PLAIN
from quintain.core.people import Actor
from quintain.core.task import Task
from quintain.data.label_view import meta_of, votes_of
from quintain.metrics.flips import same_answers
from quintain.services.data import content
from quintain.services.data.datasets import VersionInfo, get_version
from quintain.services.evaluate.results.stored_predictions import read_predictions
from quintain.stats.artefacts.examples import Examples
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.comparing.compared import ComparedSet
from quintain.stats.irt.responses import Responses
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate import cells as cell_queries
from quintain.tasks.contract import kind_of

UNKNOWN = "–"
LEAST_MODELS = 3
LEAST_ITEMS = 20


@dataclass(frozen=True, slots=True)
class StoredSet:
    """A version with its examples that have an answer, and by model what it said, in the order of the examples."""

    task: Task
    version: VersionInfo
    table: pl.DataFrame
    said: dict[str, pl.DataFrame]

    @property
    def right(self) -> dict[str, FloatArray]:
        """Which examples each model got right."""
        kind = kind_of(self.task).answer_type
        return {
            model: same_answers(kind, self.table["answer"], one["prediction"], self.task.language).astype(np.float64)
            for model, one in self.said.items()
        }


def stored_set(db: Session, blobs: Blobs, actor: Actor, task: Task, ref: str, *, only: Sequence[str] = ()) -> StoredSet:
    """Read a version and what models said of it, all or *only* these; *actor* must be allowed to see its answers."""
    version = get_version(db, actor, ref)
    table = content.scan(db, blobs, actor, ref, answers=True).filter(pl.col("answer").is_not_null()).collect()
    predictions: dict[str, pl.DataFrame] = {}
    for row in cell_queries.rows(db, dataset_version_id=version.id, variant=PLAIN):
        name = f"{row.model.name}@{row.model_version.number}"
        if row.cell.predictions and (not only or name in only):
            stored = read_predictions(blobs, row)
            columns = [name for name in ("id", "prediction", "probabilities") if name in stored.columns]
            predictions[name] = table.select("id").join(
                stored.select(columns), on="id", how="left", maintain_order="left"
            )
    return StoredSet(
        task, version, table, {one: predictions[one] for one in only if one in predictions} if only else predictions
    )


def joined(sets: Sequence[StoredSet]) -> StoredSet:
    """Put versions of one task together, such as the splits of a release, with the models that were run on all."""
    first = sets[0]
    models = [name for name in first.said if all(name in one.said for one in sets)]
    predictions = {name: pl.concat([one.said[name] for one in sets], how="diagonal_relaxed") for name in models}
    return replace(first, table=pl.concat([one.table for one in sets], how="diagonal_relaxed"), said=predictions)


def meta_values(table: pl.DataFrame, name: str) -> list[str]:
    """Return what examples have kept under *name* in their meta, such as their writer; nothing where none has any."""
    if "meta" not in table.columns:
        return []
    values = [meta_of(one).get(name) for one in table["meta"].to_list()]
    return (
        [str(value) if value is not None else UNKNOWN for value in values]
        if any(value is not None for value in values)
        else []
    )


def examples_of(stored: StoredSet) -> tuple[Examples, IntArray] | None:
    """Take the examples whose answers are labels or options, and their rows; None where answers are neither."""
    task, table = stored.task, stored.table
    fields = [field.name for field in kind_of(task).fields(task) if field.name in table.columns]
    texts = {name: table[name].fill_null("").to_list() for name in fields if table.schema[name] == pl.String()}
    context = table["group"].fill_null(table["id"]).to_list() if "group" in table.columns else []
    lists = [name for name in fields if table.schema[name] == pl.List(pl.String())]
    writers, arms = meta_values(table, "writer"), meta_values(table, "condition")
    rows = np.arange(table.height)
    if table.schema["answer"].is_integer() and len(lists) == 1:
        options = table[lists[0]].to_list()
        most = max((len(option) for option in options), default=0)
        answer = table["answer"].to_numpy().astype(np.int64)
        return Examples(texts, answer, [str(at + 1) for at in range(most)], options, context, writers, arms), rows
    if table.schema["answer"] != pl.String() or not task.label_names or not texts:
        return None
    codes = label_codes(table["answer"], task.label_names)
    rows = np.flatnonzero(codes >= 0)
    row_list = rows.tolist()
    examples = Examples(
        {name: [values[at] for at in row_list] for name, values in texts.items()},
        codes[rows],
        list(task.label_names),
        (),
        *([one[at] for at in row_list] if one else () for one in (context, writers, arms)),
    )
    return examples, rows


def label_codes(values: pl.Series, labels: Sequence[str]) -> IntArray:
    """Return the place of each value among *labels*, -1 for what is none of them."""
    codes = values.cast(pl.String).replace_strict(labels, range(len(labels)), default=-1, return_dtype=pl.Int64())
    return codes.fill_null(-1).to_numpy().astype(np.int64)


def compared_set(stored: StoredSet) -> ComparedSet | None:
    """Take a version as it is compared; None where its answers are neither labels nor options."""
    examples_and_rows = examples_of(stored)
    if examples_and_rows is None:
        return None
    examples, rows = examples_and_rows
    table = stored.table[rows]
    if examples.options:
        columns = {
            model: one["prediction"].cast(pl.Int64, strict=False).fill_null(-1) for model, one in stored.said.items()
        }
        predictions = {model: one.to_numpy().astype(np.int64) for model, one in columns.items()}
    else:
        predictions = {
            model: label_codes(one["prediction"][rows], examples.labels) for model, one in stored.said.items()
        }
    return ComparedSet(
        stored.version.ref.partition("/")[2],
        examples,
        table["id"].to_list(),
        [list(tag or ()) for tag in table["tags"].to_list()] if "tags" in table.columns else (),
        votes_on(table, examples.labels),
        None,
        predictions,
    )


def votes_on(table: pl.DataFrame, labels: Sequence[str]) -> IntArray | None:
    """Count the votes that examples have kept, in the last column those for no label; None where none has any."""
    if "meta" not in table.columns:
        return None
    columns = {name: at for at, name in enumerate(labels)}
    counts = np.zeros((table.height, len(labels) + 1), dtype=np.int64)
    for row, meta in enumerate(table["meta"].to_list()):
        for name, number in votes_of(meta).items():
            counts[row, columns.get(name, -1)] += round(number)
    return counts if counts.any() else None


def responses_of(stored: StoredSet) -> Responses | None:
    """Return which model got which example right, by arm if there are several; None where either are too few."""
    right = stored.right
    if len(right) < LEAST_MODELS or stored.table.height < LEAST_ITEMS:
        return None
    arms = meta_values(stored.table, "condition")
    tests = arms if len(set(arms)) > 1 else []
    items = stored.table["id"].to_list()
    return Responses(list(right), items, np.stack(list(right.values())), np.ones(len(right)), tests)
