"""Which names are kept from somebody."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.store.tables import Model, TaskRow


def private_models(db: Session, task: str, but_of: int | None) -> list[str]:
    """List the names of the private models of *task*, but for those of the person *but_of*."""
    query = select(Model.name).join(TaskRow, TaskRow.id == Model.task_id)
    query = query.where(TaskRow.name == task, Model.visibility == "private")
    if but_of is not None:
        query = query.where(Model.owner_id.is_distinct_from(but_of))
    return list(db.scalars(query))
