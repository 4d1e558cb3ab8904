"""Queries for contrast projects and their pivots: finding, drawing, leases, counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, func, insert, or_, select
from sqlalchemy.orm import Session

from quintain.core.contrast import PivotState, ProjectState, VariantState
from quintain.store.tables import (
    ContrastLook,
    ContrastPivot,
    ContrastProject,
    ContrastVariant,
    Dataset,
    DatasetVersion,
    TaskRow,
)


class ProjectRow(NamedTuple):
    """A project with the names of its task and of the data set version whose examples are edited."""

    project: ContrastProject
    task: str
    dataset: str


def find(db: Session, task: str, name: str) -> ProjectRow | None:
    """Find a project by its task and name."""
    row = db.execute(_projects().where(TaskRow.name == task, ContrastProject.name == name)).one_or_none()
    return _row(row) if row else None


def all_of(db: Session, task: str) -> list[ProjectRow]:
    """List the projects of a task, the newest first."""
    query = _projects().where(TaskRow.name == task).order_by(ContrastProject.id.desc())
    return [_row(row) for row in db.execute(query)]


def newest_open(db: Session, limit: int) -> list[ProjectRow]:
    """List the newest projects that are open."""
    query = _projects().where(ContrastProject.state == ProjectState.OPEN.value)
    return [_row(row) for row in db.execute(query.order_by(ContrastProject.id.desc()).limit(limit))]


def any_free(db: Session, project_id: int, at: datetime) -> bool:
    """Whether a project has an example that nobody has."""
    free = select(ContrastPivot.id).where(
        ContrastPivot.project_id == project_id,
        ContrastPivot.state == PivotState.FREE.value,
        _free(ContrastPivot.lease_until, at),
    )
    return db.scalar(select(free.exists())) or False


def add_pivots(db: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add pivots."""
    if rows:
        db.execute(insert(ContrastPivot), list(rows))


def held(db: Session, project_id: int, user_id: int, at: datetime) -> ContrastPivot | None:
    """Return the pivot that somebody has in hand; None without one."""
    return db.scalar(
        select(ContrastPivot)
        .where(
            ContrastPivot.project_id == project_id,
            ContrastPivot.holder_id == user_id,
            ContrastPivot.state == PivotState.FREE.value,
            ContrastPivot.lease_until > at,
        )
        .order_by(ContrastPivot.id)
        .limit(1)
    )


def draw(db: Session, project_id: int, user_id: int, at: datetime, until: datetime) -> ContrastPivot | None:
    """Lease the pivot whose turn it is. Inside a writing transaction.

    A lease that has lapsed counts as free. Two who draw at the same moment never get the same one: on PostgreSQL a row
    that somebody else is taking is skipped, on SQLite there is one writer at a time.
    """
    query = (
        select(ContrastPivot)
        .where(
            ContrastPivot.project_id == project_id,
            ContrastPivot.state == PivotState.FREE.value,
            _free(ContrastPivot.lease_until, at),
        )
        .order_by(ContrastPivot.draw)
        .limit(1)
        .with_for_update(skip_locked=True)
        .execution_options(populate_existing=True)
    )
    pivot = db.scalar(query)
    if pivot is not None:
        pivot.holder_id, pivot.held_since, pivot.lease_until = user_id, at, until
        pivot.generation += 1
        db.flush()
    return pivot


def pivot(db: Session, project_id: int, pivot_id: int) -> ContrastPivot | None:
    """Return a pivot of a project, as it is now."""
    query = select(ContrastPivot).where(ContrastPivot.project_id == project_id, ContrastPivot.id == pivot_id)
    return db.scalar(query.execution_options(populate_existing=True))


def all_pivots(db: Session, project_id: int) -> list[ContrastPivot]:
    """Return every pivot of a project, in the drawn order."""
    query = select(ContrastPivot).where(ContrastPivot.project_id == project_id).order_by(ContrastPivot.draw)
    return list(db.scalars(query.execution_options(populate_existing=True)))


def pivot_states(db: Session, project_id: int, at: datetime) -> dict[str, int]:
    """Count pivots by state; those in somebody's hands are `held`."""
    leased = and_(ContrastPivot.state == PivotState.FREE.value, ContrastPivot.lease_until > at)
    query = select(
        func.count(),
        func.count().filter(leased),
        *(func.count().filter(ContrastPivot.state == state.value) for state in PivotState),
    ).where(ContrastPivot.project_id == project_id)
    every, in_hand, *states = (int(one) for one in db.execute(query).one())
    by_state = dict(zip((state.value for state in PivotState), states, strict=True))
    return {**by_state, "pivots": every, "held": in_hand, "free": by_state["free"] - in_hand}


def variant_states(db: Session, project_id: int) -> dict[str, Any]:
    """Count variants by state, the sets that have an accepted one, and the mean time of an edit."""
    accepted = ContrastVariant.state == VariantState.ACCEPTED.value
    query = select(
        func.count().filter(ContrastVariant.state != VariantState.WITHDRAWN.value),
        func.count(ContrastVariant.pivot_id.distinct()).filter(accepted),
        func.avg(ContrastVariant.seconds),
        *(func.count().filter(ContrastVariant.state == state.value) for state in VariantState),
    ).where(ContrastVariant.project_id == project_id)
    every, sets, seconds, *states = db.execute(query).one()
    by_state = dict(zip((state.value for state in VariantState), (int(state) for state in states), strict=True))
    return {
        **by_state,
        "variants": int(every),
        "sets": int(sets),
        "seconds": None if seconds is None else float(seconds),
    }


def looks_of(db: Session, project_id: int, user_id: int) -> int:
    """Count how often somebody looked at a model's answer in a project."""
    query = (
        select(func.count()).select_from(ContrastLook).join(ContrastPivot, ContrastPivot.id == ContrastLook.pivot_id)
    )
    return db.scalar(query.where(ContrastPivot.project_id == project_id, ContrastLook.user_id == user_id)) or 0


def example_images(db: Session, project_id: int, *, limit: int) -> list[Mapping[str, Any]]:
    """Return the inputs of some pivots, for a gallery of their images."""
    query = select(ContrastPivot.inputs).where(ContrastPivot.project_id == project_id)
    return list(db.scalars(query.order_by(ContrastPivot.draw).limit(limit)))


def _projects() -> Select[ContrastProject, str, str, int]:
    return (
        select(ContrastProject, TaskRow.name, Dataset.name, DatasetVersion.number)
        .join(TaskRow, TaskRow.id == ContrastProject.task_id)
        .join(DatasetVersion, DatasetVersion.id == ContrastProject.dataset_version_id)
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        .execution_options(populate_existing=True)
    )


def _row(row: Any) -> ProjectRow:
    project, task, dataset, number = row
    return ProjectRow(project, task, f"{task}/{dataset}@{number}")


def _free(lease: Any, at: datetime) -> ColumnElement[bool]:
    return or_(lease.is_(None), lease <= at)
