"""How commands speak: results to stdout, messages and progress to stderr."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from quintain.core.errors import BadInput, QuintainError

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def print_json(value: Any) -> None:
    """Print *value* as JSON, for programs."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
    """Print rows as a table, for people."""
    table = Table(*columns, title=title, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*("" if cell is None else str(cell) for cell in row))
    out.print(table)


def say(message: str) -> None:
    """Tell the person something that is not the result."""
    err.print(message, markup=False)


def explain(error: QuintainError) -> None:
    """Say what went wrong, every place of it, and what to do."""
    err.print("error: ", style="bold red", end="")
    err.print(error.message, markup=False, soft_wrap=True)
    if isinstance(error, BadInput) and error.faults:
        listed = "\n".join(str(fault) for fault in error.faults)
        if listed != error.message:
            err.print(listed, markup=False, soft_wrap=True)
        if error.total > len(error.faults):
            err.print(f"… and {error.total - len(error.faults)} more.", markup=False)
    if error.remedy:
        err.print(error.remedy, markup=False, soft_wrap=True)
