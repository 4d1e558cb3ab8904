"""Bytes of a file as text: compression, byte-order mark and encoding, with faults that name the row."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from quintain.core.errors import BadInput, Fault, NotFound
from quintain.core.texts import Text
from quintain.data.encodings import HEAD, UTF8, Recoded, encoding_of, recoded

MAX_BYTES = 4 << 30  # what is read whole; a small file may be very large once it is uncompressed
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def open_bytes(path: Path) -> BinaryIO:
    """Open *path* for reading, through gzip where its name ends in `.gz`."""
    if not path.exists():
        raise NotFound("There is no file {path}.", path=path, remedy="Check the spelling and the folder.")
    if path.is_dir():
        raise BadInput("{path} is a folder, not a file.", path=path, remedy="Name the files in it.")
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


@contextmanager
def gzip_faults(name: str) -> Iterator[None]:
    """Turn what gzip says of a damaged or cut-off file into BadInput, which names the file *name*."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInput("{name} is not a complete gzip file ({error}).", name=name, error=error) from error


def encoding_in(path: Path) -> str:
    """Return what *path* is written in, as its beginning tells."""
    with gzip_faults(path.name), open_bytes(path) as stream:
        return encoding_of(stream.read(HEAD))


def open_utf8(path: Path, encoding: str = "") -> BinaryIO:
    """Open *path* for reading as UTF-8, whatever it is written in: *encoding*, or what its beginning tells."""
    stream = open_bytes(path)
    try:
        known = encoding or encoding_of(stream.read(HEAD))
        stream.seek(0)
    except BaseException:
        stream.close()
        raise
    if codecs.lookup(known).name == UTF8:
        return stream
    return cast(BinaryIO, io.BufferedReader(Recoded(stream, known, path.name), 1 << 16))


def position(stream: BinaryIO) -> int:
    """Return how many bytes of the file itself were read, compressed or not."""
    raw = getattr(stream, "raw", None)
    if isinstance(raw, Recoded):
        return position(raw.inner)
    return stream.fileobj.tell() if isinstance(stream, gzip.GzipFile) and stream.fileobj else stream.tell()


def read_bytes(path: Path, most: int = MAX_BYTES) -> bytes:
    """Read the whole of *path*, without its byte-order mark; refuse an empty file and what is not UTF-8.

    One of more than *most* bytes is refused, too.
    """
    data = read_raw(path, most)
    faults = encoding_faults(data, path.name)
    if faults:
        raise BadInput(faults=faults, remedy="Save the file as UTF-8.")
    return data


def read_raw(path: Path, most: int = MAX_BYTES, *, recode: bool = True) -> bytes:
    """Read the whole of *path* as UTF-8, without its byte-order mark; refuse an empty file.

    What it is written in is found out; bytes that cannot be told stay as they are, and so do all without *recode*. One
    of more than *most* bytes is refused, too.
    """
    with gzip_faults(path.name), open_bytes(path) as stream:
        data = stream.read(most + 1)
    if len(data) > most and most < MAX_BYTES:
        raise too_large(path.name, most, at_once=True)
    if len(data) > MAX_BYTES:
        raise BadInput(
            "{name} has more than {most} GiB.",
            name=path.name,
            most=MAX_BYTES >> 30,
            remedy="Split it into smaller files.",
        )
    data = strip_mark(recoded(data, encoding_of(data[:HEAD]), path.name) if recode else data)
    if not data or data.isspace():
        raise BadInput(faults=[Fault("the file is empty", file=path.name)])
    return data


AT_ONCE = Text("Split it into smaller files, or have the operator bring it in by the command, which takes any size.")


def too_large(name: str, size: int, *, at_once: bool = False) -> BadInput:
    """Make the error that says that the file *name* unpacks to more than *size* bytes, or than is read *at_once*."""
    return BadInput(
        "{name} holds more than {most:,} MiB once it is unpacked.",
        name=name,
        most=size >> 20,
        remedy=AT_ONCE
        if at_once
        else "Split it into smaller files; the operator sets the limit by QUINTAIN_IMPORT_MIB.",
    )


def too_many_rows(name: str, rows: int, *, at_once: bool = False) -> BadInput:
    """Make the error that says that the file *name* has more rows than it may, or than are read *at_once*."""
    return BadInput(
        "{name} holds more than {most:,} rows.",
        name=name,
        most=rows,
        remedy=AT_ONCE
        if at_once
        else "Split it into smaller files; the operator sets the limit by QUINTAIN_IMPORT_ROWS.",
    )


def strip_mark(data: bytes) -> bytes:
    """Take the byte-order mark off the start of a file's *data*."""
    return data.removeprefix(BYTE_ORDER_MARK)


def encoding_faults(data: bytes, name: str, *, first_row: int = 1) -> list[Fault]:
    """Name every line of *data* that is not UTF-8; *first_row* is the number of its first line."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return [
            Fault("not UTF-8: {problem}", problem=problem, file=name, row=row)
            for row, line in enumerate(data.split(b"\n"), first_row)
            if (problem := _encoding_problem(line))
        ]
    return []


def _encoding_problem(line: bytes) -> str | None:
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return Text("byte 0x{line:02x} at position {start}", line=line[error.start], start=error.start + 1)
    return None


def suffix_of(path: Path) -> str:
    """Return the suffix that tells the format: the one before `.gz`, in lower case.

    >>> suffix_of(Path("votes.CSV.gz"))
    '.csv'
    """
    return (Path(path.stem) if path.suffix == ".gz" else path).suffix.lower()
