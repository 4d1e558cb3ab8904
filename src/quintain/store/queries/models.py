"""Questions about models, their versions and their cards."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from quintain.store.tables import Model, ModelCard, ModelVersion, TaskRow, User

_CARD = (
    select(ModelCard.text)
    .where(ModelCard.version_id == ModelVersion.id)
    .order_by(ModelCard.id.desc())
    .limit(1)
    .correlate(ModelVersion)
    .scalar_subquery()
)
_BY_ID = (
    select(ModelVersion, Model, TaskRow.name, User.name, func.coalesce(_CARD, ModelVersion.card))
    .join(Model, Model.id == ModelVersion.model_id)
    .join(TaskRow, TaskRow.id == Model.task_id)
    .outerjoin(User, User.id == Model.owner_id)
    .where(ModelVersion.id.in_(bindparam("ids", expanding=True)))
    .execution_options(populate_existing=True)
)


def model(db: Session, task: str, name: str) -> Model | None:
    """Give the model *name* of *task*."""
    query = select(Model).join(TaskRow, TaskRow.id == Model.task_id)
    return db.scalar(query.where(TaskRow.name == task, Model.name == name))


def models(db: Session, task: str | None) -> Sequence[tuple[Model, str, str | None]]:
    """List the models of *task*, or of all tasks, each with the names of its task and its owner."""
    query = (
        select(Model, TaskRow.name, User.name)
        .join(TaskRow, TaskRow.id == Model.task_id)
        .outerjoin(User, User.id == Model.owner_id)
        .order_by(TaskRow.name, Model.name)
    )
    if task is not None:
        query = query.where(TaskRow.name == task)
    return [(model, name, owner) for model, name, owner in db.execute(query)]


def versions(db: Session, model_ids: Sequence[int]) -> Sequence[ModelVersion]:
    """List the versions of the models *model_ids*, newest first within each."""
    query = select(ModelVersion).where(ModelVersion.model_id.in_(model_ids))
    return db.scalars(query.order_by(ModelVersion.model_id, ModelVersion.number.desc())).all()


def versions_by_id(db: Session, ids: Sequence[int]) -> Sequence[tuple[ModelVersion, Model, str, str | None, str]]:
    """List versions by their ids, each with its model, the names of its task and owner, and its newest card."""
    return [(row[0], row[1], row[2], row[3], row[4]) for row in db.execute(_BY_ID, {"ids": list(ids)})]


def with_hash(db: Session, prefix: str) -> Sequence[tuple[ModelVersion, str, str]]:
    """List the versions whose hash begins with *prefix*, with the names of their task and model."""
    query = (
        select(ModelVersion, TaskRow.name, Model.name)
        .join(Model, Model.id == ModelVersion.model_id)
        .join(TaskRow, TaskRow.id == Model.task_id)
        .where(ModelVersion.hash.startswith(prefix, autoescape=True))
        .order_by(ModelVersion.id)
    )
    return [(version, task, model) for version, task, model in db.execute(query)]


def version_with_hash(db: Session, model_id: int, full_hash: str) -> ModelVersion | None:
    """Give the version of a model that has exactly this hash."""
    query = select(ModelVersion).where(ModelVersion.model_id == model_id, ModelVersion.hash == full_hash)
    return db.scalar(query)


def next_number(db: Session, model_id: int) -> int:
    """Give the number that the next version of a model gets."""
    return (db.scalar(select(func.max(ModelVersion.number)).where(ModelVersion.model_id == model_id)) or 0) + 1


def newest_cards(db: Session, version_ids: Sequence[int]) -> dict[int, str]:
    """Give the newest later card of each version that has one."""
    newest = select(func.max(ModelCard.id)).where(ModelCard.version_id.in_(version_ids)).group_by(ModelCard.version_id)
    query = select(ModelCard.version_id, ModelCard.text).where(ModelCard.id.in_(newest))
    return {row.version_id: row.text for row in db.execute(query)}


def cards(db: Session, version_id: int) -> Sequence[tuple[ModelCard, str | None]]:
    """List the later cards of a version, oldest first, each with the name of who wrote it."""
    query = (
        select(ModelCard, User.name)
        .outerjoin(User, User.id == ModelCard.created_by)
        .where(ModelCard.version_id == version_id)
        .order_by(ModelCard.id)
    )
    return [(card, author) for card, author in db.execute(query)]
