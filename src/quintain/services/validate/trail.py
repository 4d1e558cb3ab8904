"""What stays of a validation: its policies, what judges noted, what was done to it, and its judgements as a file."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.validate import Act, JudgingNote, Policies, PolicyVersion
from quintain.data.exporting import write_export
from quintain.data.tables import table_format
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.validate.final_labels import export_rows, final_labels
from quintain.services.validate.validations import find
from quintain.store.database import transaction
from quintain.store.queries.access import log
from quintain.store.queries.access.people import names as people_names
from quintain.store.queries.validate import intake
from quintain.store.queries.validate import items as item_queries
from quintain.store.queries.validate import judgements as judgement_queries
from quintain.store.queries.validate import slots as slot_queries
from quintain.store.queries.validate import validation as queries
from quintain.tasks.contract import kind_of


def policies(db: Session, actor: Actor, ref: str) -> Policies:
    """Give a validation's policy with every state that it had, the newest first."""
    validation = find(db, ref)
    require_owner(actor, validation.task.name)
    rows = queries.policies(db, validation.id)
    names = people_names(db, {row.created_by for row in rows if row.created_by is not None})
    versions = [PolicyVersion(row.number, row.toml, row.created_at, names.get(row.created_by or 0, "")) for row in rows]
    newest = versions[0]
    return Policies(newest.version, newest.policy, newest.at, newest.by, versions)


def notes(db: Session, actor: Actor, ref: str) -> list[JudgingNote]:
    """List what judges flagged, then what they skipped, the newest first; nothing on texts that are gone."""
    validation = find(db, ref)
    require_owner(actor, validation.task.name)
    found = [pair for kind in ("flag", "skip") for pair in judgement_queries.notes(db, validation.id, kind)]
    items = item_queries.items(db, sorted({note.item_id for note, _ in found}))
    gone = set(intake.gone_items(db, validation.id))
    return [
        JudgingNote(note.kind, note.text, name, note.created_at, note.item_id, dict(items[note.item_id].inputs))
        for note, name in found
        if note.item_id not in gone
    ]


def trail(db: Session, actor: Actor, ref: str, *, limit: int = 100) -> list[Act]:
    """List what was done to a validation and its judges, the newest first."""
    require_owner(actor, find(db, ref).task.name)
    found = log.entries_of_validation(db, ref, limit=limit)
    return [Act(one.at, one.actor, one.action, one.subject, one.details) for one in found]


def export_judgements(db: Session, actor: Actor, ref: str, path: Path) -> int:
    """Write all judgements to *path*, judges under numbers, in the format that its suffix names, and count them."""
    validation = find(db, ref)
    require_owner(actor, validation.task.name)
    schema = {"item": pl.String(), "worker": pl.String(), "label": pl.String(), "kept": pl.Boolean()}
    more = {"late": pl.Boolean(), "seconds": pl.Float64(), "asked": pl.Int64()}
    return _write(
        db, actor, ref, path, pl.DataFrame(export_rows(db, validation), schema={**schema, **more}), "judgements"
    )


def export_labels(db: Session, actor: Actor, ref: str, path: Path) -> int:
    """Write one row per judged item: its inputs, its label (empty for no majority), who decided, votes by label.

    It also says how many judgements each was to get and, where writers vote, what the writer's vote is. What was
    retracted or withheld is left out.
    """
    validation = find(db, ref)
    require_owner(actor, validation.task.name)
    final = final_labels(db, validation)
    stands = ~final.gone
    ids = final.items[stands].tolist()
    hashes, items = slot_queries.item_hashes(db, validation.id), item_queries.items(db, ids)
    names = [name for name, there in zip(final.names(), stands.tolist(), strict=True) if there]
    columns = [pl.Series("item", [hashes[item] for item in ids], dtype=pl.String())]
    columns += [
        pl.Series(field.name, [items[item].inputs.get(field.name) for item in ids], strict=False)
        for field in kind_of(validation.task).fields(validation.task)
    ]
    columns += [
        pl.Series("label", names, dtype=pl.String()),
        pl.Series("complete", final.complete[stands]),
        pl.Series("by_expert", final.decided[stands]),
        pl.Series("asked", final.asked[stands]),
    ]
    if validation.policy.writer:
        known = [*final.classes, None]
        columns.append(pl.Series("writer", [known[code] for code in final.writer[stands].tolist()], dtype=pl.String()))
    columns += [pl.Series(f"votes_{name}", final.votes[stands, code]) for code, name in enumerate(final.classes)]
    return _write(db, actor, ref, path, pl.DataFrame(columns), "labels")


def _write(db: Session, actor: Actor, ref: str, path: Path, table: pl.DataFrame, what: str) -> int:
    form = table_format(path)
    write_export(table.lazy(), form, path)
    with transaction(db):
        audit.record(db, actor, "validation.export", ref, what=what, rows=table.height, format=form)
    return table.height
