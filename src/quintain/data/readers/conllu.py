"""CoNLL-U: sentences as tables of words. A row is a preposition; its number is the line that it stands in.

The answer is the word that the prepositional phrase attaches to: the preposition hangs on its noun, and that noun on
the word in question, the preposition's grandparent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from quintain.core.errors import Fault
from quintain.data.readers.contract import READERS, Options, RequestedColumns, RowBatch, Source
from quintain.data.readers.lines import read_blocks
from quintain.data.readers.rows import Row, batched

SCHEMA: Mapping[str, pl.DataType] = {
    "sent_id": pl.String(),
    "text": pl.String(),
    "tokens": pl.List(pl.String()),
    "preposition": pl.Int64(),
    "answer": pl.Int64(),
    "word": pl.String(),
    "head_pos": pl.String(),
}
_COLUMNS = 10
_Line = tuple[int, list[str]]


@READERS.register("conllu")
def open_conllu(path: Path, options: Options) -> Source:
    """Open a CoNLL-U file; each case marker with a grandparent becomes a row."""

    def batches(requested: RequestedColumns) -> Iterator[RowBatch]:
        return batched(path.name, _rows(path, options), SCHEMA, requested, size=size)

    size = path.stat().st_size if path.is_file() else 0
    return Source(path.name, tuple(SCHEMA), size, batches)


def _rows(path: Path, options: Options) -> Iterator[Row]:
    words: list[_Line] = []
    comments: dict[str, str] = {}
    for block in read_blocks(path, encoding=options.encoding):
        yield from block.faults
        for number, line in enumerate(block.data.decode().splitlines(), block.first):
            if line.startswith("#"):
                key, _, value = line[1:].partition("=")
                comments[key.strip()] = value.strip()
            elif line.strip():
                words.append((number, line.split("\t")))
            elif words:
                yield from _sentence(path.name, words, comments)
                words, comments = [], {}
    if words:
        yield from _sentence(path.name, words, comments)


def _sentence(file: str, lines: list[_Line], comments: Mapping[str, str]) -> Iterator[Row]:
    faults = [fault for line in lines if (fault := _fault(file, *line))]
    if faults:
        yield from faults
        return
    # Ranges (1-2) and empty words (1.1) are not part of the tree.
    words = [line for line in lines if line[1][0].isdecimal()]
    index_by_id = {cells[0]: index for index, (_, cells) in enumerate(words)}
    tokens = [cells[1] for _, cells in words]
    heads = [index_by_id.get(cells[6]) for _, cells in words]
    for index, (number, cells) in enumerate(words):
        head = heads[index]
        above = heads[head] if head is not None else None
        if cells[3] == "ADP" and cells[7].split(":")[0] == "case" and above is not None and above != index:
            yield (
                number,
                {
                    "sent_id": comments.get("sent_id"),
                    "text": comments.get("text", " ".join(tokens)),
                    "tokens": tokens,
                    "preposition": index,
                    "answer": above,
                    "word": cells[1],
                    "head_pos": words[above][1][3],
                },
            )


def _fault(file: str, number: int, cells: list[str]) -> Fault | None:
    if len(cells) != _COLUMNS:
        return Fault("{n} columns where CoNLL-U has {columns}", n=len(cells), columns=_COLUMNS, file=file, row=number)
    if cells[0].isdecimal() and not cells[6].isdecimal():
        return Fault("'{given}' is not the number of a head", given=cells[6], file=file, row=number, field="head")
    return None
