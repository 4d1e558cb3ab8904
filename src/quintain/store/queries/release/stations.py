"""Queries on the stations of a round: how much was written, what was released, what was trained on it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import String, cast, func, or_, select
from sqlalchemy.orm import Session

from quintain.store.queries.collect.attempts import retracted_count
from quintain.store.tables import Attempt, Model, ModelVersion, TaskRow


def written(db: Session, round_id: int) -> int:
    """Count the attempts of a round that were not retracted."""
    made = db.scalar(select(func.count()).where(Attempt.round_id == round_id)) or 0
    return made - retracted_count(db, round_id)


def trained_on(db: Session, task: str, refs: Sequence[str]) -> list[str]:
    """List the models of a task that were trained on one of these data set versions, the newest first."""
    if not refs:
        return []
    said = cast(ModelVersion.meta, String)
    query = (
        select(Model.name, ModelVersion.number, ModelVersion.meta)
        .join(Model, Model.id == ModelVersion.model_id)
        .join(TaskRow, TaskRow.id == Model.task_id)
        # The text finds the few rows that may be meant; the table in them decides.
        .where(TaskRow.name == task, ModelVersion.withdrawn_at.is_(None), or_(*(said.contains(ref) for ref in refs)))
        .order_by(ModelVersion.id.desc())
    )
    return [
        f"{task}/{name}@{number}"
        for name, number, meta in db.execute(query)
        if any(source.get("name") in refs for source in meta.get("data") or [])
    ]
