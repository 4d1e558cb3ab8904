"""What stays of a validation: its policies, what judges noted, and what was done to it."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.editing import revision_of_spec
from quintain.core.people import Actor
from quintain.core.records.validate import Act, JudgingNote, Policies, PolicyVersion
from quintain.services.access.permissions import require_owner
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.policy import stored_policy
from quintain.services.validate.types import ValidationInfo
from quintain.store.queries.access import log
from quintain.store.queries.access.people import names as people_names
from quintain.store.queries.validate import intake
from quintain.store.queries.validate import items as item_queries
from quintain.store.queries.validate import judgements as judgement_queries
from quintain.store.queries.validate import validation as queries


def policies(db: Session, actor: Actor, ref: str) -> Policies:
    """Return a validation's policy with every state that it had, the newest first (owners)."""
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    rows = queries.policies(db, validation.id)
    names = people_names(db, {row.created_by for row in rows if row.created_by is not None})
    versions = [
        PolicyVersion(
            row.number,
            row.toml,
            row.created_at,
            names.get(row.created_by or 0, ""),
            revision_of_spec(stored_policy(row.toml)),
        )
        for row in rows
    ]
    newest = versions[0]
    return Policies(newest.version, newest.policy, newest.at, newest.by, newest.revision, versions)


def notes(db: Session, actor: Actor, ref: str) -> list[JudgingNote]:
    """List what judges flagged, then what they skipped, the newest first; nothing on texts that are gone."""
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    return notes_of(db, validation)


def notes_of(db: Session, validation: ValidationInfo) -> list[JudgingNote]:
    """List the same of a validation that was found already; for other services."""
    flags_and_skips = [pair for kind in ("flag", "skip") for pair in judgement_queries.notes(db, validation.id, kind)]
    items = item_queries.items(db, sorted({note.item_id for note, _ in flags_and_skips}))
    gone = intake.gone_among(db, list(items))
    return [
        JudgingNote(note.kind, note.text, name, note.created_at, note.item_id, dict(items[note.item_id].inputs))
        for note, name in flags_and_skips
        if note.item_id not in gone
    ]


def trail(db: Session, actor: Actor, ref: str, *, limit: int = 100) -> list[Act]:
    """List what was done to a validation and its judges, the newest first."""
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    return trail_of(db, validation, limit=limit)


def trail_of(db: Session, validation: ValidationInfo, *, limit: int = 100) -> list[Act]:
    """List the same of a validation that was found already; for other services."""
    entries = log.entries_of_validation(db, validation.ref, limit=limit)
    return [Act(entry.at, entry.actor, entry.action, entry.subject, entry.details) for entry in entries]
