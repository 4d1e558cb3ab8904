"""A version written to a file that people and programs read elsewhere, in the formats that import reads back."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.errors import BadInput, OutOfOrder
from quintain.data.cells import SEPARATORS, sink_separated, write_separated

Sink = Callable[[pl.LazyFrame, Path], object]


def write_export(table: pl.LazyFrame, form: str, path: Path) -> None:
    """Write *table* to *path* as *form*: jsonl, csv, tsv or parquet; whole, or not at all."""
    require_format(form)
    with whole_or_nothing(path) as part:
        SINKS[form](table, part)


def require_format(form: str) -> None:
    """Refuse what is no format to export to."""
    if form not in SINKS:
        raise BadInput(
            "'{form}' is not a format to export to.",
            form=form,
            known=", ".join(SINKS),
            remedy="Choose one of: {known}.",
        )


def write_parts(frames: Iterable[pl.DataFrame], schema: Mapping[str, pl.DataType], form: str, path: Path) -> int:
    """Write tables, one after the other, as one file, and count the rows: memory does not grow with their number."""
    require_format(form)
    if form == "parquet":
        return _write_parquet(frames, schema, path)
    rows = 0
    with whole_or_nothing(path) as part, part.open("wb") as stream:
        for number, frame in enumerate(chain([pl.DataFrame(schema=dict(schema))], frames)):
            if form == "jsonl":
                frame.write_ndjson(stream)
            else:
                flat = frame.with_columns(_json_cells(frame.schema))
                write_separated(flat, stream, SEPARATORS[form], include_header=number == 0)
            rows += frame.height
    return rows


def _write_parquet(frames: Iterable[pl.DataFrame], schema: Mapping[str, pl.DataType], path: Path) -> int:
    """Write tables as one Parquet file, each to a file beside it first: nothing can be added to one that is there."""
    if not path.parent.is_dir():
        raise BadInput("There is no folder {parent} to write to.", parent=path.parent)
    rows = 0
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-parts-") as folder:
        parts = [Path(folder) / "00000000.parquet"]
        pl.DataFrame(schema=dict(schema)).write_parquet(parts[0])
        for number, frame in enumerate(frames, 1):
            rows += frame.height
            parts.append(Path(folder) / f"{number:08}.parquet")
            frame.write_parquet(parts[-1])
        write_export(pl.scan_parquet(parts, glob=False), "parquet", path)
    return rows


def json_list(rows: Iterable[Any], default: Callable[[Any], Any], *, level: int = 0) -> Iterator[str]:
    r"""Yield a list as JSON piece by piece, as `json.dumps` writes it with an indent of 2, *level* steps in.

    >>> "".join(json_list([{"a": 1}, []], str)) == json.dumps([{"a": 1}, []], indent=2)
    True
    >>> "".join(json_list([], str))
    '[]'
    """
    before = "\n" + "  " * (level + 1)
    mark = "["
    for row in rows:
        # A line break within a text is written as an escape, so that these are all between values.
        text = json.dumps(row, ensure_ascii=False, indent=2, default=default).replace("\n", before)
        yield f"{mark}{before}{text}"
        mark = ","
    yield "[]" if mark == "[" else f"{before[:-2]}]"


@contextmanager
def whole_or_nothing(path: Path) -> Iterator[Path]:
    """Yield a path to write to that becomes *path* once all is written; of what fails, nothing is left."""
    if not path.parent.is_dir():
        raise BadInput("There is no folder {parent} to write to.", parent=path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o644)
        os.replace(part, path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise OutOfOrder(
            "{path} could not be written: {error}.", path=path, error=str(error).splitlines()[0]
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _sink_separated(table: pl.LazyFrame, path: Path, *, separator: str) -> None:
    sink_separated(table.with_columns(_json_cells(table.collect_schema())), path, separator)


def _json_cells(schema: pl.Schema) -> list[pl.Expr]:
    """Return the columns of lists and structures as JSON, to be written to a cell each."""
    return [_as_json(name) for name, dtype in schema.items() if dtype.is_nested()]


def _as_json(name: str) -> pl.Expr:
    # A struct of one field is how polars writes any column as JSON.
    wrapped = pl.struct(pl.col(name).alias("v")).struct.json_encode()
    return wrapped.str.strip_prefix('{"v":').str.strip_suffix("}").alias(name)


def _sink_jsonl(table: pl.LazyFrame, path: Path) -> None:
    table.sink_ndjson(path)


def _sink_parquet(table: pl.LazyFrame, path: Path) -> None:
    table.sink_parquet(path)


SINKS: Mapping[str, Sink] = {
    "jsonl": _sink_jsonl,
    **{form: partial(_sink_separated, separator=separator) for form, separator in SEPARATORS.items()},
    "parquet": _sink_parquet,
}
