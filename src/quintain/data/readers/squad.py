"""Questions on passages: SQuAD's JSON (1.1 and 2.0, AdversarialQA, Quoref, ROPES …) and the lines of MRQA.

Rows are questions, counted from 1 in SQuAD's JSON; in MRQA's lines a row is the line that the question is in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.jsontext import NotJson, parse_json
from quintain.data.readers.contract import READERS, Options, RequestedColumns, RowBatch, Source
from quintain.data.readers.lines import read_blocks
from quintain.data.readers.rows import Row, batched
from quintain.data.text import read_bytes
from quintain.tasks.answer_kinds.span import SpanAnswer

SCHEMA: Mapping[str, pl.DataType] = {
    "id": pl.String(),
    "title": pl.String(),
    "context": pl.String(),
    "question": pl.String(),
    "answers": SpanAnswer.dtype,
    "impossible": pl.Boolean(),
}
MAX_START = (1 << 31) - 1
MOST_PASSAGES = 2 << 30  # characters: a passage is a part of each of its questions, and may have many
USUAL = {"passage": "context", "answer": "answers"}


@READERS.register("squad")
def open_squad(path: Path, options: Options) -> Source:
    """Open a SQuAD file. The format is one JSON object, so it is read whole."""
    data = read_bytes(path, options.whole)
    try:
        document = parse_json(data)
    except NotJson as error:
        fault = Fault("not JSON: {error}", error=error.reason, file=path.name, line=error.line)
        lines = error.reason == "Extra data"
        raise BadInput(
            faults=[fault],
            remedy="A file of JSON lines is read with --format jsonl." if lines else None,
            page="A file of JSON lines is read as the format jsonl." if lines else None,
        ) from error
    articles = document.get("data") if isinstance(document, dict) else None
    if not isinstance(articles, list):
        raise BadInput("{name} is JSON, but has no list 'data' as SQuAD's files do.", name=path.name)

    def batches(requested: RequestedColumns) -> Iterator[RowBatch]:
        rows = _PassageCount(path.name).counted(_squad_rows(path.name, articles))
        return batched(path.name, rows, SCHEMA, requested, size=len(data))

    return Source(path.name, tuple(SCHEMA), len(data), batches, USUAL)


class _PassageCount:
    """Counts what the passages of a file come to when each of their questions has its own, and refuses too much."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.characters = 0

    def counted(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Pass *rows* on, until they hold too much."""
        for row in rows:
            if not isinstance(row, Fault):
                self.characters += len(row[1]["context"])
                if self.characters > MOST_PASSAGES:
                    raise BadInput(
                        "{name} holds more than {most:,} MiB when each question holds its passage.",
                        name=self.file,
                        most=MOST_PASSAGES >> 20,
                        remedy="Split it into smaller files, or its passages into shorter ones.",
                    )
            yield row


def _squad_rows(file: str, articles: list[Any]) -> Iterator[Row]:
    number = 0
    for article in articles:
        title = article.get("title") if isinstance(article, dict) else None
        for paragraph in _list(article, "paragraphs"):
            for asked in _list(paragraph, "qas"):
                number += 1
                yield _question(file, number, asked, paragraph.get("context"), title)


def _list(value: Any, key: str) -> list[Any]:
    entries = value.get(key) if isinstance(value, dict) else None
    return entries if isinstance(entries, list) else []


def _question(file: str, number: int, asked: Any, context: Any, title: Any) -> Row:
    if not isinstance(asked, dict) or not isinstance(asked.get("question"), str) or not isinstance(context, str):
        return Fault("a question needs a 'question' and its paragraph a 'context', both texts", file=file, row=number)
    answers = []
    for answer in _list(asked, "answers"):
        start = answer.get("answer_start") if isinstance(answer, dict) else None
        if not isinstance(answer, dict) or not isinstance(answer.get("text"), str) or not _is_start(start):
            return Fault("an answer needs a 'text' and a number 'answer_start'", file=file, row=number, field="answers")
        answers.append({"text": answer["text"], "start": start})
    return number, {
        "id": _text(asked.get("id", asked.get("qid"))),
        "title": _text(title),
        "context": context,
        "question": asked["question"],
        # The same span from three annotators is one right answer.
        "answers": list({(answer["text"], answer["start"]): answer for answer in answers}.values()),
        "impossible": bool(asked.get("is_impossible", False)),
    }


def _is_start(start: Any) -> bool:
    return start is None or (isinstance(start, int) and not isinstance(start, bool) and abs(start) <= MAX_START)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


@READERS.register("mrqa")
def open_mrqa(path: Path, options: Options) -> Source:
    """Open a file of the MRQA shared task: a header line, then one passage with its questions to a line."""
    size = path.stat().st_size if path.is_file() else 0

    def batches(requested: RequestedColumns) -> Iterator[RowBatch]:
        passages = _PassageCount(path.name)
        for block in read_blocks(path):
            rows = (row for number, line in block.texts() for row in _mrqa_rows(path.name, number, line))
            yield from batched(path.name, passages.counted(rows), SCHEMA, requested, size=block.done)
            if block.faults:
                empty = pl.DataFrame(schema={name: SCHEMA[name] for name in requested})
                yield RowBatch(path.name, empty, pl.Series("row", [], dtype=pl.UInt32()), block.faults, block.done)

    return Source(path.name, tuple(SCHEMA), size, batches, USUAL)


def _mrqa_rows(file: str, number: int, line: str) -> Iterator[Row]:
    try:
        value = parse_json(line)
    except NotJson as error:
        yield Fault("not JSON: {error}", error=error, file=file, row=number)
        return
    if isinstance(value, dict) and "header" in value:
        return
    if not isinstance(value, dict) or not isinstance(value.get("qas"), list):
        yield Fault("a line needs a 'context' and a list 'qas'", file=file, row=number)
        return
    for asked in value["qas"]:
        answers = [
            {"text": one.get("text"), "answer_start": span[0]}
            for one in _list(asked, "detected_answers")
            for span in _list(one, "char_spans")
            if isinstance(span, list) and span
        ]
        question = {**asked, "answers": answers} if isinstance(asked, dict) else asked
        yield _question(file, number, question, value.get("context"), None)
