"""What a task's owner answers to the open questions of its datasheets: kept, and taken into the next release."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.datasheet import DatasheetSpec, open_questions
from quintain.core.editing import ANYHOW, EditOrigin, revision_of_spec, settled
from quintain.core.people import Actor
from quintain.core.records.release import DatasheetText
from quintain.core.spec import plain, read, restore
from quintain.core.spec_changes import review
from quintain.core.toml import parse_toml
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.tasks.definitions import find_row
from quintain.store.database import lock, transaction
from quintain.store.queries.release import datasheets as queries
from quintain.store.tables import DatasheetAnswers
from quintain.tasks.writing import dump_toml


def answers_of(db: Session, task: str) -> DatasheetSpec:
    """Return the answers for the task; for other services, which have asked who may read them."""
    row = queries.newest(db, find_row(db, task).id)
    return restore(DatasheetSpec, row.answers) if row is not None else DatasheetSpec()


def get_answers(db: Session, actor: Actor, task: str) -> DatasheetSpec:
    """Return the answers for the task (owners)."""
    find_row(db, task)
    require_owner(actor, task)
    return answers_of(db, task)


def answers_text(db: Session, actor: Actor, task: str) -> DatasheetText:
    """Return the answers as a TOML file, with the questions that are open (owners)."""
    spec = get_answers(db, actor, task)
    return DatasheetText(task, dump_toml(plain(spec, whole=True)), open_questions(spec), revision_of_spec(spec))


def put_answers(
    db: Session, actor: Actor, task: str, text: str, *, file: str | None = None, edit: EditOrigin = ANYHOW
) -> DatasheetSpec:
    """Let the answers in a TOML *text* stand in datasheets from the next release on (owners)."""
    return save_answers(db, actor, task, parse_toml(text, file=file), file=file, edit=edit)


def save_answers(
    db: Session, actor: Actor, task: str, data: Mapping[str, Any], *, file: str | None = None, edit: EditOrigin = ANYHOW
) -> DatasheetSpec:
    """Let answers, as TOML or a page gives them, stand in datasheets from the next release on (owners).

    *edit* says what they were made from.
    """
    spec = read(DatasheetSpec, data, file=file)
    with transaction(db):
        row = find_row(db, task)
        require_owner(actor, task)
        lock(db, f"datasheet of {row.id}")
        before = answers_of(db, task)
        spec = settled(edit, before, spec, partial(read, DatasheetSpec))
        review(edit, plain(before, whole=True), plain(spec, whole=True), data, file)
        if spec != before:
            db.add(DatasheetAnswers(task_id=row.id, answers=plain(spec, whole=True), by=actor.user_id))
            audit.record(db, actor, "datasheet.answers", task, open=len(open_questions(spec)))
    return spec
