"""Defining tasks: put, get, list, look back, archive."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.editing import ANYHOW, EditOrigin, revision_of
from quintain.core.errors import Conflict, NotFound
from quintain.core.people import Actor, RoleName
from quintain.core.records import tasks as records
from quintain.core.records.tasks import TaskChange
from quintain.core.spec_changes import review
from quintain.core.task import Task
from quintain.core.texts import either
from quintain.core.toml import parse_toml
from quintain.metrics.contract import METRICS
from quintain.services.access.audit import record
from quintain.services.access.permissions import require_owner, require_role
from quintain.services.plain.files.tasks import check_task
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.tasks import tasks as queries
from quintain.store.search_index import Findable, keep_entry
from quintain.store.tables import TaskRow
from quintain.tasks.contract import kind_of
from quintain.tasks.definition import parse_task
from quintain.tasks.writing import dump_toml


@dataclass(frozen=True, slots=True)
class ListedTask:
    """A task in a list: its definition, how often that changed, and whether it is archived."""

    task: Task
    version: int
    created_at: datetime
    changed_at: datetime
    archived: bool

    def record(self) -> records.TaskSummary:
        """Return the record that programs see."""
        task = self.task
        return records.TaskSummary(
            name=task.name,
            kind=task.kind,
            title=task.title,
            labels=list(task.label_names),
            languages=list(task.languages),
            canonical_metric=task.canonical_metric,
            version=self.version,
            created_at=self.created_at,
            changed_at=self.changed_at,
            archived=self.archived,
        )


def record_of(task: Task, revision: str = "") -> records.TaskInfo:
    """Return a task as programs see it, with the *revision* of its definition."""
    kind = kind_of(task)
    return records.TaskInfo(
        name=task.name,
        kind=task.kind,
        title=task.title,
        labels=task.labels,
        extra_labels=task.extra_labels,
        fields=tuple(
            records.TaskField(field.name, field.type, field.title, field.required, field.max_length)
            for field in kind.fields(task)
        ),
        answer_type=kind.answer_type,
        instructions=task.instructions,
        content_warning=task.content_warning,
        languages=list(task.languages),
        metrics=list(task.metrics),
        canonical_metric=task.canonical_metric,
        options=task.options,
        revision=revision,
        counted_perturbations=list(task.counted_perturbations),
    )


def leading_metric(task: Task) -> str:
    """Return the metric of predictions that stands first: the canonical one, unless that is a rate of rounds."""
    own = [name for name in task.metrics if name in METRICS]
    return task.canonical_metric if task.canonical_metric in own or not own else own[0]


def put_task(
    db: Session,
    actor: Actor,
    toml_text: str,
    *,
    name: str | None = None,
    file: str | None = None,
    new: bool = False,
    edit: EditOrigin = ANYHOW,
) -> Task:
    """Add the task that *toml_text* defines, or change the one of that name; the same text again changes nothing.

    A new task needs an admin or somebody with the role of owner, who then owns it; a change needs its owner. Where a
    *name* is given, it is that task's text, and no other's; a *new* task may not be there. *edit* says what the text
    was made from.
    """
    if name is not None:
        get_task(db, name)
    task = check_task(toml_text, file=file)
    if name is not None and task.name != name:
        raise Conflict(
            "This defines '{name}', not '{task}'.", name=task.name, task=name, remedy="A task keeps its name."
        )
    with transaction(db):
        lock(db, f"task {task.name}")
        row = queries.task_row(db, task.name)
        newest = queries.newest_version(db, row.id) if row is not None else None
        if row is not None:
            require_owner(actor, task.name)
        if newest is not None and not new:
            toml_text = settled_text(edit, newest.toml, toml_text)
            task = check_task(toml_text, file=file)
            _refuse_other_kind(task, parse_task(newest.toml))
        after = parse_toml(toml_text)
        review(edit, parse_toml(newest.toml) if newest else None, after, after, file)
        if row is None:
            require_role(actor, RoleName.OWNER)
            row = queries.add_task(db, task.name)
            if actor.user_id is not None:
                queries.add_owner(db, row.id, actor.user_id)
            number = 1
        elif new:
            raise Conflict("There is a task '{name}' already.", name=task.name, remedy="Give this one another name.")
        else:
            if newest is not None and newest.toml == toml_text:
                return task
            number = newest.number + 1 if newest else 1
        queries.add_version(db, row.id, number=number, toml=toml_text, created_by=actor.user_id)
        titles, instructions = task.title.values(), task.instructions.values()
        keep_entry(
            db,
            Findable.TASK,
            row.id,
            task_id=row.id,
            title=" ".join([task.name, *titles]),
            text="\n".join(instructions),
        )
        record(db, actor, "task.add" if number == 1 else "task.change", task.name, version=number)
    return task


def settled_text(edit: EditOrigin, stored: str, proposed: str) -> str:
    """Return the *proposed* TOML text, written anew where an edit of it leaves fields as they are *stored*."""
    new_values, stored_values = parse_toml(proposed), parse_toml(stored)
    chosen = edit.settled(stored_values, new_values)
    if chosen == new_values:
        return proposed
    return stored if chosen == stored_values else dump_toml(chosen)


def task_revision(db: Session, name: str) -> str:
    """Return the revision of a task's definition, which an edit brings back."""
    return revision_of(stored_table(db, name))


def stored_table(db: Session, name: str) -> dict[str, Any]:
    """Return a task's definition as it is stored, as plain data."""
    return parse_toml(queries.newest_toml(db, name) or "")


def _refuse_other_kind(task: Task, before: Task) -> None:
    if task.kind != before.kind:
        raise Conflict(
            "Task '{name}' is of kind '{kind}', and its data and models are made for that.",
            name=task.name,
            kind=before.kind,
            other=task.kind,
            remedy="Give the '{other}' task another name.",
        )


def get_task(db: Session, name: str) -> Task:
    """Return the task called *name* as it is defined now; NotFound, with close names, where there is none."""
    toml = queries.newest_toml(db, name)
    if toml is None:
        find_row(db, name)
        raise NotFound("Task '{name}' has no definition.", name=name, remedy="Put its TOML file again.")
    return parse_stored(toml)


def get_own_task(db: Session, actor: Actor, name: str) -> Task:
    """Return a task to one of its owners; Forbidden for anybody else."""
    task = get_task(db, name)
    require_owner(actor, name)
    return task


def may_make_tasks(actor: Actor) -> None:
    """Refuse whoever may not make tasks, before anything is asked of them."""
    require_role(actor, RoleName.OWNER)


@lru_cache(maxsize=256)
def parse_stored(toml_text: str) -> Task:
    """Return the task that a stored file defines. It is remembered by its text, so a changed file is another task."""
    return parse_task(toml_text)


def list_tasks(db: Session, *, archived: bool = False) -> list[ListedTask]:
    """List the tasks by name; archived ones only where asked for."""
    return [
        ListedTask(
            task=parse_stored(version.toml),
            version=version.number,
            created_at=row.created_at,
            changed_at=version.created_at,
            archived=row.archived_at is not None,
        )
        for row, version in queries.tasks_with_newest(db, archived=archived)
    ]


def task_history(db: Session, name: str) -> list[TaskChange]:
    """List every state of a task's file, the newest first."""
    row = find_row(db, name)
    return [
        TaskChange(number=version.number, toml=version.toml, by=author, at=version.created_at)
        for version, author in queries.versions(db, row.id)
    ]


def archive_task(db: Session, actor: Actor, name: str, *, archived: bool = True) -> None:
    """Take a task out of the lists, or put it back; nothing is lost."""
    with transaction(db):
        row = find_row(db, name)
        require_owner(actor, name)
        if (row.archived_at is not None) != archived:
            row.archived_at = now() if archived else None
            db.flush()
            record(db, actor, "task.archive" if archived else "task.restore", name)


def is_archived(db: Session, name: str) -> bool:
    """Whether a task is out of the lists."""
    return find_row(db, name).archived_at is not None


def only_task_id(db: Session, actor: Actor) -> int | None:
    """Return the id of the one task that the actor's session is good for, which a panel's link began; None: of all."""
    return None if actor.task is None else find_row(db, actor.task).id


def find_row(db: Session, name: str) -> TaskRow:
    """Return the row of the task called *name*; NotFound, with close names, where there is none."""
    row = queries.task_row(db, name)
    if row is None:
        close = get_close_matches(name, queries.task_names(db), n=3)
        raise NotFound(
            "There is no task called '{name}'.",
            name=name,
            close=either(close) if close else "",
            remedy="Did you mean {close}?" if close else "`quintain task list` shows those there are.",
            page="Did you mean {close}?" if close else "The first page lists those there are.",
        )
    return row
