"""Queries on what waits for somebody: runs that failed, pay."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.core.cells import CellState
from quintain.store.queries.jobs import counts
from quintain.store.tables import (
    Cell,
    Dataset,
    DatasetVersion,
    Earning,
    EarningDecision,
    EarningStanding,
    Model,
    ModelVersion,
    TaskRow,
)


def failed_runs(db: Session, user_id: int, limit: int) -> list[tuple[str, str, str, int, int]]:
    """List what failed of somebody's own models: task, model, data set, how many runs, and the newest of them."""
    query = (
        select(TaskRow.name, Model.name, Dataset.name, func.count(Cell.id), func.max(Cell.id))
        .select_from(Cell)
        .join(ModelVersion, ModelVersion.id == Cell.model_version_id)
        .join(Model, Model.id == ModelVersion.model_id)
        .join(TaskRow, TaskRow.id == Model.task_id)
        .join(DatasetVersion, DatasetVersion.id == Cell.dataset_version_id)
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        .where(Model.owner_id == user_id, Cell.state == CellState.FAILED, ModelVersion.withdrawn_at.is_(None))
        .group_by(TaskRow.name, Model.name, Dataset.name)
        .order_by(func.max(Cell.id).desc())
        .limit(limit)
    )
    return [(task, model, dataset, int(n), int(cell)) for task, model, dataset, n, cell in db.execute(query)]


def pending_earnings(db: Session, round_id: int) -> int:
    """Return the number of the earnings of a round that nobody has decided on."""
    return counts.of_round(db, round_id).get("earnings.pending", 0)


def approved_pay(db: Session, user_id: int, since: datetime) -> list[tuple[str, str, int, int]]:
    """Add up what somebody was granted *since* then: task, currency, how many earnings, and their sum."""
    query = (
        select(TaskRow.name, Earning.currency, func.count(), func.sum(Earning.amount))
        .select_from(Earning)
        .join(EarningStanding, EarningStanding.earning_id == Earning.id)
        .join(EarningDecision, EarningDecision.id == EarningStanding.decision_id)
        .join(TaskRow, TaskRow.id == Earning.task_id)
        .where(EarningStanding.user_id == user_id, EarningStanding.status.in_(("approved", "paid")))
        .where(EarningDecision.created_at >= since)
        .group_by(TaskRow.name, Earning.currency)
    )
    return [(task, currency, int(n), int(sum_)) for task, currency, n, sum_ in db.execute(query)]
