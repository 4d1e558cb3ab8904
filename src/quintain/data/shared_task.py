"""Files of Build It Break It 2017, as they were released: `558_a`, a sentence and a label in each line.

Pair and side stand in one column. Between columns is a tab or, in some builders' files, a space; quotes are letters of
the sentence and close nothing; some files have a header and others none; two are in the encodings of old machines. A
pair that is there twice under one name has two different second sentences: each is a pair, and the later one is named
`645-2`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quintain.core.errors import Fault
from quintain.core.texts import Text
from quintain.data.rows import PlainRow, refuse
from quintain.data.text import read_raw

_LINE = re.compile(r"(?P<name>\S+)_(?P<side>[ab])[\t ](?P<sentence>.*?)\s*[\t ](?P<label>[+-]?\d+|[A-Za-z]\w*)\s*")
_HEADER = re.compile(r"<?sentence_id>?\b.*")


@dataclass(frozen=True, slots=True)
class SharedTaskRow:
    """One line: the *number* by which a person finds it, the pair's name, its side, the sentence and the label."""

    number: int
    name: str
    side: str
    sentence: str
    label: str


def read_shared_task(path: Path) -> list[SharedTaskRow]:
    """Read the lines of a file of 2017, gold labels or a builder's answers; other lines are named by their rows."""
    rows: list[SharedTaskRow] = []
    faults: list[Fault] = []
    for number, line in enumerate(read_raw(path, recode=False).split(b"\n"), 1):
        text = _decoded(line).strip("\r\n")
        if not text.strip() or (number == 1 and _HEADER.fullmatch(text.strip())):
            continue
        parts = _LINE.fullmatch(text)
        if parts is None:
            faults.append(Fault("is not an id such as 558_a, a sentence and a label", file=path.name, row=number))
            continue
        label = parts["label"].removeprefix("+")
        rows.append(SharedTaskRow(number, parts["name"], parts["side"], parts["sentence"].strip(), label))
    if not rows and not faults:
        faults.append(Fault("the file has no rows", file=path.name))
    refuse(faults, Text("This is for files of Build It Break It 2017 as they were released."))
    return list(_told_apart(rows))


def pair_rows(path: Path) -> list[PlainRow]:
    """Return the lines of a file of pairs as rows of a table `pair_id,side,sentence,label`."""
    return [
        PlainRow(row.number, {"pair_id": row.name, "side": row.side, "sentence": row.sentence, "label": row.label})
        for row in read_shared_task(path)
    ]


def _told_apart(rows: list[SharedTaskRow]) -> Iterator[SharedTaskRow]:
    """Add numbers to pairs of one name: the second `645_a` and `645_b` are the pair `645-2`."""
    counts: dict[tuple[str, str], int] = {}
    for row in rows:
        times = counts[row.name, row.side] = counts.get((row.name, row.side), 0) + 1
        name = row.name if times == 1 else f"{row.name}-{times}"
        yield SharedTaskRow(row.number, name, row.side, row.sentence, row.label)


def _decoded(line: bytes) -> str:
    """Decode a line: UTF-8, or what a byte most likely was where it is not: a letter in a word, else punctuation."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(_letter(line, at) for at in range(len(line)))


def _letter(line: bytes, at: int) -> str:
    byte = line[at : at + 1]
    if byte.isascii():
        return byte.decode("ascii")
    in_word = at > 0 and (line[at - 1 : at].isalpha() or line[at - 1] > 127)
    return byte.decode("mac_roman" if in_word else "cp1252", errors="replace")
