"""A round's attempts as a table, and as a file: writers under other names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.task import Task
from quintain.data.exporting import write_parts
from quintain.data.tables import table_format
from quintain.services.access import audit
from quintain.services.access.pseudonyms import pseudonyms
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.collect.rounds.question_types import TYPE
from quintain.services.collect.rounds.round_figures import ROUND
from quintain.services.collect.writing.justifications import JUSTIFIED
from quintain.services.collect.writing.list_attempts import owned_round
from quintain.services.collect.writing.verdicts import counts_as_fooling
from quintain.services.jobs.exports import ExportKind, ExportRequest
from quintain.services.jobs.figures import ReportProgress, quietly
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.collect import attempts as queries
from quintain.tasks.contract import kind_of

NOTES = {"reason": "reason", JUSTIFIED: "justification", TYPE: "type"}  # kinds of notes, and their columns
CHUNK = 5_000  # rows that are in memory together


def attempts_table(db: Session, actor: Actor, ref: str, *, nonfooling: bool = True) -> pl.DataFrame:
    """Return a round's attempts as a table: writers under other names, nothing retracted or withheld."""
    info = owned_round(db, actor, ref)
    schema = _export_schema(get_task(db, info.task))
    return pl.concat([pl.DataFrame(schema=schema), *_export_frames(db, info, nonfooling)])


def export_attempts(
    db: Session, actor: Actor, ref: str, path: Path, *, nonfooling: bool = True, tell: ReportProgress = quietly
) -> int:
    """Write a round's attempts to *path*, in the format that its suffix names, and count them."""
    form = table_format(path)
    info = owned_round(db, actor, ref)
    schema = _export_schema(get_task(db, info.task))
    rows = write_parts(_export_frames(db, info, nonfooling, tell), schema, form, path)
    with transaction(db):
        audit.record(db, actor, "round.export", ref, rows=rows, format=form)
    return rows


def _export_frames(
    db: Session, info: RoundInfo, nonfooling: bool, tell: ReportProgress = quietly
) -> Iterator[pl.DataFrame]:
    """Return the rows in tables of some thousand each, so that a large round takes no more memory than a small one."""
    task = get_task(db, info.task)
    names = pseudonyms(db, queries.writers_of(db, info.id), info.task)
    schema, withheld = _export_schema(task), queries.withheld(db, info.id)
    attempts, total, done = queries.rows_of_round(db, info.id), queries.count_in_round(db, info.id), 0
    while some := list(islice(attempts, CHUNK)):
        exported = [
            row
            for row in some
            if not row.retracted and row.attempt.id not in withheld and (nonfooling or counts_as_fooling(row))
        ]
        rows = list(_export_rows(db, info, task, names, exported))
        yield pl.DataFrame(rows, schema=schema, infer_schema_length=None)
        done += len(some)
        tell(done, total)


def _export_schema(task: Task) -> dict[str, pl.DataType]:
    text, number = pl.String(), pl.Int64()
    fields = {f"{name}": dtype for name, dtype in kind_of(task).schema(task).items() if name != "answer"}
    return {
        "id": text,
        "attempt": number,
        "round": text,
        "worker": text,
        "session": number,
        "number": number,
        "condition": text,
        "prompt": number,
        **fields,
        "target": text,
        "prediction": text,
        "model": text,
        "model_hash": text,
        "probabilities": text,
        "predictions": text,
        "fooled": pl.Boolean(),
        "confirmed": pl.Boolean(),
        **dict.fromkeys(NOTES.values(), text),
        "tags": pl.List(pl.String()),
        "edit_distance": number,
        "edit_share": pl.Float64(),
        "seconds": pl.Float64(),
        "at": text,
    }


def _export_rows(
    db: Session,
    info: RoundInfo,
    task: Task,
    names: Mapping[int, str],
    attempts: Sequence[queries.AttemptRow],
) -> Iterator[dict[str, Any]]:
    fields = [item.name for item in kind_of(task).fields(task)]
    said_of = queries.notes(db, [row.attempt.id for row in attempts], (*NOTES, "tags"))
    notes = {(note.attempt_id, note.kind): note for note in said_of}
    for row in attempts:
        attempt = row.attempt
        tags = notes.get((attempt.id, "tags"))
        words = {name: notes[attempt.id, kind].text for kind, name in NOTES.items() if (attempt.id, kind) in notes}
        # Nothing was asked where there was no model to fool.
        first = attempt.predictions[0] if attempt.predictions else {}
        yield {
            "id": attempt.hash,
            "attempt": attempt.id,
            "round": info.ref,
            "worker": names.get(attempt.user_id or 0),
            "session": attempt.session_id,
            "number": attempt.number,
            "condition": attempt.condition,
            "prompt": attempt.prompt_id,
            **{name: attempt.inputs.get(name) for name in fields},
            "target": _as_text(attempt.target),
            "prediction": _as_text(first.get("answer")),
            "model": first.get("model"),
            "model_hash": first.get("hash"),
            "probabilities": None if first.get("probabilities") is None else json.dumps(first["probabilities"]),
            "predictions": json.dumps(attempt.predictions, ensure_ascii=False),
            "fooled": row.fooled,
            "confirmed": row.confirmed,
            **{name: words.get(name) for name in NOTES.values()},
            "tags": tags.tags if tags else [],
            "edit_distance": attempt.edit_distance,
            "edit_share": attempt.source.get("edit_share"),
            "seconds": attempt.seconds,
            "at": attempt.created_at.isoformat(),
        }


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _write(db: Session, _: Blobs, actor: Actor, request: ExportRequest, path: Path, tell: ReportProgress) -> int:
    return export_attempts(db, actor, request.ref, path, nonfooling=not request.options.get("fooling"), tell=tell)


ATTEMPTS_FILE = ExportKind(
    "attempts", of=lambda db, actor, ref: owned_round(db, actor, ref).task, figure=ROUND, write=_write
)
