"""JSON lines: one object to a line.

polars parses block after block; a block in which it stumbles, or whose values may not be what they seem, is parsed
again by Python, which can say what is wrong with which line.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.errors import Fault
from quintain.core.jsontext import NotJson, parse_json, too_deep_for_tables
from quintain.core.texts import Text
from quintain.data.parquet import DAMAGE
from quintain.data.readers.contract import READERS, Options, RequestedColumns, RowBatch, Source, row_numbers
from quintain.data.readers.lines import LineBlock, check_block, read_blocks

_PEEK_BYTES = 1 << 18
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


@READERS.register("jsonl")
def open_jsonl(path: Path, options: Options) -> Source:
    """Open a file of JSON lines; its columns are the keys of its first lines."""

    def batches(requested: RequestedColumns) -> Iterator[RowBatch]:
        for block in read_blocks(path, encoding=options.encoding, checked=False):
            yield _batch(block, path.name, requested)

    return Source(path.name, _keys(path, options), path.stat().st_size, batches)


def _keys(path: Path, options: Options) -> tuple[str, ...]:
    keys: dict[str, None] = {}
    block = next(iter(read_blocks(path, size=_PEEK_BYTES, encoding=options.encoding)))
    for _, line in itertools.islice(block.texts(), 1000):
        try:
            value = parse_json(line, halves=True)
        except NotJson:
            continue
        if isinstance(value, dict):
            keys.update(dict.fromkeys(value))
    return tuple(keys)


def _batch(block: LineBlock, name: str, requested: RequestedColumns) -> RowBatch:
    if not any(requested.values()) and not _broken_surrogates(block.data) and not too_deep_for_tables(block.data):
        frame = _parsed(block.data, requested)
        if frame is not None and not _may_be_nested(frame):
            return RowBatch(name, frame, _numbers(block, frame.height), block.faults, block.done)
    return _careful(check_block(block, name), name, requested)


def _parsed(data: bytes, requested: RequestedColumns) -> pl.DataFrame | None:
    try:
        return pl.read_ndjson(data, schema=dict.fromkeys(requested, pl.String()))
    except DAMAGE:
        return None


def _broken_surrogates(data: bytes) -> bool:
    # polars reads half of a surrogate pair as a null character.
    return b"\\u" in data and len(_SURROGATE.findall(data)) != 2 * len(_PAIR.findall(data))


def _may_be_nested(frame: pl.DataFrame) -> bool:
    # Read as text, a list or an object looks like a text that begins with a bracket.
    suspects = frame.select(pl.all().str.contains(r"^[\[{]").any())
    return any(suspects.row(0)) if suspects.width else False


def _numbers(block: LineBlock, height: int) -> pl.Series:
    if block.lines + (not block.data.endswith(b"\n")) == height:
        return row_numbers(block.first, height)
    numbers = [number for number, line in enumerate(block.data.split(b"\n"), block.first) if line.strip()]
    return pl.Series("row", numbers, dtype=pl.UInt32())


def _careful(block: LineBlock, name: str, requested: RequestedColumns) -> RowBatch:
    faults = list(block.faults)
    rows: list[int] = []
    columns: dict[str, list[Any]] = {key: [] for key in requested}
    for number, line in block.texts():
        value, reason = _object(line)
        problems = [(None, reason)] if reason else _problems(value, requested)
        if problems:
            faults += [Fault(why, file=name, row=number, field=field) for field, why in problems]
            continue
        rows.append(number)
        for key, cells in columns.items():
            cells.append(value.get(key))
    frame = pl.DataFrame([_column(key, cells, nested=requested[key]) for key, cells in columns.items()])
    return RowBatch(name, frame, pl.Series("row", rows, dtype=pl.UInt32()), tuple(faults), block.done)


def _object(line: str) -> tuple[dict[str, Any], str]:
    try:
        value = parse_json(line, halves=True)
    except NotJson as error:
        return {}, Text("not JSON: {error}", error=error)
    if not isinstance(value, dict):
        return {}, Text("not a JSON object")
    return value, ""


def _problems(value: dict[str, Any], requested: RequestedColumns) -> list[tuple[str | None, str]]:
    problems: list[tuple[str | None, str]] = []
    for key, nested in requested.items():
        cell = value.get(key)
        if isinstance(cell, (list, dict)) and not nested:
            is_list = isinstance(cell, list)
            reason = Text("is a list, not a single value" if is_list else "is an object, not a single value")
            problems.append((key, reason))
        elif isinstance(cell, (str, list, dict)):
            try:
                json.dumps(cell, ensure_ascii=False).encode()
            except UnicodeEncodeError:
                problems.append((key, Text("is not valid Unicode (half of a surrogate pair)")))
    return problems


def _column(key: str, cells: list[Any], *, nested: bool) -> pl.Series:
    if not nested:
        return pl.Series(key, [as_text(cell) for cell in cells], dtype=pl.String())
    try:
        if not _same_keys(cells):  # polars would keep the keys of the first object alone
            raise TypeError
        return pl.Series(key, cells, strict=True)
    except (pl.exceptions.PolarsError, TypeError, OverflowError):
        # Rows of different shapes: as JSON text they fit into one column, and are told apart later.
        return pl.Series(key, [_as_json(cell) for cell in cells], dtype=pl.String())


def _same_keys(cells: list[Any]) -> bool:
    """Whether all objects that stand at the same place have the same keys."""
    objects = [cell for cell in cells if isinstance(cell, dict)]
    if len({frozenset(one) for one in objects}) > 1:
        return False
    if objects and not all(_same_keys([one[name] for one in objects]) for name in objects[0]):
        return False
    inner = [entry for cell in cells if isinstance(cell, list) for entry in cell if isinstance(entry, dict | list)]
    return not inner or _same_keys(inner)


def as_text(cell: Any) -> str | None:
    """Write a single JSON value as text."""
    return cell if cell is None or isinstance(cell, str) else json.dumps(cell)


def _as_json(cell: Any) -> str | None:
    return cell if cell is None or isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
