"""Files that commands read and write, where `-` means standard input or output.

What readers need is a file that can be read twice, with an ending that tells its format. Standard input is therefore
kept in a temporary file, named after what its first bytes look like; what goes to standard output is written to one and
copied out when the command has succeeded, and whatever else the command says goes to standard error.

A command never overwrites what is there unless it is told to: `let_overwrite` gives every command that writes a file or
a folder the option `--force`, and what it is to write is looked at when it is read from the command line.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import typer
from typer.main import get_command

from quintain.cli import output
from quintain.core.errors import BadInput, Conflict, Unavailable

DASH = "-"
HEAD = 4096
OVERWRITE = "Overwrite what is there."
PREFIX = "quintain-stream-"
_open: list[ExitStack] = []
# The option that lets the command in hand overwrite, and whether it was given: it is read before what it is about.
_overwriting: ContextVar[tuple[str, bool]] = ContextVar("overwriting", default=("--force", False))


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


def out_folder(help: str, *names: str) -> Any:  # noqa: A002
    """Declare an option that is a folder to write into."""
    return typer.Option(*names, parser=write_folder, metavar="DIR", help=help, show_default=False)


def let_overwrite(command: Any) -> Any:
    """Add the option to overwrite to *command*, and to those below it, where they write; return it.

    The option is called --overwrite where --force means something else.
    """
    for below in getattr(command, "commands", {}).values():
        let_overwrite(below)
    if command.callback is not None and writes(command) and not any(_is_overwriting(param) for param in command.params):
        taken = any("--force" in param.opts for param in command.params)
        option = _overwrite_option("--overwrite" if taken else "--force")
        last = next((at for at, one in enumerate(command.params) if "--json" in one.opts), len(command.params))
        command.params.insert(last, option)
    return command


def writes(command: Any) -> list[str]:
    """Name the arguments and options of *command* that say where to write."""
    parsers = {
        name: getattr(note, "parser", None)
        for name, hint in get_type_hints(command.callback, include_extras=True).items()
        for note in getattr(hint, "__metadata__", ())
    }
    return [name for name, parser in parsers.items() if parser in {write_path, write_folder}]


def _is_overwriting(option: Any) -> bool:
    return bool({"--force", "--overwrite"} & set(option.opts)) and option.help == OVERWRITE


@cache
def _overwrite_option(name: str) -> Any:
    """Make the option as typer makes those of a command's function."""

    def remember(value: bool) -> None:
        _overwriting.set((name, value))

    option = typer.Option(False, name, help=OVERWRITE, is_eager=True, expose_value=False, callback=remember)

    def command(overwrite: bool = option) -> None:
        """Do nothing: it is there for its option."""

    app = typer.Typer(add_completion=False)
    app.command()(command)
    return get_command(app).params[0]


def require_free(path: Path) -> Path:
    """Return *path*, to which a command is to write; refuse an existing file, or folder that is not empty.

    With --force what is there is overwritten.
    """
    option, overwrite = _overwriting.get()
    free = not path.exists() or (path.is_dir() and not any(path.iterdir()))
    if not free and not overwrite and (path.is_dir() or path.is_file()):
        raise Conflict(
            "{path} is there already.",
            path=path,
            option=option,
            remedy="Name another one, or overwrite it with {option}.",
        )
    return path


@contextmanager
def streams() -> Iterator[None]:
    """Wrap a command: its temporary files are removed in the end."""
    with ExitStack() as stack:
        _open.append(stack)
        try:
            yield
        finally:
            _open.remove(stack)


def read_path(value: str) -> Path:
    """Return the file called *value*; `-` is what comes on standard input."""
    return _kept_input() if value == DASH else Path(value)


def write_path(value: str) -> Path:
    """Return the file called *value*; what is written to `-` goes to standard output, tables as CSV."""
    if value != DASH:
        return require_free(Path(value))
    if output.out.stderr:
        raise BadInput("Only one file can go to standard output.", remedy="Give the other one a name.")
    path = _folder() / "out.csv"
    _open[-1].push(lambda kind, error, trace: _copy_out(path) if kind is None else False)
    output.leave_stdout(True)
    _open[-1].callback(output.leave_stdout, False)
    return path


def write_folder(value: str) -> Path:
    """Return the folder called *value*, which is new or empty unless it may be overwritten."""
    path = Path(value)
    if path.is_file():
        raise BadInput("{path} is a file, not a folder.", path=path, remedy="Name a folder.")
    return require_free(path)


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
        with path.open("wb") as copy:
            copy.write(head)
            shutil.copyfileobj(stream, copy)
    except OSError as error:
        raise Unavailable(
            "Standard input cannot be kept: {strerror}.", strerror=error.strerror, remedy="Free some space."
        ) from error
    return path


def _ending(head: bytes) -> str:
    r"""Return a file's ending by its first bytes.

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
        with path.open("rb") as written:
            shutil.copyfileobj(written, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    return False
