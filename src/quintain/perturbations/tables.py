"""Perturb a table of examples of a task into a variant of it.

    perturb_table(task, table, perturbation("typos"))

A variant holds the rows that the perturbation changes, with the columns of a data set version. Each row's `meta` tells
its lineage: the id of its parent, the perturbation with its version and seed, the edits, and, for fairness, from which
group to which it goes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.hashing import content_id
from quintain.core.jsontext import parse_json
from quintain.core.task import Task
from quintain.perturbations.apply import realign
from quintain.perturbations.batch import Span
from quintain.perturbations.contract import Edit, Perturbation
from quintain.perturbations.rows import RowChange, Shape, TextColumn, perturb_rows
from quintain.tasks.contract import TaskKind, kind_of

ROWS = 4_096  # worked on together
_SHAPES: Mapping[str, Shape] = {"text": "text", "long_text": "text", "texts": "texts", "tokens": "tokens"}
_SPAN = pl.List(pl.Struct({"text": pl.String(), "start": pl.Int64()}))


def perturb_table(
    task: Task,
    table: pl.DataFrame,
    perturbation: Perturbation,
    *,
    seed: int = 0,
    severity: float = 1.0,
    language: str | None = None,
) -> pl.DataFrame:
    """Return the rows of *table* that *perturbation* changes, changed.

    *table* has the inputs of *task*, and where it has them `id`, `answer` and `meta`. Gold spans move along with the
    text and are never edited; a row that would no longer pass the checks of its task is left out. *language* is that of
    the texts, the task's first one unless it is given.
    """
    kind = kind_of(task)
    missing = [item.name for item in kind.fields(task) if item.name not in table.columns]
    if missing:
        raise BadInput(
            "The table has no column '{missing}'.", missing=missing[0], remedy="It needs the inputs of the task."
        )
    table = _with_lineage_columns(kind, task, table)
    draw = _Draw(perturbation, seed, severity, language or task.language)
    parts = [_perturb_part(kind, task, part, draw) for part in table.iter_slices(ROWS)]
    result = pl.concat(parts) if parts else table
    return result.unique("id", keep="first", maintain_order=True)


def lineage(table: pl.DataFrame) -> pl.DataFrame:
    """Read the lineage of a variant: columns `parent`, `perturbation`, `version`, `seed` and `group` for each row.

    `group` is written as "female → male", ready for `metrics.flips.unchanged_share`; null where there is none.
    """
    rows = [parse_json(meta) for meta in table["meta"].to_list()]
    return pl.DataFrame(
        {
            "parent": [row["parent"] for row in rows],
            "perturbation": [row["perturbation"] for row in rows],
            "version": [row["version"] for row in rows],
            "seed": [row["seed"] for row in rows],
            "group": [f"{way['from']} → {way['to']}" if (way := row.get("group")) else None for row in rows],
        },
        schema={
            "parent": pl.String,
            "perturbation": pl.String,
            "version": pl.Int64,
            "seed": pl.Int64,
            "group": pl.String,
        },
    )


def edits_of(meta: Mapping[str, Any], field: str) -> list[Edit]:
    """Return the edits that led from the parent's *field* to the variant's, from a row's parsed `meta`."""
    return [(int(start), int(end), str(text)) for start, end, text in meta.get("edits", {}).get(field, [])]


def _with_lineage_columns(kind: TaskKind, task: Task, table: pl.DataFrame) -> pl.DataFrame:
    names = [item.name for item in kind.fields(task)]
    if "id" not in table.columns:
        ids = [_id(dict(zip(names, row, strict=True))) for row in table.select(names).iter_rows()]
        table = table.insert_column(0, pl.Series("id", ids, dtype=pl.String()))
    return table if "meta" in table.columns else table.with_columns(meta=pl.lit("{}"))


@dataclass(frozen=True, slots=True)
class _Draw:
    """By what the rows of a table are perturbed, and in which language."""

    perturbation: Perturbation
    seed: int
    severity: float
    language: str

    @property
    def stamp(self) -> dict[str, Any]:
        """What the lineage of each row tells of it."""
        member = self.perturbation
        return {
            "perturbation": member.name,
            "version": member.version,
            "seed": self.seed,
            "severity": self.severity,
        }


def _perturb_part(kind: TaskKind, task: Task, table: pl.DataFrame, draw: _Draw) -> pl.DataFrame:
    fields = [item for item in kind.fields(task) if item.type in _SHAPES]
    columns = [TextColumn(item.name, _SHAPES[item.type], item.perturbable) for item in fields]
    source = kind.source if "answer" in table.columns else None
    spans = _quoted_spans(table, columns)
    if source:
        gold = _gold_spans(table, source)
        quoted = spans.get(source, [[] for _ in gold])
        spans[source] = [sorted({*one, *other}) for one, other in zip(gold, quoted, strict=True)]
    changes = perturb_rows(
        table,
        columns,
        draw.perturbation,
        contents=table["id"].to_list(),
        seed=draw.seed,
        severity=draw.severity,
        protected=spans,
        language=draw.language,
    )
    changed = [i for i, change in enumerate(changes) if change is not None]
    effective = [change for change in changes if change is not None]
    rows = table[changed]
    for column in columns:
        if column.open:
            new = [
                change.values.get(column.name, old)
                for change, old in zip(effective, rows[column.name].to_list(), strict=True)
            ]
            rows = rows.with_columns(pl.Series(column.name, new, dtype=table.schema[column.name]))
    if source:
        rows = rows.with_columns(pl.Series("answer", _moved(rows, effective, source), dtype=_SPAN))
    rows = _named_anew([item.name for item in kind.fields(task)], rows, effective, draw.stamp)
    faulty = {fault.row for fault in kind.check_table(task, rows)}
    return rows[[i for i in range(rows.height) if i not in faulty]]


def _gold_spans(table: pl.DataFrame, source: str) -> list[list[Span]]:
    """Find where the gold answers lie in their text; one without a place lies wherever it occurs."""
    return [
        [span for answer in answers or [] for span in _places(text or "", answer["text"], answer["start"])]
        for text, answers in zip(table[source].to_list(), table["answer"].to_list(), strict=True)
    ]


def _quoted_spans(table: pl.DataFrame, columns: Sequence[TextColumn]) -> dict[str, list[list[Span]]]:
    """Find where an open text holds a closed one, such as the predicate that a question is about: that must stay."""
    closed = [table[column.name].to_list() for column in columns if column.shape == "text" and not column.open]
    if not closed:
        return {}
    return {
        column.name: [
            [span for value in quoted for span in _places(text or "", value or "", None)]
            for text, *quoted in zip(table[column.name].to_list(), *closed, strict=True)
        ]
        for column in columns
        if column.shape == "text" and column.open
    }


def _places(text: str, answer: str, start: int | None) -> list[Span]:
    if not answer:
        return []
    if start is not None:
        return [(start, start + len(answer))]
    spans, at, folded = [], -1, text.lower()
    needle = answer.lower()
    while (at := folded.find(needle, at + 1)) >= 0:
        spans.append((at, at + len(needle)))
    return spans


def _moved(rows: pl.DataFrame, changes: Sequence[RowChange], source: str) -> list[list[dict[str, Any]] | None]:
    """Move the gold spans along with the edits of their text."""
    result: list[list[dict[str, Any]] | None] = []
    for answers, change in zip(rows["answer"].to_list(), changes, strict=True):
        edits = change.edits.get(source, ())
        result.append(None if answers is None else [_moved_span(answer, edits) for answer in answers])
    return result


def _moved_span(answer: Mapping[str, Any], edits: Sequence[Edit]) -> dict[str, Any]:
    start, text = answer["start"], answer["text"]
    if start is None or not edits:
        return dict(answer)
    moved = realign((start, start + len(text)), edits)
    return {"text": text, "start": None if moved is None else moved[0]}


def _named_anew(
    names: Sequence[str], rows: pl.DataFrame, changes: Sequence[RowChange], stamp: Mapping[str, Any]
) -> pl.DataFrame:
    """Return the changed rows with ids of their own, and their lineage."""
    ids = [_id(dict(zip(names, row, strict=True))) for row in rows.select(names).iter_rows()]
    metas = []
    for parent, meta, change in zip(rows["id"].to_list(), rows["meta"].to_list(), changes, strict=True):
        lineage = {**parse_json(meta or "{}"), "parent": parent, **stamp, "edits": change.edits}
        metas.append(json.dumps(lineage | ({"group": change.group} if change.group else {}), ensure_ascii=False))
    return rows.with_columns(pl.Series("id", ids, dtype=pl.String()), pl.Series("meta", metas, dtype=pl.String()))


def _id(inputs: Mapping[str, Any]) -> str:
    return content_id({name: value for name, value in inputs.items() if value is not None})
