"""Questions about models, their versions and their cards."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, exists, false, func, or_, select, true
from sqlalchemy.orm import Session, aliased

from quintain.store.base import table_of
from quintain.store.tables import Model, ModelCard, ModelVersion, TaskRow, User

_version, _model, _task, _owner = (table_of(table) for table in (ModelVersion, Model, TaskRow, User))
_card = table_of(ModelCard)
_NEWEST_CARD = (
    select(_card.c.text)
    .where(_card.c.version_id == _version.c.id)
    .order_by(_card.c.id.desc())
    .limit(1)
    .correlate(_version)
    .scalar_subquery()
)
_FACTS = (
    select(
        _task.c.name,
        _model.c.name.label("model"),
        _version.c.number,
        _version.c.hash,
        _version.c.adapter,
        _version.c.blob,
        func.coalesce(_NEWEST_CARD, _version.c.card).label("card"),
        _version.c.meta,
        _model.c.visibility,
        _owner.c.name.label("owner"),
        _version.c.created_at,
        _version.c.withdrawn_at,
        _version.c.id,
        _model.c.owner_id,
    )
    .join_from(_version, _model, _model.c.id == _version.c.model_id)
    .join(_task, _task.c.id == _model.c.task_id)
    .outerjoin(_owner, _owner.c.id == _model.c.owner_id)
    .where(_version.c.id.in_(bindparam("ids", expanding=True)))
)
_BY_ID = (
    select(ModelVersion, Model, TaskRow.name)
    .join(Model, Model.id == ModelVersion.model_id)
    .join(TaskRow, TaskRow.id == Model.task_id)
    .where(ModelVersion.id.in_(bindparam("ids", expanding=True)))
    .execution_options(populate_existing=True)
)


def model(db: Session, task: str, name: str) -> Model | None:
    """Return the model *name* of *task*; None without one."""
    query = select(Model).join(TaskRow, TaskRow.id == Model.task_id)
    return db.scalar(query.where(TaskRow.name == task, Model.name == name))


def models(
    db: Session, task: str | None, names: Sequence[str] | None = None
) -> Sequence[tuple[Model, str, str | None]]:
    """List the models of *task*, or of all tasks, with the names of task and owner; with *names*, those only."""
    query = (
        select(Model, TaskRow.name, User.name)
        .join(TaskRow, TaskRow.id == Model.task_id)
        .outerjoin(User, User.id == Model.owner_id)
        .order_by(TaskRow.name, Model.name)
    )
    if task is not None:
        query = query.where(TaskRow.name == task)
    if names is not None:
        query = query.where(Model.name.in_(names))
    return [(model, name, owner) for model, name, owner in db.execute(query)]


class ModelSight(NamedTuple):
    """Whose eyes look at models: their own are theirs, and all of the tasks that they own; *owned* is None for all."""

    user_id: int | None
    owned: tuple[str, ...] | None

    def edits(self) -> ColumnElement[bool]:
        """Return a condition on a model, joined with its task: whether it may be changed."""
        if self.owned is None:
            return true()
        mine = false() if self.user_id is None else Model.owner_id == self.user_id
        return or_(mine, TaskRow.name.in_(self.owned))

    def sees(self) -> ColumnElement[bool]:
        """Return a condition on a model: whether it is listed, standing and not private, or may be changed."""
        version = aliased(ModelVersion)
        of_model = version.model_id == Model.id
        stands = exists().where(of_model, version.withdrawn_at.is_(None))
        return or_(and_(stands, Model.visibility != "private"), and_(exists().where(of_model), self.edits()))


def count_seen(db: Session, sight: ModelSight, task: str) -> int:
    """Count the models of *task* that are seen."""
    query = select(func.count(Model.id)).join(TaskRow, TaskRow.id == Model.task_id)
    return db.scalar(query.where(TaskRow.name == task, sight.sees())) or 0


def names(
    db: Session, sight: ModelSight, task: str | None, *, limit: int | None = None, offset: int = 0
) -> list[tuple[str, str]]:
    """List task and name of the models that are seen, of *task* or of all."""
    query = (
        select(TaskRow.name, Model.name)
        .join(TaskRow, TaskRow.id == Model.task_id)
        .where(sight.sees())
        .order_by(TaskRow.name, Model.name)
    )
    if task is not None:
        query = query.where(TaskRow.name == task)
    return [(of_task, name) for of_task, name in db.execute(query.limit(limit).offset(offset))]


class ChosenVersion(NamedTuple):
    """The newest version of a model that stands: what a choice of models shows of it."""

    model: str
    number: int
    visibility: str
    adapter: str
    id: int


def newest_versions(
    db: Session, sight: ModelSight, task: str, *, limit: int, editable: bool = False, adapter: str | None = None
) -> list[ChosenVersion]:
    """List the newest standing versions of the models of *task* that are seen, the last that came first.

    They are read from the newest on, so that the rest of many costs nothing.
    """
    newer = aliased(ModelVersion)
    outdated = exists().where(
        newer.model_id == ModelVersion.model_id,
        newer.number > ModelVersion.number,
        newer.withdrawn_at.is_(None),
    )
    query = (
        select(Model.name, ModelVersion.number, Model.visibility, ModelVersion.adapter, ModelVersion.id)
        .join(Model, Model.id == ModelVersion.model_id)
        .join(TaskRow, TaskRow.id == Model.task_id)
        .where(TaskRow.name == task, ModelVersion.withdrawn_at.is_(None), ~outdated)
        .where(sight.edits() if editable else or_(Model.visibility != "private", sight.edits()))
        .order_by(ModelVersion.id.desc())
        .limit(limit)
    )
    if adapter is not None:
        query = query.where(ModelVersion.adapter == adapter)
    return [ChosenVersion(*row) for row in db.execute(query)]


def visibilities(db: Session, sight: ModelSight, task: str) -> dict[str, str]:
    """Return the visibility of each model of *task* that is seen, by its name."""
    query = select(Model.name, Model.visibility).join(TaskRow, TaskRow.id == Model.task_id)
    return {row.name: row.visibility for row in db.execute(query.where(TaskRow.name == task, sight.sees()))}


def lines(db: Session, sight: ModelSight, task: str) -> list[tuple[str, datetime]]:
    """List the names of the models of *task* that are seen, and when the newest version of each came."""
    # Each model's versions are found by their index; joined, PostgreSQL reads all versions again for every model.
    newest = select(func.max(ModelVersion.created_at)).where(ModelVersion.model_id == Model.id).scalar_subquery()
    query = (
        select(Model.name, newest)
        .join(TaskRow, TaskRow.id == Model.task_id)
        .where(TaskRow.name == task, sight.sees())
        .order_by(Model.name)
    )
    return [(name, moment) for name, moment in db.execute(query) if moment is not None]


def versions(db: Session, model_ids: Sequence[int]) -> Sequence[ModelVersion]:
    """List the versions of the models *model_ids*, newest first within each."""
    query = select(ModelVersion).where(ModelVersion.model_id.in_(model_ids))
    return db.scalars(query.order_by(ModelVersion.model_id, ModelVersion.number.desc())).all()


def versions_by_id(db: Session, ids: Sequence[int]) -> Sequence[tuple[ModelVersion, Model, str]]:
    """List versions by their ids, each with its model and the name of its task."""
    return [(version, model, task) for version, model, task in db.execute(_BY_ID, {"ids": list(ids)})]


def version_facts(db: Session, ids: Sequence[int]) -> Sequence[Any]:
    """Return what `ModelVersionInfo` tells of versions, in its order, by their ids. Every attempt asks this."""
    return db.execute(_FACTS, {"ids": list(ids)}).all()


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
    """Return the version of a model that has exactly this hash."""
    query = select(ModelVersion).where(ModelVersion.model_id == model_id, ModelVersion.hash == full_hash)
    return db.scalar(query)


def next_number(db: Session, model_id: int) -> int:
    """Return the number that the next version of a model gets."""
    return (db.scalar(select(func.max(ModelVersion.number)).where(ModelVersion.model_id == model_id)) or 0) + 1


def newest_cards(db: Session, version_ids: Sequence[int]) -> dict[int, str]:
    """Return the newest later card of each version that has one."""
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
