"""Rows of a table as plain values with their line numbers: for files whose cells differ in shape from row to row.

A gold answer may be a text in one line and a list in the next, which no column of a table holds. In JSON lines a value
is what it is; in the other formats it is a text, and one that begins like a JSON list is read as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quintain.core.errors import BadInput, Fault
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.texts import Text
from quintain.data.in_memory import InMemoryTable, Source
from quintain.data.tables import FAULT_LIMIT, read_table, row_number, table_format
from quintain.data.text import read_bytes


@dataclass(frozen=True, slots=True)
class PlainRow:
    """The values of one row by our names, and the *number* by which a person finds it."""

    number: int
    values: Mapping[str, Any]


def read_rows(
    path: Source, *, required: Sequence[str], optional: Sequence[str] = (), columns: Mapping[str, str] | None = None
) -> list[PlainRow]:
    """Read the rows of a CSV, TSV, JSONL or Parquet file; each has the *required* values, or the file is refused."""
    columns = dict(columns or {})
    if isinstance(path, InMemoryTable) and path.rows is not None:
        theirs = {name: columns.get(name, name) for name in (*required, *optional)}
        records = [PlainRow(at, _named(row, theirs)) for at, row in enumerate(path.rows)]
        refuse(_gaps(records, required, path.name))
        return records
    if not isinstance(path, InMemoryTable) and table_format(path) == "jsonl":
        return _json_lines(path, required, optional, columns)
    table = read_table(path, required=required, optional=optional, columns=columns)
    present = [name for name in (*required, *optional) if name in table.columns]
    rows = table.select(present).to_dicts()
    records = [
        PlainRow(row_number(path, index), {name: _cell(value) for name, value in row.items()})
        for index, row in enumerate(rows)
    ]
    refuse(_gaps(records, required, path.name))
    return records


def refuse(faults: Iterable[Fault], remedy: Text | None = None) -> None:
    """Raise BadInput where there are *faults*."""
    listed = list(faults)
    if listed:
        raise BadInput(faults=listed[:FAULT_LIMIT], total=len(listed), remedy=remedy)


def _json_lines(
    path: Path, required: Sequence[str], optional: Sequence[str], columns: Mapping[str, str]
) -> list[PlainRow]:
    faults: list[Fault] = []
    records: list[PlainRow] = []
    theirs = {name: columns.get(name, name) for name in (*required, *optional)}
    for number, line in enumerate(read_bytes(path).decode().split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except NotJson as error:
            faults.append(Fault("not JSON: {error}", error=error, file=path.name, row=number))
            continue
        if not isinstance(value, dict):
            faults.append(Fault("not a JSON object", file=path.name, row=number))
            continue
        records.append(PlainRow(number, _named(value, theirs)))
    refuse([*faults, *_gaps(records, required, path.name)], Text("Write one JSON object per line."))
    if not records:
        raise BadInput(faults=[Fault("the file has no rows", file=path.name)])
    return records


def _named(values: Mapping[str, Any], theirs: Mapping[str, str]) -> dict[str, Any]:
    """Pick the values that are wanted, by our names."""
    return {ours: values[name] for ours, name in theirs.items() if name in values}


def _gaps(rows: Iterable[PlainRow], required: Sequence[str], file: str) -> list[Fault]:
    return [
        Fault("there is no '{name}'", name=name, file=file, row=row.number)
        for row in rows
        for name in required
        if name not in row.values
    ]


def _cell(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith("["):
        return value
    try:
        return parse_json(value)
    except NotJson:
        return value
