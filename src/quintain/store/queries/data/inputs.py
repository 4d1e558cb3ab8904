"""Who may read the inputs of data sets: what owners chose, and what people asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from quintain.store.tables import Dataset, DatasetVersion, InputRequest, TaskRow, User


@dataclass(frozen=True, slots=True)
class RequestRow:
    """A request with who made it, and for which data set."""

    request: InputRequest
    name: str
    task: str
    dataset: str


def dataset_named(db: Session, task: str, name: str) -> Dataset | None:
    """Find a data set by its name."""
    query = select(Dataset).join(TaskRow, TaskRow.id == Dataset.task_id)
    return db.scalar(query.where(TaskRow.name == task, Dataset.name == name))


def has_hidden(db: Session, dataset_id: int) -> bool:
    """Whether a version of the data set has hidden labels."""
    query = select(DatasetVersion.id).where(DatasetVersion.dataset_id == dataset_id, DatasetVersion.hidden)
    return db.scalar(query.limit(1)) is not None


def granted(db: Session, user_id: int) -> frozenset[int]:
    """Return the ids of the data sets whose inputs somebody was granted."""
    query = select(InputRequest.dataset_id).where(InputRequest.user_id == user_id, InputRequest.state == "granted")
    return frozenset(db.scalars(query))


def request_of(db: Session, dataset_id: int, user_id: int) -> InputRequest | None:
    """Find what somebody asked for."""
    query = select(InputRequest).where(InputRequest.dataset_id == dataset_id, InputRequest.user_id == user_id)
    return db.scalar(query)


def add_request(db: Session, dataset_id: int, user_id: int) -> InputRequest:
    """Add the request of somebody who has not asked before."""
    row = InputRequest(dataset_id=dataset_id, user_id=user_id)
    db.add(row)
    return row


def requests(db: Session, dataset_id: int, user_id: int | None = None) -> list[RequestRow]:
    """List what was asked about a data set, the newest first; of *user_id* only where one is named."""
    query = _rows().where(InputRequest.dataset_id == dataset_id)
    if user_id is not None:
        query = query.where(InputRequest.user_id == user_id)
    return [RequestRow(*row) for row in db.execute(query.order_by(InputRequest.id.desc()))]


def waiting(db: Session, tasks: Sequence[str]) -> list[RequestRow]:
    """List the requests that wait for the owners of *tasks*, the oldest first."""
    query = _rows().where(InputRequest.state == "waiting", TaskRow.name.in_(tasks))
    return [RequestRow(*row) for row in db.execute(query.order_by(InputRequest.asked_at))]


def request_numbered(db: Session, dataset_id: int, request_id: int) -> InputRequest | None:
    """Find a request about a data set by its number."""
    query = select(InputRequest).where(InputRequest.dataset_id == dataset_id, InputRequest.id == request_id)
    return db.scalar(query)


def _rows() -> Select[InputRequest, str, str, str]:
    return (
        select(InputRequest, User.name, TaskRow.name, Dataset.name)
        .join(User, User.id == InputRequest.user_id)
        .join(Dataset, Dataset.id == InputRequest.dataset_id)
        .join(TaskRow, TaskRow.id == Dataset.task_id)
    )
