"""Queries on the stations of a round: what was released, what was trained on it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import String, cast, or_, select
from sqlalchemy.orm import Session

from quintain.store.tables import Model, ModelVersion, TaskRow


def trained_on(db: Session, task: str, refs: Sequence[str]) -> list[str]:
    """List the models of a task that were trained on one of these data set versions, the newest first."""
    if not refs:
        return []
    meta_text = cast(ModelVersion.meta, String)
    query = (
        select(Model.name, ModelVersion.number, ModelVersion.meta)
        .join(Model, Model.id == ModelVersion.model_id)
        .join(TaskRow, TaskRow.id == Model.task_id)
        # The text finds the few rows that may be meant; the table in them decides.
        .where(
            TaskRow.name == task, ModelVersion.withdrawn_at.is_(None), or_(*(meta_text.contains(ref) for ref in refs))
        )
        .order_by(ModelVersion.id.desc())
    )
    return [
        f"{task}/{name}@{number}"
        for name, number, meta in db.execute(query)
        if any(source.get("name") in refs for source in meta.get("data") or [])
    ]
