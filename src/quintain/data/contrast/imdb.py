"""IMDb: reviews whose sentiment was turned, two tables with a row for each review in the same order."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from quintain.core.errors import BadInput, Fault
from quintain.core.texts import Text
from quintain.data.contrast.contract import CONTRAST_FORMATS, ContrastFiles, ContrastFormat, ContrastSets, Member
from quintain.data.text import read_bytes

TASK = """kind = "text-classification"
labels = ["negative", "positive"]"""
_LABELS = ("negative", "positive")


def read(files: ContrastFiles) -> ContrastSets:
    """Read `test_original.tsv` and `test_contrast.tsv`, or those of another split."""
    first, second = files.pair(rf"^{files.split}_original\.tsv$", rf"^{files.split}_contrast\.tsv$")
    sets = ContrastSets(second.name)
    originals, others = _rows(first), _rows(second)
    if len(originals) != len(others):
        raise BadInput(
            faults=[
                Fault("{n} reviews, where {other} has {m}", n=len(others), other=first.name, m=len(originals),
                      file=second.name)
            ],
            remedy="Both files have the same reviews in the same order.",
        )  # fmt: skip
    for number, pair in enumerate(zip(originals, others, strict=True), 1):
        for original, (row, label, text) in zip((True, False), pair, strict=True):
            if label.lower() not in _LABELS:
                sets.fault(Text("'{label}' is neither Negative nor Positive", label=label), row)
                continue
            inputs, name = {"text": text}, f"{files.split}-{number}"
            sets.members.append(Member(row, name, name, original, inputs, label.lower(), label.lower()))
    return sets


def _rows(path: Path) -> list[tuple[int, str, str]]:
    lines = csv.reader(io.StringIO(read_bytes(path).decode(), newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
    rows = [(number, cells) for number, cells in enumerate(lines, 1) if cells]
    if not rows or rows[0][1][:2] != ["Sentiment", "Text"]:
        raise BadInput(faults=[Fault("the columns are not Sentiment and Text", file=path.name, row=1)])
    short = [Fault("there is no text", file=path.name, row=number) for number, cells in rows[1:] if len(cells) < 2]
    if short:
        raise BadInput(faults=short)
    return [(number, cells[0].strip(), cells[1]) for number, cells in rows[1:]]


CONTRAST_FORMATS.register("imdb")(
    ContrastFormat(
        "imdb", read, TASK, "accuracy", "Film reviews with their sentiment turned: 488 test sets, 100 of dev."
    )
)
