"""Items and gold items from files and data sets, and the judgements as a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Fault
from quintain.core.people import Actor
from quintain.core.task import Task
from quintain.data.tables import FAULT_LIMIT, read_table, write_table
from quintain.services import audit, dataset_content, gold
from quintain.services.final_labels import export_rows, final_labels
from quintain.services.permissions import require_owner
from quintain.services.validate import Taken, find, take_rows
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries import slots as slot_queries
from quintain.tasks.contract import kind_of


def add_items_from_file(
    db: Session, actor: Actor, ref: str, path: Path, columns: Mapping[str, str] | None = None
) -> Taken:
    """Add the rows of a CSV, JSONL or Parquet file as items; its columns are the task's fields."""
    ground = find(db, ref)
    require_owner(actor, ground.task.name)
    frame = _read(ground.task, path, columns)
    return take_rows(db, actor, ref, [{"inputs": row} for row in frame.iter_rows(named=True)])


def add_items_from_dataset(db: Session, blobs: Blobs, actor: Actor, ref: str, dataset: str) -> Taken:
    """Add the examples of a data set version, such as `task/name@2`, as items; their gold answers are the aims."""
    ground = find(db, ref)
    require_owner(actor, ground.task.name)
    names = [item.name for item in kind_of(ground.task).fields(ground.task)]
    table = dataset_content.scan(db, blobs, actor, dataset, answers=True).select(*names, "answer").collect()
    rows = [
        {"inputs": {name: row[name] for name in names if row[name] is not None}, "answer": row["answer"]}
        for row in table.iter_rows(named=True)
    ]
    return take_rows(db, actor, ref, rows)


def add_gold_from_file(
    db: Session, actor: Actor, ref: str, path: Path, columns: Mapping[str, str] | None = None
) -> int:
    """Add gold items from a file with the task's fields, `label` and, if wished, `note`."""
    ground = find(db, ref)
    require_owner(actor, ground.task.name)
    names = [item.name for item in kind_of(ground.task).fields(ground.task)]
    frame = read_table(path, required=[*names, "label"], optional=["note"], columns=columns)
    rows = [
        {
            "inputs": {name: row[name] for name in names if row[name] is not None},
            "label": row["label"],
            "note": row.get("note"),
        }
        for row in frame.iter_rows(named=True)
    ]
    return gold.add_gold(db, actor, ref, rows)


def _read(task: Task, path: Path, columns: Mapping[str, str] | None) -> pl.DataFrame:
    kind = kind_of(task)
    fields = {item.name: item for item in kind.fields(task)}
    wanted = [name for name, item in fields.items() if item.required]
    frame = read_table(path, required=wanted, optional=[name for name in fields if name not in wanted], columns=columns)
    frame = frame.select(name for name in fields if name in frame.columns)
    faults = kind.check_table(task, frame)
    if faults:
        places = [Fault(one.reason, file=path.name, row=one.row + 1, field=one.field) for one in faults[:FAULT_LIMIT]]
        raise BadInput(faults=places, total=len(faults))
    return frame


def export_judgements(db: Session, actor: Actor, ref: str, path: Path) -> int:
    """Write all judgements as `item,worker,label` with `kept`; judges are numbers. Give how many there are."""
    ground = find(db, ref)
    require_owner(actor, ground.task.name)
    frame = pl.DataFrame(export_rows(db, ground))
    write_table(frame, path)
    _note(db, actor, ref, "judgements", frame.height)
    return frame.height


def export_labels(db: Session, actor: Actor, ref: str, path: Path) -> int:
    """Write one row per item: its label (empty for no majority), who decided, and the votes of each label."""
    ground = find(db, ref)
    require_owner(actor, ground.task.name)
    final = final_labels(db, ground)
    hashes = slot_queries.item_hashes(db, ground.id)
    columns: dict[str, Any] = {
        "item": [hashes[item] for item in final.items.tolist()],
        "label": final.names(),
        "complete": final.complete.tolist(),
        "by_expert": final.decided.tolist(),
    }
    columns |= {f"votes_{name}": final.votes[:, code].tolist() for code, name in enumerate(final.classes)}
    frame = pl.DataFrame(columns)
    write_table(frame, path)
    _note(db, actor, ref, "labels", frame.height)
    return frame.height


def _note(db: Session, actor: Actor, ref: str, what: str, rows: int) -> None:
    with transaction(db):
        audit.record(db, actor, "validation.export", ref, what=what, rows=rows)
