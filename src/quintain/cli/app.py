"""The `quintain` command: nouns, then verbs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from quintain import __version__
from quintain.cli import output
from quintain.core.errors import QuintainError

app = typer.Typer(
    name="quintain",
    help="Dynamic benchmarks of language models.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"quintain {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    workspace: Annotated[
        Path | None, typer.Option("--workspace", "-w", help="Folder of the workspace.", show_default=False)
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Read the options that every command has."""
    context.obj = workspace


def main() -> None:
    """Run the command line; refusals are explained on stderr and exit with 1."""
    try:
        app()
    except QuintainError as error:
        output.explain(error)
        sys.exit(1)
