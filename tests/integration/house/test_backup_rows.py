"""Whatever a column can hold comes back from a backup as it was, from either kind of database into either."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    Integer,
    String,
    Table,
    insert,
    null,
)

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR
from quintain.services.house import backup_file
from quintain.services.house.backup import create_backup
from quintain.settings import Settings
from quintain.store import archive
from quintain.store.archive import JSON_NULL
from quintain.store.base import Base, UtcTime

ROWS = 6
LAST = ROWS - 1  # the row in which all that may be missing is
FIRST_ID = 1000
LONG = 20_000
KATHMANDU = timezone(timedelta(hours=5, minutes=45))
DOCUMENTS = [
    JSON.NULL,
    "",
    [],
    {"ü": [None, True, 0.1, -(2**53) - 1, "null", {}, "\u2028 \U0001f600"], "": 1e300},
    "null",
    -1.5,
]
MOMENTS = [
    datetime(1, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2026, 3, 29, 2, 30, tzinfo=KATHMANDU),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2024, 2, 29, tzinfo=UTC),
    datetime(2026, 1, 1, 12, 0, 0, 500_000, tzinfo=UTC),
]
DOUBLES = [0.1, -1e308, 5e-324, 1.0, 2.0**53 + 2, 0.0]


def _text(column: Column[Any], number: int) -> str:
    most = getattr(column.type, "length", None) or LONG
    mark = f"{number}"
    shapes = ["", "ß\U0001f9ea\u202e'\"\\\t\n" + "漢" * most, "x" * most, " NULL", "null", "\r\n é"]
    return (mark + shapes[number])[:most] if number else ""


def _whole(bits: int, number: int) -> int:
    most = 2 ** (bits - 1)
    return [0, -most, most - 1, -1, 1, most // 3][number]


def _value(column: Column[Any], number: int) -> Any:
    """Give an awkward value for *column*, another one in every row."""
    if column.foreign_keys:
        return _value(next(iter(column.foreign_keys)).column, number)
    if isinstance(column.type, Integer) and column.primary_key and len(column.table.primary_key.columns) == 1:
        return FIRST_ID + number
    for kind, value in VALUES:
        if isinstance(column.type, kind):
            return value(column, number)
    raise AssertionError(f"{column} has a type for which there is no awkward value yet")


VALUES: list[tuple[type, Callable[[Column[Any], int], Any]]] = [
    (JSON, lambda column, number: DOCUMENTS[number]),
    (Boolean, lambda column, number: number % 2 == 0),
    (BigInteger, lambda column, number: _whole(64, number)),
    (Integer, lambda column, number: _whole(32, number)),
    (Double, lambda column, number: DOUBLES[number]),
    (UtcTime, lambda column, number: MOMENTS[number]),
    (String, _text),  # and Text, which is one
]


def _row(table: Table, number: int) -> dict[str, Any]:
    return {
        column.name: null() if number == LAST and column.nullable else _value(column, number)
        for column in table.columns
    }


def _fill(workspace: Workspace) -> None:
    """Put awkward rows into every table, each naming the row of the same number in others."""
    with workspace.engine.connect().execution_options(writing=True) as connection, connection.begin():
        for table in Base.metadata.sorted_tables:
            for number in range(ROWS):
                connection.execute(insert(table).values(_row(table, number)))


def _everything(workspace: Workspace) -> dict[str, list[dict[str, Any]]]:
    with archive.snapshot(workspace.engine) as snapshot:
        return {name: sorted(snapshot.rows(name), key=_order) for name in snapshot.tables}


def _order(row: dict[str, Any]) -> str:
    return json.dumps(row, sort_keys=True, default=repr)


def _workspace(kind: str, folder: Path, new_database: Callable[[str], str]) -> Workspace:
    folder.mkdir()
    return create_workspace(Settings(workspace=folder, database_url=new_database(kind)))


@pytest.fixture
def kinds(
    request: pytest.FixtureRequest, tmp_path: Path, new_database: Callable[[str], str]
) -> Iterator[tuple[Workspace, Workspace]]:
    """Two workspaces, on the kinds of databases that are named."""
    source, target = request.param
    both = _workspace(source, tmp_path / "source", new_database), _workspace(target, tmp_path / "target", new_database)
    yield both
    for workspace in both:
        workspace.close()


PAIRS = [("sqlite", "sqlite"), ("sqlite", "postgres"), ("postgres", "sqlite")]
EACH_WAY = [
    pytest.param(pair, marks=[pytest.mark.postgres] * ("postgres" in pair), id="-".join(pair)) for pair in PAIRS
]


@pytest.mark.both_databases
@pytest.mark.parametrize("kinds", EACH_WAY, indirect=True)
def test_every_column_of_every_table_comes_back(kinds: tuple[Workspace, Workspace], tmp_path: Path) -> None:
    """JSON's null, nothing, empty and long and foreign texts, extreme numbers and moments arrive row for row."""
    source, target = kinds
    _fill(source)
    file = tmp_path / "rows.zip"
    before = _everything(source)
    assert archive.JSON_NULL in [row["answer"] for row in before["contrast_pivots"]]
    assert None in [row["answer"] for row in before["contrast_pivots"]]
    with source.session() as db:
        info = create_backup(db, source.blobs, OPERATOR, file)
    assert set(info.rows) == set(Base.metadata.tables)
    assert set(info.rows.values()) == {ROWS}
    with backup_file.opened(file) as opened:
        archive.replace_all(target.engine, opened.migration, opened.tables, opened.rows)
    after = _everything(target)
    for table in before:
        assert after[table] == before[table], table


@pytest.mark.both_databases
def test_nulls_of_archives_from_before_are_told_by_their_columns(workspace: Workspace, tmp_path: Path) -> None:
    """Without a list of nulls, one in a column that must hold something is JSON's, and any other is no value."""
    _fill(workspace)
    file, older = tmp_path / "rows.zip", tmp_path / "older.zip"
    with workspace.session() as db:
        create_backup(db, workspace.blobs, OPERATOR, file)
    with zipfile.ZipFile(file) as new, zipfile.ZipFile(older, "w") as old:
        for name in new.namelist():
            old.writestr(name, _as_before(new.read(name)) if name == "manifest.json" else new.read(name))
    before = _everything(workspace)
    with backup_file.opened(older) as opened:
        archive.replace_all(workspace.engine, opened.migration, opened.tables, opened.rows)
    after = _everything(workspace)
    assert after["contest_rulings"] == before["contest_rulings"]
    assert archive.JSON_NULL in [row["original_label"] for row in after["contest_rulings"]]
    assert [row["answer"] for row in after["contrast_pivots"]].count(None) == 2
    assert after["users"] == before["users"]


def _as_before(manifest: bytes) -> bytes:
    """Write a manifest as versions did that knew no lists of nulls and no checksums of rows."""
    shape = json.loads(manifest)
    tables = {name: {"rows": kept["rows"], "sha256": kept["sha256"]} for name, kept in shape["tables"].items()}
    return json.dumps({**shape, "tables": tables}).encode()


@pytest.mark.parametrize(("number", "columns"), [(0, []), (1, ["a"]), (2, ["a", "b"]), (3, []), (7, ["a"]), (8, [])])
def test_ranges_of_nulls_are_short_and_read_in_order(number: int, columns: list[str]) -> None:
    """Neighbouring rows are one range, and each row gets back the nulls that it had."""
    ranges = backup_file._NullRanges()
    held = {1: "a", 2: "ab", 7: "a"}
    for row in range(9):
        written = ranges.written(row, {name: JSON_NULL if name in held.get(row, "") else row for name in "ab"})
        assert JSON_NULL not in written.values()
    assert ranges.plain() == {"a": [1, 2, 7, 1], "b": [2, 1]}
    rows = backup_file._NullRows(ranges.plain())
    assert [rows.columns(row) for row in range(number + 1)][-1] == columns
