"""How commands speak: results to stdout, messages and progress to stderr."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from quintain.core.errors import BadInput, QuintainError, Stale, Unavailable
from quintain.core.escaping import OVERRIDES, printable
from quintain.core.records.base import plain


class SafeConsole(Console):
    """A terminal to which texts are written as they read: what it would obey in them is shown as a mark."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as rich does; texts, whoever wrote them, only by what is seen of them."""
        super().print(*(printable(value) if isinstance(value, str) else value for value in objects), **options)


out = SafeConsole(highlight=False)
err = SafeConsole(stderr=True, highlight=False)
# What may stand in JSON as it is, and what a terminal would obey or show in another order, is written as an escape.
_ESCAPED = {ord(char): f"\\u{ord(char):04x}" for char in (*map(chr, range(0x7F, 0xA0)), *OVERRIDES)}
NO_WIDTH = 100_000
UNCOUNTED = "Its figures are pending: a worker counts them, and `quintain jobs list` shows how far it is."
_printed: list[Table] = []

JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def begin() -> None:
    """Take note that a command begins, and that it has printed nothing yet."""
    _printed.clear()


def warn(texts: Iterable[str]) -> None:
    """Print on stderr, so that it is seen, what may be a slip in what was given."""
    for text in texts:
        err.print("Warning:", text, style="bold yellow", markup=False, soft_wrap=True)


def leave_stdout(leave: bool) -> None:
    """Keep standard output for a file that goes there: what would be printed on it goes to stderr, while it does."""
    out.stderr = leave


def print_json(value: Any) -> None:
    """Print *value* as JSON, for programs."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=plain).translate(_ESCAPED), err=out.stderr)


def print_json_line(value: Any) -> None:
    """Print *value* as one line of JSON, for programs that follow along."""
    typer.echo(json.dumps(value, ensure_ascii=False, default=plain).translate(_ESCAPED), err=out.stderr)


def print_document(text: str, *, nl: bool = False) -> None:
    """Print a stored document as it is, for a file or another program; on a terminal, without what that would obey."""
    typer.echo(printable(text) if out.is_terminal else text, nl=nl)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
    """Print rows as a table, for people; where that would cut words and numbers, a line for each cell."""
    cells = [[_cell(cell) for cell in row] for row in rows]
    table = _table(columns, cells, title)
    if _printed:  # a line between one table and the next
        print_line("")
    _printed.append(table)
    if not out.is_terminal:  # what goes into a file or a pipe has no width
        Console(file=out.file, width=NO_WIDTH, highlight=False).print(table, crop=False)
    elif _widths(table).minimum <= out.width:
        out.print(table)
    else:
        _print_turned(columns, cells, title)


def _print_turned(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str | None) -> None:
    """Print a column for each row, side by side if there is room, else under each other."""
    together = _table(("", *("" for _ in rows)), list(zip(columns, *rows, strict=True)), title)
    if _widths(together).maximum <= out.width:
        together.show_header = False
        out.print(together)
        return
    for number, row in enumerate(rows):
        alone = _table(("", ""), list(zip(columns, row, strict=True)), title if number == 0 else None)
        alone.show_header = False
        alone.columns[1].overflow = "fold"
        out.print(alone, end="\n" if number == len(rows) - 1 else "\n\n")


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str | None) -> Table:
    heads, head = map(printable, columns), None if title is None else printable(title)
    table = Table(*heads, title=head, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def _widths(table: Table) -> Measurement:
    """Return how narrow a table can be without cutting a word, and how wide on lines of any length."""
    return Measurement.get(out, out.options.update(width=NO_WIDTH), table)


def _cell(value: object) -> str:
    """Write a value as people read it.

    >>> _cell(True), _cell({"item": 62, "retired": False}), _cell(None)
    ('yes', 'item: 62, retired: no', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_cell(one)}" for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_cell, value))
    return str(value)


def print_line(text: str) -> None:
    """Print one line of a result, as it is."""
    out.print(text, markup=False, soft_wrap=True)


def print_heading(text: str) -> None:
    """Print what the lines and tables below are about."""
    out.print(text, markup=False, soft_wrap=True, style="bold")


def say(message: str) -> None:
    """Print on stderr what is not the result."""
    err.print(message, markup=False, soft_wrap=True)


@contextmanager
def bar() -> Iterator[Callable[[str, int, int], None]]:
    """Show how far something is, on a terminal: give a function of what is done, how many of it, of how many."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal, transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(printable(what), total=total)
            progress.update(tasks[what], completed=done, total=total)

        yield show


def size(count: int) -> str:
    """Write a number of bytes as people read it.

    >>> size(1536)
    '1.5 KiB'
    """
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"


def write_file(path: Path, data: bytes) -> None:
    """Write a result to the file that the person named, or say why not."""
    try:
        path.write_bytes(data)
    except OSError as error:
        raise Unavailable(
            "{path} cannot be written: {strerror}.", path=path, strerror=error.strerror, remedy="Name another file."
        ) from error


def explain(error: QuintainError) -> None:
    """Print what went wrong, every place of it, and what to do."""
    err.print("error: ", style="bold red", end="")
    err.print(error.message, markup=False, soft_wrap=True)
    if isinstance(error, BadInput | Stale) and error.faults:
        listed = "\n".join(str(fault) for fault in error.faults)
        if listed != error.message:
            err.print(listed, markup=False, soft_wrap=True)
        if error.total > len(error.faults):
            err.print(f"… and {error.total - len(error.faults)} more.", markup=False)
    if error.remedy:
        err.print(error.remedy, markup=False, soft_wrap=True)
