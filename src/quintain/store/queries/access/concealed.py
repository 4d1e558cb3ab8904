"""Which names are kept from somebody."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.store.tables import Model, TaskRow


def hidden_models(db: Session, task: str, but_of: int | None) -> dict[str, str]:
    """Return the models of *task* that are not public with how they are seen, but for those of the person *but_of*."""
    query = select(Model.name, Model.visibility).join(TaskRow, TaskRow.id == Model.task_id)
    query = query.where(TaskRow.name == task, Model.visibility != "public")
    if but_of is not None:
        query = query.where(Model.owner_id.is_distinct_from(but_of))
    return {row.name: row.visibility for row in db.execute(query)}
