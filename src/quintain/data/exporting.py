"""A version written to a file that people and programs read elsewhere, in the formats that import reads back."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import polars as pl

from quintain.core.errors import BadInput, Unavailable

Sink = Callable[[pl.LazyFrame, Path], object]


def write_export(table: pl.LazyFrame, form: str, path: Path) -> None:
    """Write *table* to *path* as *form*: jsonl, csv, tsv or parquet; whole, or not at all."""
    sink = SINKS.get(form)
    if sink is None:
        raise BadInput(
            "'{form}' is not a format to export to.",
            form=form,
            known=", ".join(SINKS),
            remedy="Choose one of: {known}.",
        )
    with whole_or_nothing(path) as part:
        sink(table, part)


def write_parts(frames: Iterable[pl.DataFrame], schema: Mapping[str, pl.DataType], form: str, path: Path) -> int:
    """Write tables, one after the other, as one file, and count the rows: memory does not grow with their number."""
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
        write_export(pl.scan_parquet(parts, glob=False), form, path)
    return rows


@contextmanager
def whole_or_nothing(path: Path) -> Iterator[Path]:
    """Give a place to write to that becomes *path* once all is written; of what fails, nothing is left."""
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
        raise Unavailable(
            "{path} could not be written: {error}.", path=path, error=str(error).splitlines()[0]
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _sink_separated(table: pl.LazyFrame, path: Path, *, separator: str) -> None:
    schema = table.collect_schema()
    nested = [name for name, dtype in schema.items() if dtype.is_nested()]
    # A list in a cell is JSON; a struct of one field is how polars writes any column as such.
    cells = [_as_json(name) for name in nested]
    table.with_columns(cells).sink_csv(path, separator=separator)


def _as_json(name: str) -> pl.Expr:
    wrapped = pl.struct(pl.col(name).alias("v")).struct.json_encode()
    return wrapped.str.strip_prefix('{"v":').str.strip_suffix("}").alias(name)


def _sink_jsonl(table: pl.LazyFrame, path: Path) -> None:
    table.sink_ndjson(path)


def _sink_parquet(table: pl.LazyFrame, path: Path) -> None:
    table.sink_parquet(path)


SINKS: Mapping[str, Sink] = {
    "jsonl": _sink_jsonl,
    "csv": partial(_sink_separated, separator=","),
    "tsv": partial(_sink_separated, separator="\t"),
    "parquet": _sink_parquet,
}
