"""All rows of all tables, as plain data that either kind of database can give and take.

Tables are read as the database has them, not as the code knows them: a backup made before an upgrade must hold what
is there. Both ways work in one transaction.

A column of JSON may hold JSON's null, which is a value, or nothing at all: plain rows say `JSON_NULL` and None. Where a
row knows only None, it is read as JSON's null in a column that must hold something.
"""

from __future__ import annotations

import base64
import decimal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from itertools import islice
from typing import Any, Final

from sqlalchemy import (
    JSON,
    Column,
    Connection,
    DateTime,
    Engine,
    LargeBinary,
    MetaData,
    Numeric,
    Table,
    func,
    insert,
    inspect,
    select,
)
from sqlalchemy import table as table_of
from sqlalchemy import text as sql

from quintain.core.errors import BadInput
from quintain.store.migrate import alone, revision_of, upgrade_on
from quintain.store.search_index import drop_index, is_index

VERSION_TABLE = "alembic_version"
BATCH = 1000


class JsonNull(Enum):
    """JSON's null as a value of a row, which None is not: None is a column without a value."""

    NULL = "null"


JSON_NULL: Final = JsonNull.NULL


@dataclass(frozen=True, slots=True)
class DatabaseSnapshot:
    """The database as it was at one moment, however long the reading takes."""

    revision: str | None
    tables: tuple[str, ...]
    _connection: Connection
    _metadata: MetaData

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """Go through the rows of *table* as plain data, in the order of their keys."""
        source = self._metadata.tables[table]
        documents = [column for column in source.columns if isinstance(column.type, JSON)]
        # Drivers give None for both, so the database is asked which it is.
        absent = [column.is_(None) for column in documents]
        query = select(*source.columns, *absent).order_by(*source.primary_key.columns)
        result = self._connection.execution_options(yield_per=BATCH).execute(query)
        names = [column.name for column in source.columns]
        for values in result:
            row = {name: _to_plain(value) for name, value in zip(names, values, strict=False)}
            for column, is_absent in zip(documents, values[len(names) :], strict=True):
                if row[column.name] is None and not is_absent:
                    row[column.name] = JSON_NULL
            yield row


@contextmanager
def snapshot(engine: Engine) -> Iterator[DatabaseSnapshot]:
    """Hold the database still for reading, while others go on writing."""
    with engine.connect() as connection:
        if connection.dialect.name == "postgresql":
            connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        with connection.begin():
            metadata = _reflect(connection)
            revision = revision_of(connection)
            names = tuple(table.name for table in metadata.sorted_tables)
            yield DatabaseSnapshot(revision, names, connection, metadata)


def _nothing_more() -> None:
    """Do nothing besides."""


def replace_all(
    engine: Engine,
    revision: str,
    tables: Iterable[str],
    rows: Callable[[str], Iterable[dict[str, Any]]],
    *,
    to: str = "head",
    finish: Callable[[], None] = _nothing_more,
) -> dict[str, int]:
    """Replace all that is there by *tables*, as of migration *revision*; return the number of rows of each.

    The newer migrations run afterwards, up to *to*, and then *finish*. It happens in one transaction: when anything
    fails, *finish* included, all is as it was.
    """
    with alone(engine) as connection:
        _drop_all(connection)
        upgrade_on(connection, revision)
        metadata = _reflect(connection)
        names = set(tables)
        unknown = names - set(metadata.tables)
        if unknown:
            raise BadInput(
                "The archive has tables that migration '{revision}' does not: {unknown}.",
                revision=revision,
                unknown=", ".join(sorted(unknown)),
            )
        counts = {
            table.name: _load(connection, table, rows(table.name))
            for table in metadata.sorted_tables
            if table.name in names
        }
        if to != revision:
            upgrade_on(connection, to)
        finish()
        return counts


def row_counts(engine: Engine) -> dict[str, int]:
    """Count the rows of every table."""
    with engine.connect() as connection:
        tables = set(inspect(connection).get_table_names()) - {VERSION_TABLE}
        names = sorted(name for name in tables if not is_index(name))
        return {name: connection.scalar(select(func.count()).select_from(table_of(name))) or 0 for name in names}


def _reflect(connection: Connection) -> MetaData:
    metadata = MetaData()
    metadata.reflect(connection, only=_is_table)
    if VERSION_TABLE in metadata.tables:
        metadata.remove(metadata.tables[VERSION_TABLE])
    for table in metadata.tables.values():
        for column in table.columns:
            if isinstance(column.type, JSON):
                column.type.none_as_null = True
    return metadata


def _is_table(name: str, _: object) -> bool:
    return not is_index(name)


def _drop_all(connection: Connection) -> None:
    drop_index(connection)
    metadata = MetaData()
    metadata.reflect(connection)
    metadata.drop_all(connection)


def _load(connection: Connection, table: Table, rows: Iterable[dict[str, Any]]) -> int:
    count = 0
    for some in _batches(rows):
        connection.execute(insert(table), [_from_plain(table, row) for row in some])
        count += len(some)
    if count and connection.dialect.name == "postgresql":
        _set_sequences(connection, table)
    return count


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    left = iter(rows)
    while some := list(islice(left, BATCH)):
        yield some


def _set_sequences(connection: Connection, table: Table) -> None:
    """Let new rows be numbered after those that were loaded with their numbers."""
    for column in table.primary_key.columns:
        query = sql("SELECT pg_get_serial_sequence(:table, :column)")
        sequence = connection.scalar(query, {"table": f'"{table.name}"', "column": column.name})
        if sequence:
            newest = connection.scalar(select(func.max(column)))
            connection.execute(sql("SELECT setval(:sequence, :newest)"), {"sequence": sequence, "newest": newest})


def _to_plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)).isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value) if isinstance(value, decimal.Decimal) else value


def _from_plain(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    try:
        return {name: _value(table.columns[name], value) for name, value in row.items()}
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise BadInput(
            "The archive has a row in {name} that does not fit: {error}.", name=table.name, error=error
        ) from error


def _value(column: Column[Any], value: Any) -> Any:
    kind = column.type
    if isinstance(kind, JSON) and (value is JSON_NULL or (value is None and not column.nullable)):
        return JSON.NULL
    if value is None:
        return None
    if isinstance(kind, DateTime):
        return datetime.fromisoformat(value).astimezone(UTC)
    if isinstance(kind, LargeBinary):
        return base64.b64decode(value)
    if isinstance(kind, Numeric) and isinstance(value, str):
        return decimal.Decimal(value)
    return value
