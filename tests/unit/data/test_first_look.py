"""What is seen of a file before it is imported, and what is guessed from that."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import polars as pl
import pytest

from quintain.core.errors import BadInput
from quintain.core.task import Label, Task
from quintain.data import first_look
from quintain.data.first_look import (
    MOST_BYTES,
    MOST_VALUES,
    SHOWN_FAULTS,
    Content,
    look_at_file,
)
from quintain.data.guessing import guess_columns, guess_labels, guess_task, propose_labels

SENTIMENT = Task("s", "text-classification", {}, labels=(Label("negative"), Label("neutral"), Label("positive")))


def write(folder: Path, name: str, text: str) -> Path:
    """Write a file."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def table(folder: Path, header: str, row: str, rows: int = 40) -> Path:
    """Write a CSV of rows that are made of their number."""
    return write(folder, "t.csv", "\n".join([header, *(row.format(n=n, k=n % 3, b=n % 2) for n in range(rows))]) + "\n")


def test_columns_are_told_apart_by_what_they_hold(tmp_path: Path) -> None:
    """Texts, numbers, a few values, nothing; values are counted, the most frequent first."""
    path = table(tmp_path, "id,words,label,score,empty", "{n},This is the text of row {n},{k},{n}.5,")
    look = look_at_file(path)
    assert [column.content for column in look.columns] == [
        Content.NUMBER,
        Content.TEXT,
        Content.VALUE,
        Content.NUMBER,
        Content.NOTHING,
    ]
    assert dict(look.columns[2].values) == {"0": 14, "1": 13, "2": 13}
    assert look.rows == 40
    assert look.whole
    assert look.first[0][1] == "This is the text of row 0"


def test_lists_and_rows_of_json_lines(tmp_path: Path) -> None:
    """A list is shown as it stands; a line that is no object is passed over."""
    rows = [json.dumps({"text": f"row {n}", "options": ["a", f"b{n}"], "answer": n % 2}) for n in range(6)]
    look = look_at_file(write(tmp_path, "t.jsonl", "\n".join([*rows, "broken", ""])))
    assert look.column("options") is not None
    assert [column.content for column in look.columns if column.name == "options"] == [Content.LIST]
    assert look.first[0][1] == '["a","b0"]'
    assert look.rows == 6


def test_many_values_are_not_listed(tmp_path: Path) -> None:
    """A column with more values than can be mapped by hand lists none."""
    look = look_at_file(table(tmp_path, "word,x", "w{n},1", rows=MOST_VALUES + 5))
    assert look.columns[0].values == ()
    assert look.columns[0].distinct == MOST_VALUES + 5


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """Nothing to look at is said, and so is a name that tells no format."""
    with pytest.raises(BadInput, match="empty"):
        look_at_file(write(tmp_path, "a.csv", ""))
    with pytest.raises(BadInput, match="format"):
        look_at_file(write(tmp_path, "a.docx", "x"))


@pytest.mark.parametrize(
    ("header", "row", "kind"),
    [
        ("review,stars", "A long review of a place with number {n},{k}", "text-classification"),
        ("premise,hypothesis,label", "Somebody rows the boat {n},Somebody is on water {n},{k}", "pair-classification"),
        ("sentence1,sentence2,gold", "Somebody rows the boat {n},Somebody is on water {n},{k}", "pair-classification"),
        (
            "context,question,answer",
            "A long passage about thing {n},What is number {n} about?,thing {n}",
            "extractive-qa",
        ),
        ("passage,question,answer", "A long passage about thing {n},Is it about {n}?,{b}", "yes-no"),
        ("document,summary", "A long document about thing {n} and more,It is about thing number {n}", "free-text"),
    ],
)
def test_the_kind_of_task_is_guessed(tmp_path: Path, header: str, row: str, kind: str) -> None:
    """By the names of the columns, and by what they hold."""
    assert guess_task(look_at_file(table(tmp_path, header, row))).kind == kind


def test_columns_without_telling_names_are_guessed_by_content(tmp_path: Path) -> None:
    """The one with texts is the text, the one with few values the answer."""
    look = look_at_file(table(tmp_path, "a,b,c", "{n},Some longer text with number {n} in it,{k}"))
    assert guess_columns(look, SENTIMENT) == {"answer": "c", "text": "b"}


def test_names_count_before_content(tmp_path: Path) -> None:
    """`text` is the text though another column is longer; no column is taken twice."""
    look = look_at_file(table(tmp_path, "Text,note,Label", "short {n},A much longer note on row {n} of this,{k}"))
    assert guess_columns(look, SENTIMENT) == {"text": "Text", "answer": "Label"}


def test_labels_that_cannot_be_told_are_left_open() -> None:
    """Numbers that may mean anything are nobody's to guess."""
    assert guess_labels(["0", "1"], ["entailment", "neutral"]) == {}
    assert guess_labels(["POSITIVE", " negative "], SENTIMENT.label_names) == {
        "POSITIVE": "positive",
        " negative ": "negative",
    }
    assert propose_labels(["1.0", "0.0"]) == {"1.0": "1", "0.0": "0"}


CELL = "a " * 500_000
WIDE = {"csv.gz": 120, "jsonl.gz": 120, "parquet": 300, "json": 2000}


def wide(folder: Path, suffix: str) -> Path:
    """Write a file of few bytes whose rows hold a megabyte each, or of many questions on one passage of that size."""
    path, rows = folder / f"wide.{suffix}", WIDE[suffix]
    if suffix == "parquet":
        pl.DataFrame({"text": [CELL] * rows, "label": ["b"] * rows}).write_parquet(path)
    elif suffix == "json":
        asked = [{"id": str(n), "question": f"What is {n}?", "answers": []} for n in range(rows)]
        path.write_text(json.dumps({"data": [{"paragraphs": [{"context": CELL, "qas": asked}]}]}), encoding="utf-8")
    else:
        header, row = ("text,label\n", f"{CELL},b\n") if suffix == "csv.gz" else ("", f'{{"text":"{CELL}"}}\n')
        with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as stream:
            stream.write(header)
            stream.writelines(row for _ in range(rows))
    return path


@pytest.mark.parametrize("suffix", WIDE)
def test_a_look_reads_a_beginning_by_its_size(tmp_path: Path, suffix: str) -> None:
    """However few rows that is: whoever waits for the look, and their server, read some megabytes and no gigabytes."""
    path = wide(tmp_path, suffix)
    before = time.process_time()
    look = look_at_file(path)
    assert time.process_time() - before < 5
    assert not look.whole
    assert 1 <= look.rows * len(CELL) <= 2 * MOST_BYTES


def test_what_is_read_whole_is_looked_at_within_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON takes many times its size in memory: a large file is refused, whatever it is called."""
    monkeypatch.setattr(first_look, "MOST_WHOLE", 1 << 20)
    path = tmp_path / "large.csv"
    path.write_bytes(b'{"data": [' + b"[]," * (1 << 19) + b"[]]}")
    with pytest.raises(BadInput, match="holds more than 1 MiB"):
        look_at_file(path, form="squad")


def test_rows_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    """A look says how many rows it passed over and what is wrong with the first, so that none goes unseen."""
    look = look_at_file(write(tmp_path, "t.csv", "text,label\n" + "fine,a\n" * 3 + "too,many,cells\n" * 30))
    assert (look.rows, look.bad) == (3, 30)
    assert look.faults[0].row == 5
    assert len(look.faults) == SHOWN_FAULTS
