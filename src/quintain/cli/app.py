"""The `quintain` command: nouns, then verbs. `lazy.COMMANDS` lists them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from quintain import __version__
from quintain.cli import output
from quintain.cli.examples import with_example
from quintain.cli.guide import GUIDE
from quintain.cli.lazy import LazyGroup
from quintain.cli.streams import streams
from quintain.core.errors import QuintainError
from quintain.settings import spare_threads

AS_JSON = "quintain.json"


class Commands(LazyGroup):
    """The commands; a refusal is explained on stderr, with --json as JSON on stdout too, and exits with 1."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take down whether a program asks; somebody who types nothing more at a terminal reads what one can do."""
        ctx.meta[AS_JSON] = "--json" in args
        if not args and sys.stdout.isatty():
            typer.echo(GUIDE)
            raise typer.Exit
        return list(super().parse_args(ctx, with_example(args)))

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            with streams():
                return super().invoke(ctx)
        except QuintainError as error:
            output.explain(error)
            if ctx.meta[AS_JSON]:
                output.print_json({"error": error.as_dict()})
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
    output.begin()


def main() -> None:
    """Run the command line."""
    spare_threads()
    app()
