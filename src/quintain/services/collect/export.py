"""A round's attempts as a table, and as a file: writers under other names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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
from quintain.services.collect.attempts import owned
from quintain.services.collect.rounds import RoundInfo
from quintain.services.collect.verdicts import claimed
from quintain.services.tasks.definitions import get_task
from quintain.store.database import transaction
from quintain.store.queries.collect import attempts as queries
from quintain.store.tables import AttemptNote
from quintain.tasks.contract import kind_of

CHUNK = 5_000  # rows that are in memory together


def attempts_table(db: Session, actor: Actor, ref: str, *, nonfooling: bool = True) -> pl.DataFrame:
    """Give a round's attempts as a table: writers under other names, nothing retracted or withheld."""
    info = owned(db, actor, ref)
    schema = _export_schema(get_task(db, info.task))
    return pl.concat([pl.DataFrame(schema=schema), *_export_frames(db, info, nonfooling)])


def export_attempts(db: Session, actor: Actor, ref: str, path: Path, *, nonfooling: bool = True) -> int:
    """Write a round's attempts to *path*, in the format that its suffix names, and count them."""
    form = table_format(path)
    info = owned(db, actor, ref)
    schema = _export_schema(get_task(db, info.task))
    rows = write_parts(_export_frames(db, info, nonfooling), schema, form, path)
    with transaction(db):
        audit.record(db, actor, "round.export", ref, rows=rows, format=form)
    return rows


def _export_frames(db: Session, info: RoundInfo, nonfooling: bool) -> Iterator[pl.DataFrame]:
    """Give the rows in tables of some thousand each, so that a large round takes no more memory than a small one."""
    task = get_task(db, info.task)
    names = pseudonyms(db, queries.writers_of(db, info.id), info.task)
    notes: dict[tuple[int, str], AttemptNote] = {
        (note.attempt_id, note.kind): note for note in queries.notes_of_round(db, info.id, ("reason", "tags"))
    }
    rows, schema = _export_rows(db, info, task, names, notes, nonfooling), _export_schema(task)
    while some := list(islice(rows, CHUNK)):
        yield pl.DataFrame(some, schema=schema, infer_schema_length=None)


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
        "reason": text,
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
    notes: Mapping[tuple[int, str], AttemptNote],
    nonfooling: bool,
) -> Iterator[dict[str, Any]]:
    fields = [item.name for item in kind_of(task).fields(task)]
    withheld = queries.withheld(db, info.id)
    for one in queries.rows_of_round(db, info.id):
        made = one.attempt
        if one.retracted or made.id in withheld or (not nonfooling and not claimed(one)):
            continue
        reason, tags = notes.get((made.id, "reason")), notes.get((made.id, "tags"))
        first = made.predictions[0]
        yield {
            "id": made.hash,
            "attempt": made.id,
            "round": info.ref,
            "worker": names.get(made.user_id or 0),
            "session": made.session_id,
            "number": made.number,
            "condition": made.condition,
            "prompt": made.prompt_id,
            **{name: made.inputs.get(name) for name in fields},
            "target": _as_text(made.target),
            "prediction": _as_text(first["answer"]),
            "model": first["model"],
            "model_hash": first["hash"],
            "probabilities": None if first["probabilities"] is None else json.dumps(first["probabilities"]),
            "predictions": json.dumps(made.predictions, ensure_ascii=False),
            "fooled": one.fooled,
            "confirmed": one.confirmed,
            "reason": reason.text if reason else None,
            "tags": tags.tags if tags else [],
            "edit_distance": made.edit_distance,
            "edit_share": made.source.get("edit_share"),
            "seconds": made.seconds,
            "at": made.created_at.isoformat(),
        }


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
