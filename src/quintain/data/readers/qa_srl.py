"""Semantic roles by questions as the Build It Break It contest gave them: a predicate between two pieces of a sentence.

Answers of several annotators stand in one cell, with `###` between them. In the sentence the predicate is in capitals,
and a question has `_` where one of its slots is empty; both are put back as they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.texts import Text
from quintain.data.readers.contract import READERS, Options, RequestedColumns, RowBatch, Source
from quintain.data.readers.lines import read_blocks
from quintain.data.readers.rows import Row, batched
from quintain.tasks.answer_kinds.span import SpanAnswer

SCHEMA: Mapping[str, pl.DataType] = {
    "id": pl.String(),
    "sentence": pl.String(),
    "predicate": pl.String(),
    "question": pl.String(),
    "answer": SpanAnswer.dtype,
}
_COLUMNS = ["id", "prefix", "predicate", "suffix", "question", "answer"]


@READERS.register("qa-srl")
def open_qa_srl(path: Path, options: Options) -> Source:
    """Open a table of the contest: id, prefix, predicate, suffix, question and answer."""

    def batches(requested: RequestedColumns) -> Iterator[RowBatch]:
        return batched(path.name, _rows(path), SCHEMA, requested, size=size)

    size = path.stat().st_size if path.is_file() else 0
    return Source(path.name, tuple(SCHEMA), size, batches)


def _rows(path: Path) -> Iterator[Row]:
    """Read the questions; one that is asked again of the same sentence brings more right answers to it."""
    asked: dict[tuple[str, str], tuple[int, dict[str, Any]]] = {}
    for block in read_blocks(path):
        yield from block.faults
        for number, line in block.texts():
            cells = [cell.strip() for cell in line.split("\t")]
            if number == 1:
                if [cells[0].lstrip("#"), *cells[1:]] != _COLUMNS:
                    expected = ", ".join(_COLUMNS)
                    raise BadInput("{name} does not have the columns {wanted}.", name=path.name, wanted=expected)
            elif len(cells) != len(_COLUMNS):
                reason = Text("{n} columns where there are {wanted}", n=len(cells), wanted=len(_COLUMNS))
                yield Fault(reason, file=path.name, row=number)
            else:
                row = _example(*cells)
                earlier = asked.setdefault((row["sentence"], row["question"]), (number, row))[1]
                earlier["answer"] += [one for one in row["answer"] if one not in earlier["answer"]]
    yield from asked.values()


def _example(name: str, prefix: str, predicate: str, suffix: str, question: str, answer: str) -> dict[str, Any]:
    word = predicate.lower() if prefix else predicate.capitalize()
    answers = dict.fromkeys(text.strip() for text in answer.split("###"))
    return {
        "id": name,
        "sentence": " ".join(part for part in (prefix, word, suffix) if part),
        "predicate": word,
        "question": " ".join(part for part in question.split() if part != "_"),
        "answer": [{"text": text, "start": None} for text in answers if text],
    }
