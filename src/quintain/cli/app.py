"""The `quintain` command: nouns, then verbs. `lazy.COMMANDS` lists them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from quintain import __version__
from quintain.cli import output
from quintain.cli.lazy import LazyGroup
from quintain.core.errors import QuintainError


class Commands(LazyGroup):
    """The commands; a refusal is explained on stderr and exits with 1."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except QuintainError as error:
            output.explain(error)
            raise typer.Exit(1) from error


app = typer.Typer(
    name="quintain",
    cls=Commands,
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
    """Run the command line."""
    app()
