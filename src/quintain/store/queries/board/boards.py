"""Questions about boards: settings, forks, snapshots, and the data sets they show."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select, union_all
from sqlalchemy.orm import Session

from quintain.core.cells import PLAIN
from quintain.store.tables import (
    AuditEntry,
    BoardFork,
    BoardSettings,
    BoardSnapshot,
    Cell,
    CellEvent,
    Dataset,
    DatasetVersion,
    Model,
    ModelVersion,
    ReleaseRow,
    ReleaseVersion,
    Round,
    RoundVersion,
    TaskRow,
    User,
    Validation,
    ValidationReview,
)

RECENT = 200  # more transactions than run at once
# What people do that a board depends on.
ACTS = (
    *("task.add", "task.archive", "task.change", "task.restore", "data.import", "data.derive"),
    *("model.register", "model.visibility", "model.withdraw", "board.settings", "board.score"),
    *("evaluate.cancel", "evaluate.remeasure", "evaluate.retry", "validation.review", "release.make"),
    *("person.delete", "backup.restore", "figure.repair"),
)


class CellFacts(NamedTuple):
    """When a cell was done, and under what key its predictions are kept."""

    finished_at: datetime | None
    predictions: str | None


def stamp(db: Session) -> tuple[int, ...]:
    """Return numbers that change whenever a board may: the last act, the last event of a cell, the last cell.

    Each is the end of an index, so that asking costs little however much there is. Two transactions may end in another
    order than they began in: the number of the newest rows changes also where a lower id appears after a higher one.
    """
    newest = union_all(*(select(func.max(AuditEntry.id).label("id")).where(AuditEntry.action == act) for act in ACTS))
    act = db.scalar(select(func.max(newest.subquery().c.id)))
    event, cell = db.scalar(select(func.max(CellEvent.id))), db.scalar(select(func.max(Cell.id)))
    recent = (AuditEntry.id > (act or 0) - RECENT, AuditEntry.id <= (act or 0), AuditEntry.action.in_(ACTS))
    acts = db.scalar(select(func.count()).where(*recent)) or 0
    events = db.scalar(select(func.count()).where(CellEvent.id > (event or 0) - RECENT)) or 0
    return act or 0, acts, event or 0, events, cell or 0


def count_cells(db: Session, task: str, most: int) -> int:
    """Count the cells of a task, up to *most*."""
    some = (
        select(Cell.id)
        .join(ModelVersion, ModelVersion.id == Cell.model_version_id)
        .join(Model, Model.id == ModelVersion.model_id)
        .where(Model.task_id == select(TaskRow.id).where(TaskRow.name == task).scalar_subquery())
        .limit(most)
    )
    return db.scalar(select(func.count()).select_from(some.subquery())) or 0


def count_answers(db: Session, task: str) -> int:
    """Count the answers of a task's models that boards are computed from."""
    query = (
        select(func.sum(Cell.total))
        .join(ModelVersion, ModelVersion.id == Cell.model_version_id)
        .join(Model, Model.id == ModelVersion.model_id)
        .join(TaskRow, TaskRow.id == Model.task_id)
        .where(TaskRow.name == task, Cell.variant == "plain")
    )
    return int(db.scalar(query) or 0)


def has_unlisted(db: Session, task: str, user_id: int) -> bool:
    """Whether somebody has a model of *task* that others do not see, or see without knowing whose it is."""
    query = (
        select(Model.id)
        .join(TaskRow, TaskRow.id == Model.task_id)
        .where(TaskRow.name == task, Model.owner_id == user_id, Model.visibility != "public")
    )
    return db.scalar(query.limit(1)) is not None


def cell_facts(db: Session, task: str) -> dict[int, CellFacts]:
    """Return of each cell of a task when it was done, and where its predictions are."""
    query = (
        select(Cell.id, Cell.finished_at, Cell.predictions)
        .join(ModelVersion, ModelVersion.id == Cell.model_version_id)
        .join(Model, Model.id == ModelVersion.model_id)
        .join(TaskRow, TaskRow.id == Model.task_id)
        .where(TaskRow.name == task)
    )
    return {cell: CellFacts(finished, predictions) for cell, finished, predictions in db.execute(query)}


def plain_runs(db: Session, task: str) -> tuple[int, datetime | None]:
    """Count the runs of a task's models on unchanged data that are done, and say when the last of them was."""
    query = (
        select(func.count(Cell.id), func.max(Cell.finished_at))
        .join(ModelVersion, ModelVersion.id == Cell.model_version_id)
        .join(Model, Model.id == ModelVersion.model_id)
        .join(TaskRow, TaskRow.id == Model.task_id)
        .where(TaskRow.name == task, Cell.variant == PLAIN, Cell.predictions.is_not(None))
    )
    number, newest = db.execute(query).one()
    return int(number), newest


def changes(db: Session, task: str, since: datetime | None = None) -> list[datetime]:
    """List when the settings of a task's board changed or a version of its data came, the newest first."""
    settings = select(BoardSettings.created_at).join(TaskRow, TaskRow.id == BoardSettings.task_id)
    versions = (
        select(DatasetVersion.created_at)
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        .join(TaskRow, TaskRow.id == Dataset.task_id)
    )
    moments = [
        moment
        for query, column in ((settings, BoardSettings.created_at), (versions, DatasetVersion.created_at))
        for moment in db.scalars(query.where(TaskRow.name == task).order_by(column.desc()).limit(20))
    ]
    return sorted({moment for moment in moments if since is None or moment > since}, reverse=True)


def withdrawn(db: Session, task: str) -> set[str]:
    """Return the references of the model versions of a task that were withdrawn."""
    query = (
        select(Model.name, ModelVersion.number)
        .join(Model, Model.id == ModelVersion.model_id)
        .join(TaskRow, TaskRow.id == Model.task_id)
        .where(TaskRow.name == task, ModelVersion.withdrawn_at.is_not(None))
    )
    return {f"{task}/{name}@{number}" for name, number in db.execute(query)}


def forks(db: Session, task_id: int) -> Sequence[tuple[BoardFork, str | None]]:
    """List the views that are kept under a name, with whose they are."""
    query = (
        select(BoardFork, User.name)
        .outerjoin(User, User.id == BoardFork.user_id)
        .where(BoardFork.task_id == task_id, BoardFork.deleted_at.is_(None))
    )
    return [(fork, name) for fork, name in db.execute(query.order_by(BoardFork.name))]


def fork(db: Session, task_id: int, name: str) -> BoardFork | None:
    """Return the view called *name*, also one that was removed: its name may be used again. None without one."""
    return db.scalar(select(BoardFork).where(BoardFork.task_id == task_id, BoardFork.name == name))


def snapshots(db: Session, task_id: int) -> Sequence[BoardSnapshot]:
    """List a task's snapshots, newest first."""
    query = select(BoardSnapshot).where(BoardSnapshot.task_id == task_id)
    return db.scalars(query.order_by(BoardSnapshot.id.desc())).all()


def snapshot(db: Session, task_id: int, prefix: str) -> BoardSnapshot | None:
    """Return the task's snapshot whose hash begins with *prefix*."""
    query = select(BoardSnapshot).where(BoardSnapshot.task_id == task_id)
    return db.scalar(query.where(BoardSnapshot.hash.startswith(prefix, autoescape=True)).limit(1))


def unsigned_snapshots(db: Session) -> Sequence[BoardSnapshot]:
    """List the snapshots of all tasks that no key has signed: those from before there were keys."""
    return db.scalars(select(BoardSnapshot).where(BoardSnapshot.key_id.is_(None)).order_by(BoardSnapshot.id)).all()


def hidden_hashes(db: Session) -> dict[str, str]:
    """Return the hash of every version whose answers are hidden, by its reference."""
    query = (
        select(TaskRow.name, Dataset.name, DatasetVersion.number, DatasetVersion.hash)
        .join(Dataset, Dataset.task_id == TaskRow.id)
        .join(DatasetVersion, DatasetVersion.dataset_id == Dataset.id)
        .where(DatasetVersion.hidden)
    )
    return {f"{task}/{name}@{number}": value for task, name, number, value in db.execute(query)}


def opened_rounds(db: Session, task: str, before: datetime | None = None) -> list[tuple[int, datetime | None, str]]:
    """List the rounds of *task* that are no drafts by number: when each was closed, and its file, as at *before*."""
    newest = select(func.max(RoundVersion.id)).where(RoundVersion.round_id == Round.id).correlate(Round)
    query = (
        select(Round.number, Round.closed_at, RoundVersion.toml)
        .join(TaskRow, TaskRow.id == Round.task_id)
        .join(RoundVersion, RoundVersion.id == newest.scalar_subquery())
        .where(TaskRow.name == task, Round.state != "draft")
        .order_by(Round.number)
    )
    if before is not None:
        query = query.where(Round.created_at <= before)
    return [(number, closed_at, toml) for number, closed_at, toml in db.execute(query)]


def round_tests(db: Session, task: str) -> list[tuple[int, str]]:
    """List the rounds of *task* that were released, oldest first, each with the data set of its newest test split."""
    query = (
        select(Round.number, Dataset.name)
        .select_from(ReleaseVersion)
        .join(ReleaseRow, ReleaseRow.id == ReleaseVersion.release_id)
        .join(Validation, Validation.id == ReleaseRow.validation_id)
        .join(Round, Round.id == Validation.round_id)
        .join(TaskRow, TaskRow.id == Round.task_id)
        .join(DatasetVersion, DatasetVersion.id == ReleaseVersion.version_id)
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        .where(TaskRow.name == task, ReleaseVersion.split == "test")
        .order_by(Round.number, ReleaseRow.id)
    )
    return list({number: (number, name) for number, name in db.execute(query)}.values())


def newest_reviews(db: Session, task: str, before: datetime | None = None) -> list[tuple[str, ValidationReview]]:
    """Return the newest review of each validation of a task, as it was at *before*, with the name; the oldest first."""
    newest = select(func.max(ValidationReview.id)).group_by(ValidationReview.validation_id)
    if before is not None:
        newest = newest.where(ValidationReview.created_at <= before)
    query = (
        select(Validation.name, ValidationReview)
        .join(Validation, Validation.id == ValidationReview.validation_id)
        .join(TaskRow, TaskRow.id == Validation.task_id)
        .where(TaskRow.name == task, ValidationReview.id.in_(newest))
        .order_by(Validation.id)
    )
    return [(name, review) for name, review in db.execute(query)]
