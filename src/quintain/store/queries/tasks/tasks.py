"""Tasks and their versions."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from quintain.store.tables import RoleGrant, TaskRow, TaskVersion, User

_NEWEST_TOML = (
    select(TaskVersion.toml)
    .join(TaskRow, TaskRow.id == TaskVersion.task_id)
    .where(TaskRow.name == bindparam("name"))
    .order_by(TaskVersion.number.desc())
    .limit(1)
)
_BY_NAME = select(TaskRow).where(TaskRow.name == bindparam("name"))


def task_row(db: Session, name: str) -> TaskRow | None:
    """Find the task called *name*."""
    return db.scalar(_BY_NAME, {"name": name})


def task_names(db: Session) -> list[str]:
    """List the names of all tasks, archived ones too."""
    return list(db.scalars(select(TaskRow.name).order_by(TaskRow.name)))


def newest_version(db: Session, task_id: int) -> TaskVersion | None:
    """Find the newest definition of a task."""
    newest = select(TaskVersion).where(TaskVersion.task_id == task_id).order_by(TaskVersion.number.desc())
    return db.scalar(newest.limit(1))


def newest_toml(db: Session, name: str) -> str | None:
    """Return the newest definition of the task called *name* as it was given, in one statement: every page asks."""
    return db.scalar(_NEWEST_TOML, {"name": name})


def tasks_with_newest(db: Session, *, archived: bool) -> Sequence[tuple[TaskRow, TaskVersion]]:
    """List the tasks by name with their newest definitions; archived ones only where asked for."""
    newest = (
        select(TaskVersion.task_id, func.max(TaskVersion.number).label("number")).group_by(TaskVersion.task_id)
    ).subquery()
    query = (
        select(TaskRow, TaskVersion)
        .join(newest, newest.c.task_id == TaskRow.id)
        .join(TaskVersion, (TaskVersion.task_id == TaskRow.id) & (TaskVersion.number == newest.c.number))
        .order_by(TaskRow.name)
    )
    if not archived:
        query = query.where(TaskRow.archived_at.is_(None))
    return [(row, version) for row, version in db.execute(query)]


def versions(db: Session, task_id: int) -> Sequence[tuple[TaskVersion, str | None]]:
    """List all definitions of a task, the newest first, with who gave them."""
    query = (
        select(TaskVersion, User.name)
        .outerjoin(User, User.id == TaskVersion.created_by)
        .where(TaskVersion.task_id == task_id)
        .order_by(TaskVersion.number.desc())
    )
    return [(version, author) for version, author in db.execute(query)]


def add_task(db: Session, name: str) -> TaskRow:
    """Add a task without a definition yet."""
    row = TaskRow(name=name)
    db.add(row)
    db.flush()
    return row


def add_version(db: Session, task_id: int, *, number: int, toml: str, created_by: int | None) -> None:
    """Add a definition."""
    db.add(TaskVersion(task_id=task_id, number=number, toml=toml, created_by=created_by))
    db.flush()


def add_owner(db: Session, task_id: int, user_id: int) -> None:
    """Make a person owner of a task that they have just made."""
    db.add(RoleGrant(user_id=user_id, role="owner", task_id=task_id, granted_by=user_id))
    db.flush()
