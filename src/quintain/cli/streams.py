"""Files that commands read and write, where `-` means standard input or output.

What readers need is a file that can be read twice, with an ending that tells its format. Standard input is therefore
kept in a temporary file, named after what its first bytes look like; what goes to standard output is written to one and
copied out when the command has succeeded, and whatever else the command says goes to standard error.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import typer

from quintain.cli import output
from quintain.core.errors import BadInput, Unavailable

DASH = "-"
HEAD = 4096
PREFIX = "quintain-stream-"
_open: list[ExitStack] = []


def in_file(help: str, *, metavar: str = "FILE") -> Any:  # noqa: A002 - the option's word
    """Declare an argument that is a file to read."""
    return typer.Argument(parser=read_path, metavar=metavar, help=help, show_default=False)


def in_option(help: str, *names: str) -> Any:  # noqa: A002
    """Declare an option that is a file to read."""
    return typer.Option(*names, parser=read_path, metavar="FILE", help=help, show_default=False)


def out_file(help: str, *, metavar: str = "FILE") -> Any:  # noqa: A002
    """Declare an argument that is a file to write."""
    return typer.Argument(parser=write_path, metavar=metavar, help=help, show_default=False)


def out_option(help: str, *names: str) -> Any:  # noqa: A002
    """Declare an option that is a file to write."""
    return typer.Option(*names, parser=write_path, metavar="FILE", help=help, show_default=False)


@contextmanager
def streams() -> Iterator[None]:
    """Stand around a command: its temporary files are removed in the end."""
    with ExitStack() as stack:
        _open.append(stack)
        try:
            yield
        finally:
            _open.remove(stack)


def read_path(value: str) -> Path:
    """Give the file called *value*; `-` is what comes on standard input."""
    return _kept_input() if value == DASH else Path(value)


def write_path(value: str) -> Path:
    """Give the file called *value*; what is written to `-` goes to standard output, tables as CSV."""
    if value != DASH:
        return Path(value)
    if output.out.stderr:
        raise BadInput("Only one file can go to standard output.", remedy="Give the other one a name.")
    path = _folder() / "out.csv"
    _open[-1].push(lambda kind, error, trace: _copy_out(path) if kind is None else False)
    output.leave_stdout(True)
    _open[-1].callback(output.leave_stdout, False)
    return path


def named(path: Path) -> str:
    """Name a file that was written, as a person would."""
    return "standard output" if path.parent.name.startswith(PREFIX) else str(path)


def _kept_input() -> Path:
    if sys.stdin is None or sys.stdin.isatty():
        raise BadInput(
            "- stands for standard input, and nothing comes there.", remedy="Pipe something in: cat FILE | …"
        )
    stream = sys.stdin.buffer
    head = stream.read(HEAD)
    path = _folder() / f"stdin{_ending(head)}"
    try:
        with path.open("wb") as kept:
            kept.write(head)
            shutil.copyfileobj(stream, kept)
    except OSError as error:
        raise Unavailable(
            "Standard input cannot be kept: {strerror}.", strerror=error.strerror, remedy="Free some space."
        ) from error
    return path


def _ending(head: bytes) -> str:
    r"""Tell a format by its first bytes.

    >>> _ending(b'{"id": 1}'), _ending(b"item\tworker\tlabel"), _ending(b"item,worker,label")
    ('.jsonl', '.tsv', '.csv')
    """
    for magic, ending in ((b"PAR1", ".parquet"), (b"PK\x03\x04", ".zip")):
        if head.startswith(magic):
            return ending
    if head.startswith(b"\x1f\x8b"):
        return f"{_ending(zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head))}.gz"
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    first = text.partition(b"\n")[0].rstrip()
    if text.startswith(b"{"):
        return ".jsonl" if first.endswith(b"}") else ".json"
    if text.startswith(b"[") and not first.endswith(b"]"):
        return ".json"
    if first.startswith((b"#", b"[")) or (b" = " in first and b"," not in first.partition(b" = ")[0]):
        return ".toml"
    return ".tsv" if b"\t" in first else ".csv"


def _folder() -> Path:
    return Path(_open[-1].enter_context(tempfile.TemporaryDirectory(prefix=PREFIX)))


def _copy_out(path: Path) -> bool:
    if path.exists():
        with path.open("rb") as made:
            shutil.copyfileobj(made, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    return False
