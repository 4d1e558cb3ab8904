"""A file in blocks of whole lines, each with the number of its first line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from quintain.core.errors import BadInput, Fault
from quintain.core.texts import Text
from quintain.data.readers.contract import BLOCK, MAX_LINE
from quintain.data.text import encoding_faults, gzip_faults, open_utf8, position, strip_mark


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Whole lines: their bytes, the number of the first, and how far in the file they end."""

    data: bytes
    first: int
    done: int
    faults: tuple[Fault, ...] = ()
    lines: int = 0

    def texts(self) -> list[tuple[int, str]]:
        """Return the lines as text with their numbers, without their ends and without blank ones."""
        lines = self.data.decode().split("\n")
        return [(number, line.rstrip("\r")) for number, line in enumerate(lines, self.first) if line.strip()]


def read_blocks(path: Path, *, size: int = BLOCK, encoding: str = "", checked: bool = True) -> Iterator[LineBlock]:
    """Read *path* in blocks of about *size* bytes; bad bytes and huge lines become faults, and their lines blank.

    What the file is written in is found out where no *encoding* is named. Without *checked* the search for faults is
    left to the caller, who has a faster way to see that a block is good.
    """
    name = path.name
    first, empty = 1, True
    with gzip_faults(name), open_utf8(path, encoding) as stream:
        for data, done in _whole_lines(stream, size):
            start = strip_mark(data) if first == 1 else data
            block = LineBlock(start, first, done, lines=data.count(b"\n"))
            if checked or len(start) > MAX_LINE:
                block = check_block(block, name)
            first += block.lines
            empty = empty and not block.data.strip() and not block.faults
            yield block
    if empty:
        raise BadInput(faults=[Fault("the file is empty", file=name)])


def _whole_lines(stream: BinaryIO, size: int) -> Iterator[tuple[bytes, int]]:
    tail = b""
    while data := stream.read(size):
        cut = data.rfind(b"\n") + 1
        if cut == 0:
            tail += data
            if len(tail) > MAX_LINE:
                tail = _skip_line(stream, tail)
            continue
        yield tail + data[:cut], position(stream)
        tail = data[cut:]
    if tail:
        yield tail, position(stream)


def _skip_line(stream: BinaryIO, start: bytes) -> bytes:
    """Read on to the end of a line that is too long to be kept; what is left of it says so by its length."""
    line = stream.readline(BLOCK)
    while line and not line.endswith(b"\n"):
        line = stream.readline(BLOCK)
    return start[: MAX_LINE + 1].replace(b"\n", b" ") + (b"\n" if line else b"")


def check_block(block: LineBlock, name: str) -> LineBlock:
    """Find lines that are too long or not in UTF-8; they become faults, and blank."""
    data, first = block.data, block.first
    faults: list[Fault] = []
    if len(data) > MAX_LINE and any(len(line) > MAX_LINE for line in data.split(b"\n")):
        lines = data.split(b"\n")
        for at, line in enumerate(lines):
            if len(line) > MAX_LINE:
                reason = Text("the line has more than {max_line} MB", max_line=MAX_LINE >> 20)
                faults.append(Fault(reason, file=name, row=first + at))
                lines[at] = b""
        data = b"\n".join(lines)
    bad = encoding_faults(data, name, first_row=first)
    if bad:
        lines = data.split(b"\n")
        for fault in bad:
            lines[(fault.row or first) - first] = b""
        data = b"\n".join(lines)
    return replace(block, data=data, faults=(*block.faults, *faults, *bad))
