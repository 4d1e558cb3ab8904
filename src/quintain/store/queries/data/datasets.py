"""Queries on data sets, their versions, and what was made from what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from quintain.store.tables import (
    Dataset,
    DatasetVersion,
    Lineage,
    ReleaseRow,
    ReleaseVersion,
    Round,
    TaskRow,
    User,
    Validation,
)


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version with the names that it goes by."""

    version: DatasetVersion
    task: str
    dataset: str
    created_by: str | None


@dataclass(frozen=True, slots=True)
class LineageRow:
    """One step by which a version was made: from which parent, how, with which settings."""

    task: str
    dataset: str
    number: int
    how: str
    settings: Mapping[str, Any]


def _versions() -> Select[DatasetVersion, str, str, str]:
    return (
        select(DatasetVersion, TaskRow.name, Dataset.name, User.name)
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        .join(TaskRow, TaskRow.id == Dataset.task_id)
        .outerjoin(User, User.id == DatasetVersion.created_by)
    )


def _rows(db: Session, query: Select[DatasetVersion, str, str, str]) -> list[VersionRow]:
    return [VersionRow(version, task, dataset, who) for version, task, dataset, who in db.execute(query)]


def versions(db: Session, task: str | None = None) -> list[VersionRow]:
    """List the versions of all data sets, or of those of *task*: by name, the newest first."""
    query = _versions().order_by(TaskRow.name, Dataset.name, DatasetVersion.number.desc())
    return _rows(db, query if task is None else query.where(TaskRow.name == task))


def version_numbered(db: Session, task: str, dataset: str, number: int | None) -> VersionRow | None:
    """Find the version *number* of a data set, or its newest one."""
    query = _versions().where(TaskRow.name == task, Dataset.name == dataset)
    if number is not None:
        query = query.where(DatasetVersion.number == number)
    versions = _rows(db, query.order_by(DatasetVersion.number.desc()).limit(1))
    return versions[0] if versions else None


def versions_with_hash(db: Session, prefix: str) -> list[VersionRow]:
    """List the versions whose hash begins with *prefix*."""
    query = _versions().where(DatasetVersion.hash.startswith(prefix, autoescape=True))
    return _rows(db, query.order_by(DatasetVersion.id).limit(20))


def versions_of(db: Session, task: str, dataset: str) -> Sequence[DatasetVersion]:
    """List the versions of one data set, the newest first."""
    query = (
        select(DatasetVersion)
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        .join(TaskRow, TaskRow.id == Dataset.task_id)
        .where(TaskRow.name == task, Dataset.name == dataset)
    )
    return db.scalars(query.order_by(DatasetVersion.number.desc())).all()


def dataset_names(db: Session) -> list[str]:
    """List all data sets as task/name."""
    query = select(TaskRow.name, Dataset.name).join(Dataset, Dataset.task_id == TaskRow.id)
    return [f"{task}/{name}" for task, name in db.execute(query.order_by(TaskRow.name, Dataset.name))]


def dataset_of(db: Session, task_id: int, name: str) -> Dataset:
    """Return the data set *name* of a task, made where it is new."""
    dataset = db.scalar(select(Dataset).where(Dataset.task_id == task_id, Dataset.name == name))
    if dataset is None:
        dataset = Dataset(task_id=task_id, name=name)
        db.add(dataset)
        db.flush()
    return dataset


def add_version(db: Session, version: DatasetVersion) -> DatasetVersion:
    """Add *version* under the next number of its data set."""
    newest = select(func.max(DatasetVersion.number)).where(DatasetVersion.dataset_id == version.dataset_id)
    version.number = (db.scalar(newest) or 0) + 1
    db.add(version)
    db.flush()
    return version


def add_lineage(db: Session, child_id: int, parent_ids: Sequence[int], how: str, settings: Mapping[str, Any]) -> None:
    """Write down what a version was derived from."""
    db.add_all(
        Lineage(child_id=child_id, parent_id=parent_id, how=how, settings=dict(settings)) for parent_id in parent_ids
    )
    db.flush()


def parents(db: Session, version_id: int) -> list[LineageRow]:
    """List what a version was derived from."""
    return _lineage(db, Lineage.parent_id, Lineage.child_id == version_id)


def children(db: Session, version_id: int) -> list[LineageRow]:
    """List what was derived from a version."""
    return _lineage(db, Lineage.child_id, Lineage.parent_id == version_id)


def _lineage(db: Session, other: Any, condition: Any) -> list[LineageRow]:
    query = (
        select(TaskRow.name, Dataset.name, DatasetVersion.number, Lineage.how, Lineage.settings)
        .select_from(Lineage)
        .join(DatasetVersion, DatasetVersion.id == other)
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        .join(TaskRow, TaskRow.id == Dataset.task_id)
        .where(condition)
        .order_by(Lineage.id)
    )
    return [LineageRow(*row) for row in db.execute(query)]


def first_release(db: Session, version_id: int) -> tuple[str, str, int, int | None] | None:
    """Return the first release that a data set version is in: its task, validation, number and round."""
    query = (
        select(TaskRow.name, Validation.name, ReleaseRow.number, Round.number)
        .join_from(ReleaseVersion, ReleaseRow, ReleaseVersion.release_id == ReleaseRow.id)
        .join(Validation, Validation.id == ReleaseRow.validation_id)
        .join(TaskRow, TaskRow.id == Validation.task_id)
        .outerjoin(Round, Round.id == Validation.round_id)
        .where(ReleaseVersion.version_id == version_id)
        .order_by(ReleaseRow.id)
        .limit(1)
    )
    row = db.execute(query).first()
    return (row[0], row[1], row[2], row[3]) if row else None
