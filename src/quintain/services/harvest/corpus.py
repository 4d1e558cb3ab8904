"""A corpus as a stream of sentences: which columns to read, which rows are bad, and where each sentence stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from quintain.core.errors import BadInput, Fault, NotFound
from quintain.core.words import SPACED
from quintain.data.harvest_rules import SentenceLimits
from quintain.data.languages import languages_of
from quintain.data.readers.contract import READERS, Options, RowBatch, Source, guess_format
from quintain.data.sentences import split_texts
from quintain.data.text import suffix_of
from quintain.data.where_columns import COLUMN_PREFIX

OURS = ("text", "rating", "id")
_USUAL = {
    "text": ("text", "review", "reviewText", "review_text", "review_body", "sentence", "body", "content"),
    "rating": ("rating", "stars", "star_rating", "review_rating", "overall", "score"),
    "id": ("id", "review_id"),
}
SHOWN_FAULTS = 20
# Texts that are worked on at once: few enough to keep memory flat, enough to keep overheads small.
ROWS = 4000
Item = TypeVar("Item")


@dataclass(slots=True)
class CorpusTally:
    """What was seen of a corpus and why some of it was left out."""

    rows: int = 0
    faulty: int = 0
    without_text: int = 0
    without_rating: int = 0
    sentences: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)

    def add_faults(self, faults: Sequence[Fault]) -> None:
        """Count bad rows, and keep the first of them to show."""
        self.faulty += len({fault.row for fault in faults})
        self.faults += faults[: max(0, SHOWN_FAULTS - len(self.faults))]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some texts of a file, and their sentences: `document` of a sentence is the place of its text."""

    documents: pl.DataFrame
    sentences: pl.DataFrame
    done: int


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One opened file of a corpus, and which of its columns hold what."""

    path: Path
    number: int
    source: Source
    columns: Mapping[str, str]

    def digest(self) -> str:
        """Hash the bytes of the file."""
        with self.path.open("rb") as stream:
            return file_digest(stream, "sha256").hexdigest()


def open_corpus(
    paths: Sequence[Path], columns: Mapping[str, str], *, form: str = "", options: Options | None = None
) -> list[CorpusFile]:
    """Open the files of a corpus and find the columns with texts, ratings and ids; *columns* maps ours to theirs."""
    unknown = [name for name in columns if name not in OURS]
    if unknown:
        raise BadInput(
            "'{unknown}' cannot be mapped.", unknown=unknown[0], ours=", ".join(OURS), remedy="--column takes {ours}."
        )
    opened = []
    for number, path in enumerate(paths):
        if not path.exists():
            raise NotFound("There is no file {path}.", path=path, remedy="Check the spelling and the folder.")
        name = form or ("text" if suffix_of(path) == ".txt" else guess_format(path))
        source = READERS.get(name)(path, options or Options())
        opened.append(CorpusFile(path, number, source, _choose(source, columns)))
    return opened


def _choose(source: Source, columns: Mapping[str, str]) -> dict[str, str]:
    if not source.columns:
        raise BadInput(faults=[Fault("the file is empty", file=source.name)])
    faults = [
        Fault("there is no column '{theirs}'", theirs=theirs, file=source.name)
        for theirs in columns.values()
        if theirs not in source.columns
    ]
    chosen = dict(columns)
    for ours, names in _USUAL.items():
        column = next((name for name in names if name in source.columns), None)
        if ours not in chosen and column is not None:
            chosen[ours] = column
    if "text" not in chosen:
        faults.append(Fault("there is no column for 'text'", file=source.name))
    if faults:
        raise BadInput(
            faults=faults,
            columns=", ".join(source.columns),
            remedy="The file has: {columns}. Map names with --column, such as --column text=body.",
            page="The file has: {columns}. Name the columns below.",
        )
    return chosen


def pieces(
    file: CorpusFile, extra: Sequence[str], limits: SentenceLimits, tally: CorpusTally, *, rated: bool
) -> Iterator[Piece]:
    """Yield the sentences of a file, piece after piece, with the columns *extra* of their texts.

    Where the rules look at ratings (*rated*), a rating that is not a number makes a row a bad one.
    """
    columns = dict.fromkeys([*file.columns.values(), *extra], False)
    for batch in file.source.batches(columns):
        tally.add_faults(batch.faults)
        tally.rows += len(batch.rows) + len({fault.row for fault in batch.faults})
        documents = _documents(batch, file, extra, tally, rated=rated)
        for start in range(0, documents.height, ROWS):
            part = documents.slice(start, ROWS)
            yield Piece(part.drop("text"), _sentences(part["text"], limits, tally), batch.done)


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield *items* while the next one is made in a second thread."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="harvest") as pool:
        future = pool.submit(next, items, None)
        while (item := future.result()) is not None:
            future = pool.submit(next, items, None)
            yield item


def _documents(
    batch: RowBatch, file: CorpusFile, extra: Sequence[str], tally: CorpusTally, *, rated: bool
) -> pl.DataFrame:
    frame, columns = batch.frame, file.columns
    table = pl.DataFrame(
        [
            _plain(frame[columns["text"]]).alias("text"),
            batch.rows.alias("row"),
            _ids(frame, columns),
            _ratings(frame, columns),
            *(_plain(frame[name]).alias(COLUMN_PREFIX + name) for name in extra),
        ]
    ).with_columns(pl.lit(file.number, dtype=pl.UInt16()).alias("file"))
    empty = table["text"].fill_null("").str.strip_chars() == ""
    tally.without_text += int(empty.sum())
    keep = ~empty
    if rated and "rating" in columns:
        keep = keep & _check_ratings(_plain(frame[columns["rating"]]), table["rating"], keep, batch, file, tally)
    return table if keep.all() else table.filter(keep)


def _plain(values: pl.Series) -> pl.Series:
    if values.dtype.is_nested():
        raise BadInput("The column '{name}' holds lists or structures, not single values.", name=values.name)
    return values.cast(pl.String())


def _ids(frame: pl.DataFrame, columns: Mapping[str, str]) -> pl.Series:
    if "id" not in columns:
        return pl.Series("id", [None], dtype=pl.String()).new_from_index(0, frame.height)
    return _plain(frame[columns["id"]]).alias("id")


def _ratings(frame: pl.DataFrame, columns: Mapping[str, str]) -> pl.Series:
    if "rating" not in columns:
        return pl.Series("rating", [None], dtype=pl.Float64()).new_from_index(0, frame.height)
    numbers = _plain(frame[columns["rating"]]).str.strip_chars().cast(pl.Float64(), strict=False)
    return numbers.set(numbers.is_nan().fill_null(False), None).alias("rating")


def _check_ratings(
    ratings: pl.Series, read: pl.Series, keep: pl.Series, batch: RowBatch, file: CorpusFile, tally: CorpusTally
) -> pl.Series:
    present = ratings.fill_null("").str.strip_chars() != ""
    tally.without_rating += int((~present & keep).sum())
    wrong = present & read.is_null() & keep
    if not wrong.any():
        return present | True
    tally.add_faults(
        [
            Fault(
                "'{given}' is not a number",
                given=ratings[at][:40],
                file=file.path.name,
                row=int(batch.rows[at]),
                field="rating",
            )
            for at in wrong.arg_true().to_list()
        ]
    )
    return ~wrong


def _sentences(texts: pl.Series, limits: SentenceLimits, tally: CorpusTally) -> pl.DataFrame:
    """Cut texts into sentences, and keep those within the limits of length and script."""
    sentences, starts, counts = split_texts(texts.to_list(), limits.languages[0] if len(limits.languages) == 1 else "")
    per_text = np.array(counts, dtype=np.uint32)
    firsts = np.cumsum(per_text) - per_text
    table = pl.DataFrame(
        {
            "text": pl.Series(sentences, dtype=pl.String()),
            "start": pl.Series(starts, dtype=pl.UInt32()),
            "document": np.repeat(np.arange(len(per_text), dtype=np.uint32), per_text),
            "sentence": np.arange(len(sentences), dtype=np.uint32) - np.repeat(firsts, per_text).astype(np.uint32) + 1,
            "sentences": np.repeat(per_text, per_text),
        }
    ).with_columns(
        pl.col("text").str.count_matches(SPACED).alias("length"),
        pl.col("text").str.len_chars().alias("characters"),
    )
    tally.sentences += table.height
    short = (pl.col("length") < limits.words[0]) | (pl.col("characters") < limits.characters[0])
    long = (pl.col("length") > limits.words[1]) | (pl.col("characters") > limits.characters[1])
    table = leave_out(table, short, "too short", tally)
    table = leave_out(table, long, "too long", tally)
    if limits.scripts:
        letters = pl.col("text").str.count_matches(r"\p{L}")
        ours = pl.col("text").str.count_matches("[" + "".join(rf"\p{{{name}}}" for name in limits.scripts) + "]")
        table = leave_out(table, ours < limits.script_share * letters, "in another script", tally)
    if limits.languages:
        with_language = table.with_columns(languages_of(table["text"], table["document"]))
        with_language = leave_out(
            with_language, pl.col("language").is_null(), "in a language that cannot be told", tally
        )
        table = leave_out(
            with_language, ~pl.col("language").is_in(limits.languages), "in another language", tally
        ).drop("language")
    return table


def leave_out(table: pl.DataFrame, condition: Any, reason: str, tally: CorpusTally) -> pl.DataFrame:
    """Drop the rows that meet *condition*, and count them under *reason*."""
    remaining = table.filter(~condition)
    if remaining.height < table.height:
        tally.left_out[reason] += table.height - remaining.height
    return remaining
