"""Questions about the pool in which a trial is judged: its items, and the runs of models on them."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, func, or_, select, text
from sqlalchemy.orm import Session

from quintain.core.cells import CellState
from quintain.core.validation import SlotState
from quintain.store.queries.validate.validation import ENDS, WINDOW
from quintain.store.tables import Cell, Model, ModelVersion, Slot, ValidationItem


class PoolItem(NamedTuple):
    """An item of the pool: what was written, the writer's answer, and that as a label, where it is one."""

    id: int
    hash: str
    inputs: dict[str, Any]
    answer: Any
    aim: str


class PoolRun(NamedTuple):
    """A model's run on the items: its name with the version, and where the run stands."""

    model: str
    cell: int
    state: str
    done: int
    total: int
    reason: str
    predictions: str | None


_EARNED = text(ENDS.format(name="earnings", whose="task_id = :task", window=WINDOW))
_DECIDED = text("SELECT coalesce(max(id), 0) FROM earning_decisions")


def items(db: Session, validation_id: int) -> list[PoolItem]:
    """List the items that stand, in order; gold items are none."""
    row = ValidationItem
    query = select(row.id, row.hash, row.inputs, row.answer, row.aim).where(_stands(validation_id)).order_by(row.id)
    return [PoolItem(*one) for one in db.execute(query)]


def count_items(db: Session, validation_id: int, after: int = 0) -> int:
    """Count the items that stand, or those that came *after* one of them."""
    query = select(func.count(ValidationItem.id)).where(_stands(validation_id), ValidationItem.id > after)
    return db.scalar(query) or 0


def count_waiting(db: Session, validation_id: int) -> int:
    """Count the items that stand and still want judgements."""
    open_ = select(Slot.item_id).where(
        Slot.validation_id == validation_id, Slot.state.in_((SlotState.OPEN, SlotState.LEASED))
    )
    query = select(func.count(ValidationItem.id)).where(_stands(validation_id), ValidationItem.id.in_(open_))
    return db.scalar(query) or 0


def runs(db: Session, dataset_version_id: int, variant: str) -> list[PoolRun]:
    """List the runs of models on a data set version, by the models' names.

    Of a version that was withdrawn since, what it had said stays: a report keeps what it rests on.
    """
    query = (
        select(
            Model.name, ModelVersion.number, Cell.id, Cell.state, Cell.done, Cell.total, Cell.reason, Cell.predictions
        )
        .join(ModelVersion, ModelVersion.id == Cell.model_version_id)
        .join(Model, Model.id == ModelVersion.model_id)
        .where(Cell.dataset_version_id == dataset_version_id, Cell.variant == variant)
        .where(or_(ModelVersion.withdrawn_at.is_(None), Cell.state == CellState.DONE.value))
        .order_by(Model.name, ModelVersion.number)
    )
    return [PoolRun(f"{row[0]}@{row[1]}", row[2], row[3], row[4], row[5], row[6], row[7]) for row in db.execute(query)]


def newest_pay(db: Session, task_id: int) -> str:
    """Return a text that changes with what was earned in a task and decided on, by the ends of the indices."""
    newest, number = db.connection().execute(_EARNED, {"task": task_id}).one()
    return f"{newest or 0}.{number}/{db.connection().execute(_DECIDED).scalar_one()}"


def _stands(validation_id: int) -> ColumnElement[bool]:
    row = ValidationItem
    return and_(row.validation_id == validation_id, row.gold.is_(None), row.retired_at.is_(None))
