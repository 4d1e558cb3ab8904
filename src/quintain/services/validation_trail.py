"""What stays of a validation: what judges noted, what was done to it, and its judgements as a file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.data.exporting import write_export
from quintain.data.tables import table_format
from quintain.services import audit
from quintain.services.final_labels import export_rows
from quintain.services.permissions import require_owner
from quintain.services.validate import find
from quintain.store.database import transaction
from quintain.store.queries import judgements as judgement_queries
from quintain.store.queries import log
from quintain.store.queries import validation as queries
from quintain.store.tables import AuditEntry


@dataclass(frozen=True, slots=True)
class Noted:
    """Why somebody skipped or flagged an item."""

    kind: str
    text: str
    worker: str
    at: datetime
    item: int
    inputs: dict[str, Any]


def notes(db: Session, actor: Actor, ref: str) -> list[Noted]:
    """List what judges flagged, then what they skipped, the newest first."""
    ground = find(db, ref)
    require_owner(actor, ground.task.name)
    found = [pair for kind in ("flag", "skip") for pair in judgement_queries.notes(db, ground.id, kind)]
    items = queries.items(db, sorted({note.item_id for note, _ in found}))
    return [
        Noted(note.kind, note.text, name, note.created_at, note.item_id, dict(items[note.item_id].inputs))
        for note, name in found
    ]


def trail(db: Session, actor: Actor, ref: str, *, limit: int = 100) -> list[AuditEntry]:
    """List what was done to a validation and its judges, the newest first."""
    require_owner(actor, find(db, ref).task.name)
    return log.entries_of_validation(db, ref, limit=limit)


def export_judgements(db: Session, actor: Actor, ref: str, path: Path) -> int:
    """Write all judgements to *path*, judges under numbers, in the format that its suffix names, and count them."""
    ground = find(db, ref)
    require_owner(actor, ground.task.name)
    form = table_format(path)
    schema = {"item": pl.String(), "worker": pl.String(), "label": pl.String(), "kept": pl.Boolean()}
    more = {"late": pl.Boolean(), "seconds": pl.Float64()}
    table = pl.DataFrame(export_rows(db, ground), schema={**schema, **more})
    write_export(table.lazy(), form, path)
    with transaction(db):
        audit.record(db, actor, "validation.export", ref, rows=table.height, format=form)
    return table.height
