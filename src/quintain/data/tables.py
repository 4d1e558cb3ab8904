"""Tables that analysts bring: CSV, TSV, JSONL and Parquet, read and written alike.

    votes = read_table(Path("votes.csv"), required=["item", "worker", "label"], columns={"item": "example_id"})

Columns of plain values are text in every format, so that a label `1` is the same in a CSV and in a Parquet file;
*types* names the columns that are numbers. Lists and structures (from JSONL and Parquet) stay what they are.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import logging
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.jsontext import NotJson, parse_json, too_deep_for_tables
from quintain.core.texts import Text
from quintain.data.cells import SEPARATORS, separator_of, unguard, unguard_cells, write_separated
from quintain.data.in_memory import InMemoryTable, Source
from quintain.data.numbers import plain_numbers
from quintain.data.parquet import DAMAGE, check_parquet, reading_parquet
from quintain.data.text import gzip_faults, open_bytes, read_bytes, suffix_of

log = logging.getLogger(__name__)
FAULT_LIMIT = 100
TWINS = {"answer": "label", "label": "answer", "tag": "tags", "tags": "tag"}  # words of which a file has either
FORMATS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


def parse_columns(pairs: Iterable[str]) -> dict[str, str]:
    """Read `--column` options: our name, an equals sign, the name in the file.

    >>> parse_columns(["item=example_id"])
    {'item': 'example_id'}
    """
    columns: dict[str, str] = {}
    for pair in pairs:
        ours, equals, theirs = pair.partition("=")
        if not equals or not ours.strip() or not theirs.strip():
            raise BadInput(
                "The column mapping '{pair}' is not NAME=COLUMN.", pair=pair, remedy="For example: item=example_id."
            )
        if ours.strip() in columns:
            raise BadInput("The column '{ours}' is mapped twice.", ours=ours.strip())
        columns[ours.strip()] = theirs.strip()
    return columns


def read_table(
    path: Source,
    *,
    required: Sequence[str],
    optional: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    types: Mapping[str, pl.DataType] | None = None,
    mapped: bool = True,
) -> pl.DataFrame:
    """Read the table at *path*: the *required* columns, the *optional* ones that are there, then all others.

    *columns* maps our names to those in the file; *mapped* is whether whoever asks could have given such a map. *types*
    gives the columns that are not text, such as `{"correct": pl.Float64()}`; a value that does not fit is a fault with
    its row.
    """
    table = path.frame if isinstance(path, InMemoryTable) else _read(path)
    table = _rename(table, path, required, optional, columns or {}, mapped=mapped)
    if table.is_empty():
        raise BadInput(faults=[Fault("the file has no rows", file=path.name)])
    return _typed(table, path, types or {})


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write *frame* in the format that the suffix of *path* names; `.gz` after it compresses."""
    path = Path(path)
    form = table_format(path)
    with io.BytesIO() as buffer:
        if form == "parquet":
            frame.write_parquet(buffer)
        elif form == "jsonl":
            frame.write_ndjson(buffer)
        else:
            flat = frame.with_columns(
                pl.col(name).map_elements(_as_json, return_dtype=pl.String())
                for name, dtype in frame.schema.items()
                if dtype.is_nested()
            )
            write_separated(flat, buffer, SEPARATORS[form])
        data = buffer.getbuffer()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        data.release()


def table_format(path: Path) -> str:
    """Return the format of a table by its name: csv, tsv, jsonl or parquet; refuse any other."""
    form = FORMATS.get(suffix_of(path))
    if form is None:
        raise BadInput(
            "The format of {name} cannot be told from its name.",
            name=path.name,
            remedy="Use one of .csv, .tsv, .jsonl or .parquet, each also with .gz.",
        )
    return form


def row_number(path: Source, index: int) -> int:
    """Return the number by which a person finds the row at *index* (from 0): a CSV's first line is its header."""
    if isinstance(path, InMemoryTable):
        return index
    return index + (2 if table_format(path) in SEPARATORS else 1)


def _as_json(value: Any) -> str:
    return json.dumps(value.to_list() if isinstance(value, pl.Series) else value, ensure_ascii=False)


def _read(path: Path) -> pl.DataFrame:
    form = table_format(path)
    if form == "parquet":
        return _read_parquet(path)
    data = read_bytes(path)
    if form == "jsonl":
        return _read_jsonl(path, data)
    data = data.replace(b"\r", b"\n") if b"\n" not in data else data  # the line ends of old Macs
    return _read_separated(path, data, _separator(data, SEPARATORS[form]))


def _separator(data: bytes, usual: str) -> str:
    """Return the separator, by the header."""
    start = len(data) - len(data.lstrip()) if data[:1].isspace() else 0
    end = data.find(b"\n", start)
    return separator_of(data[start : end if end >= 0 else len(data)].decode(), usual)


def _read_parquet(path: Path) -> pl.DataFrame:
    with gzip_faults(path.name), open_bytes(path) as stream, tempfile.TemporaryDirectory() as folder:
        plain = path
        if path.suffix == ".gz":
            plain = Path(folder) / "table.parquet"
            with plain.open("wb") as target:
                shutil.copyfileobj(stream, target, 1 << 20)
        check_parquet(plain, path.name)
        with reading_parquet(path.name):
            return pl.read_parquet(plain, glob=False)


def _read_separated(path: Path, data: bytes, separator: str) -> pl.DataFrame:
    """Read with polars; where it stumbles or a row may be short, let the csv module name the rows."""
    try:
        table = pl.read_csv(data, separator=separator, infer_schema=False, empty_string_is_null=False)
    except DAMAGE as error:
        _raise_row_faults(path, data, separator)
        raise BadInput("{name} cannot be read: {error}.", name=path.name, error=_first_line(error)) from error
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")
    header = [unguard(name.strip()) for name in next(csv.reader(lines, delimiter=separator))]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise BadInput(
            faults=[Fault("the column '{name}' is there twice", name=name, file=path.name, row=1) for name in twice]
        )
    table = unguard_cells(
        table.rename({old: new for old, new in zip(table.columns, header, strict=False) if old != new})
    )
    if (table.to_series(-1) == "").any():
        _raise_row_faults(path, data, separator)
        table = table.filter(~pl.all_horizontal(pl.all() == ""))
    return table


def _raise_row_faults(path: Path, data: bytes, separator: str) -> None:
    faults: list[Fault] = []
    reader = csv.reader(io.StringIO(data.decode(), newline=""), delimiter=separator, strict=True)
    width = 0
    row = 0
    try:
        for row, cells in enumerate(reader, 1):
            width = width or len(cells)
            if cells and len(cells) != width:
                reason = Text("{n} columns where the header has {width}", n=len(cells), width=width)
                faults.append(Fault(reason, file=path.name, row=row))
    except csv.Error as error:
        faults.append(Fault("broken quoting ({error})", error=error, file=path.name, row=row + 1))
    if faults:
        raise BadInput(
            faults=faults[:FAULT_LIMIT], total=len(faults), remedy="Quote values that hold the separator or quotes."
        )


def _read_jsonl(path: Path, data: bytes) -> pl.DataFrame:
    if not too_deep_for_tables(data):
        try:
            return pl.read_ndjson(data, infer_schema_length=None)
        except DAMAGE:
            log.debug("polars cannot read %s as a table", path.name)
    # Columns of mixed types and broken lines end here: one row at a time says which it is.
    return _read_json_lines(path, data)


def _read_json_lines(path: Path, data: bytes) -> pl.DataFrame:
    faults: list[Fault] = []
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(data.decode().split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except NotJson as error:
            faults.append(Fault("not JSON: {error}", error=error, file=path.name, row=number))
            continue
        if isinstance(value, dict):
            rows.append({key: _as_text(cell) for key, cell in value.items()})
        else:
            faults.append(Fault("not a JSON object", file=path.name, row=number))
    if faults:
        raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults), remedy="Write one JSON object per line.")
    try:
        return pl.DataFrame(rows, infer_schema_length=None)
    except (*DAMAGE, TypeError) as error:
        raise BadInput(
            "{name} cannot be read as a table: {error}.", name=path.name, error=_first_line(error)
        ) from error


def _as_text(cell: Any) -> Any:
    if cell is None or isinstance(cell, (str, list, dict)):
        return cell
    return json.dumps(cell)


def _rename(
    table: pl.DataFrame,
    path: Source,
    required: Sequence[str],
    optional: Sequence[str],
    columns: Mapping[str, str],
    *,
    mapped: bool,
) -> pl.DataFrame:
    known = (*required, *optional)
    strange = [name for name in columns if name not in known]
    if strange:
        raise BadInput(
            "There is no column called '{name}' to map to.",
            name=strange[0],
            known=", ".join(known),
            remedy="Columns here: {known}.",
        )
    available = table.columns
    source_names = {name: columns.get(name) or _as_called(name, required, known, available) for name in known}
    missing = [
        Fault(
            "there is no column '{name}' (mapped to '{ours}')" if ours in columns else "there is no column '{name}'",
            name=theirs,
            ours=ours,
            file=path.name,
        )
        for ours, theirs in source_names.items()
        if theirs not in available and (ours in required or ours in columns)
    ]
    if missing and not mapped:
        raise BadInput(faults=missing, there=", ".join(available), remedy="The file has: {there}. Name one of these.")
    if missing:
        raise BadInput(
            faults=missing,
            there=", ".join(available),
            remedy="The file has: {there}. Map names with --column NAME=COLUMN.",
            page="The file has: {there}. Name its columns as it is asked for.",
        )
    named = [pl.col(theirs).alias(ours) for ours, theirs in source_names.items() if theirs in available]
    used = {source_names[name] for name in known} | set(known)
    return table.select(*named, *(pl.col(name) for name in available if name not in used))


def _as_called(name: str, required: Sequence[str], known: Sequence[str], available: Sequence[str]) -> str:
    """Return how a file calls a required column: by its name or, where there is none, by the other word for it."""
    twin = TWINS.get(name, "")
    return twin if name in required and name not in available and twin in available and twin not in known else name


def _typed(table: pl.DataFrame, path: Source, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
    casts = []
    faults: list[Fault] = []
    for name, dtype in table.schema.items():
        if dtype.is_nested():
            continue
        goal = types.get(name, pl.String())
        source = pl.col(name)
        if dtype == pl.String() and not isinstance(goal, pl.String):
            source = source.str.strip_chars().replace("", None)
        casts.append(_plain_cast(source, dtype, goal).alias(name))
    numeric = [name for name in types if name in table.columns and types[name].is_numeric()]
    typed = table.with_columns(plain_numbers(table[name]) for name in numeric).with_columns(casts)
    for name, dtype in types.items():
        if name not in table.columns or table.schema[name].is_nested():
            continue
        texts = table[name].cast(pl.String()).fill_null("").str.strip_chars()
        reason = "'{given}' is not a whole number" if dtype.is_integer() else "'{given}' is not a number"
        faults += [
            Fault(Text(reason, given=texts[index]), file=path.name, row=row_number(path, index), field=name)
            for index in ((texts != "") & typed[name].is_null()).arg_true().to_list()
        ]
    if faults:
        raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults))
    return typed


def _plain_cast(source: pl.Expr, dtype: pl.DataType, goal: pl.DataType) -> pl.Expr:
    if dtype == pl.Boolean() and goal.is_numeric():
        return source.cast(goal)
    if dtype == pl.String() and goal.is_numeric():
        lowered = source.str.to_lowercase()
        number = source.cast(goal, strict=False)
        return pl.when(lowered == "true").then(1).when(lowered == "false").then(0).otherwise(number).cast(goal)
    return source.cast(goal, strict=False)


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
