"""What is in a file before it is imported: its columns, what they hold, how often each value occurs, its first rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import polars as pl

from quintain.core.errors import Fault
from quintain.core.words import shortened
from quintain.data.numbers import plain_numbers
from quintain.data.readers.contract import READERS, Options, RowBatch, bytes_of, guess_format
from quintain.data.text import encoding_in, suffix_of
from quintain.data.writing_systems import guess_language

MOST_ROWS = 20_000  # that are looked at
MOST_BYTES = 32 << 20  # the same, of rows that are large: somebody waits
MOST_WHOLE = 64 << 20  # of a file that has to be read to its end before anything is seen of it
MOST_COLUMNS = 60
SHOWN_ROWS = 5
SHOWN_FAULTS = 20
SHOWN_CHARACTERS = 160
LANGUAGE_ROWS = 200  # of a column of texts, whose language is told by the beginnings of these
LANGUAGE_CHARACTERS = 300
MOST_VALUES = 30  # different ones that are counted one by one
VALUE_LENGTH = 60.0  # characters: what is longer on average is a text, however often it is repeated
TEXT_LENGTH = 20.0


class Content(StrEnum):
    """What a column holds."""

    NOTHING = "nothing"
    NUMBER = "number"
    VALUE = "value"  # one of a few
    TEXT = "text"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class ColumnLook:
    """A column of a file.

    *length* is the mean number of characters; *values* are its different values with how often each occurs, the most
    frequent first, and empty where there are too many of them; *language* is what texts are probably in.
    """

    name: str
    content: Content
    filled: int
    distinct: int
    length: float
    values: tuple[tuple[str, int], ...] = ()
    language: str = ""


@dataclass(frozen=True, slots=True)
class FileLook:
    """A file at first sight; *rows* were looked at, and *whole* says whether these are all.

    *encoding* is what its letters were read in; empty where the format says that itself. *bad* rows could not be read;
    *faults* are the first of what is wrong with them.
    """

    name: str
    columns: tuple[ColumnLook, ...]
    first: tuple[tuple[str, ...], ...]
    rows: int
    whole: bool
    encoding: str = ""
    bad: int = 0
    faults: tuple[Fault, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> ColumnLook | None:
        """Return the column called *name*."""
        return next((column for column in self.columns if column.name == name), None)


def look_at_file(path: Path, options: Options | None = None, *, form: str = "") -> FileLook:
    """Read the beginning of *path*, or raise BadInput where it cannot be read at all; bad rows are counted.

    No more is read than one can wait for: some rows, fewer where they are large. A large file of a format that is read
    whole is refused.
    """
    options = replace(options or Options(), whole=MOST_WHOLE)
    source = READERS.get(form or guess_format(path))(path, options)
    names = source.columns[:MOST_COLUMNS]
    faults: list[Fault] = []
    frames, whole = _beginning(source.batches(dict.fromkeys(names, True)), faults)
    table = pl.concat(frames, how="diagonal_relaxed").head(MOST_ROWS) if frames else pl.DataFrame(schema=list(names))
    texts = table.select(_as_text(table[name]) for name in names)
    columns = tuple(_look_at_column(texts[name], nested=table.schema[name].is_nested()) for name in names)
    first = tuple(tuple(_short(cell) for cell in row) for row in texts.head(SHOWN_ROWS).iter_rows())
    written = "" if path.is_dir() or suffix_of(path) == ".parquet" else options.encoding or encoding_in(path)
    bad = len({fault.row for fault in faults})
    return FileLook(source.name, columns, first, table.height, whole, written, bad, tuple(faults[:SHOWN_FAULTS]))


def _beginning(batches: Iterator[RowBatch], faults: list[Fault]) -> tuple[list[pl.DataFrame], bool]:
    frames: list[pl.DataFrame] = []
    rows = held = 0
    for batch in batches:
        if rows >= MOST_ROWS or held >= MOST_BYTES:
            return frames, False
        frames.append(batch.frame)
        faults.extend(batch.faults)
        rows += batch.frame.height
        held += bytes_of(batch.frame)
        if held > 2 * MOST_BYTES:  # shares of one text, which were nothing to hold, would each be looked at
            frames[-1] = batch.frame.head(max(1, batch.frame.height * MOST_BYTES // held))
            return frames, False
    return frames, rows <= MOST_ROWS


def _as_text(series: pl.Series) -> pl.Series:
    if series.dtype.is_nested():
        frame = series.to_frame()
        cell = pl.struct(pl.all()).struct.json_encode()
        # {"name": [1, 2]} without what the structure around it adds
        text = frame.select(cell.str.slice(len(series.name) + 4).str.strip_suffix("}").alias(series.name))
        return text.to_series().set(series.is_null(), None)
    return series.cast(pl.String())


def _look_at_column(texts: pl.Series, *, nested: bool) -> ColumnLook:
    filled = texts.drop_nulls().str.strip_chars()
    filled = filled.filter(filled != "")
    if filled.is_empty():
        return ColumnLook(texts.name, Content.NOTHING, 0, 0, 0.0)
    counts = filled.value_counts(sort=True)
    length = float(filled.str.len_chars().mean() or 0.0)  # type: ignore[arg-type]
    few = counts.height <= MOST_VALUES and length <= VALUE_LENGTH and not nested
    values = tuple((str(value), int(count)) for value, count in counts.iter_rows()) if few else ()
    content = _content(filled, values, length, nested=nested)
    beginnings = filled.head(LANGUAGE_ROWS).str.head(LANGUAGE_CHARACTERS)
    language = guess_language(beginnings) if content is Content.TEXT else ""
    return ColumnLook(texts.name, content, len(filled), counts.height, length, values, language)


def _content(filled: pl.Series, values: tuple[tuple[str, int], ...], length: float, *, nested: bool) -> Content:
    if nested:
        return Content.LIST
    repeated = bool(values) and (len(values) <= len(filled) / 2 or len(values) <= 2)
    if repeated:
        return Content.VALUE
    if plain_numbers(filled).cast(pl.Float64(), strict=False).null_count() == 0:
        return Content.NUMBER
    return Content.VALUE if values and length < TEXT_LENGTH else Content.TEXT


def _short(cell: str | None) -> str:
    return shortened(" ".join((cell or "").split()), SHOWN_CHARACTERS)
