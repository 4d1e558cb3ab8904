"""What all tables share: the declarative base, and times that are always UTC."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, MetaData, Table, TypeDecorator, event
from sqlalchemy.orm import DeclarativeBase, Session

NAMING = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


_told: ContextVar[Callable[[], datetime] | None] = ContextVar("told", default=None)


class UtcTime(TypeDecorator[datetime]):
    """A moment in UTC. SQLite forgets time zones, so they are put back on reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse moments without a zone: they would mean another time elsewhere."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("A stored time needs a time zone.")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Put the zone back where the database forgot it."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """The base of all tables."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: UtcTime, dict[str, Any]: JSON, list[str]: JSON}  # noqa: RUF012


class Fact:
    """A mixin for rows that are only ever added: a retraction is a new row. Erasing a person is the one exception."""


@event.listens_for(Session, "before_flush")
def _refuse_to_change_facts(session: Session, context: object, instances: object) -> None:
    changed = [item for item in session.dirty if isinstance(item, Fact) and session.is_modified(item)]
    for item in (*changed, *(item for item in session.deleted if isinstance(item, Fact))):
        raise TypeError(f"{type(item).__name__} is a fact: add a new one instead of changing what was written.")


def table_of(kind: type[Base]) -> Table:
    """Return the plain table of a class, for queries so frequent that making objects of the rows would tell.

    Statements of plain tables do not write down first what a session has pending.
    """
    table = kind.__table__
    if not isinstance(table, Table):
        raise TypeError(f"{kind.__name__} has no table of its own.")
    return table


def now() -> datetime:
    """Return this moment in UTC. Tables use it for their defaults; services take the time from here too."""
    moment_of = _told.get()
    return moment_of() if moment_of else datetime.now(UTC)


@contextmanager
def clock(moment_of: Callable[[], datetime]) -> Iterator[None]:
    """Let `now` be what *moment_of* returns, for simulated people: their time passes without being waited for."""
    token = _told.set(moment_of)
    try:
        yield
    finally:
        _told.reset(token)
