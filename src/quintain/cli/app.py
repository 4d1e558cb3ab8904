"""The `quintain` command: nouns, then verbs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from quintain import __version__
from quintain.cli import (
    backup,
    board,
    cells,
    data,
    demo,
    evaluate,
    init,
    model,
    output,
    perturb,
    serve,
    status,
    task,
    train,
    user,
    worker,
)
from quintain.core.errors import QuintainError


class Commands(TyperGroup):
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
app.add_typer(task.app, name="task")
data.app.command("perturb")(perturb.perturb)
data.app.command("perturbations")(perturb.perturbations)
app.add_typer(data.app, name="data")
app.add_typer(model.app, name="model")
app.command("train")(train.train)
for command in (cells.status, cells.watch, cells.run, cells.why, cells.cancel, cells.retry):
    evaluate.app.command(command.__name__)(command)
app.add_typer(evaluate.app, name="evaluate")
app.command("worker")(worker.worker)
app.add_typer(board.app, name="board")


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


app.command("demo")(demo.demo)
app.command("init")(init.init)
app.command("serve")(serve.serve)
app.command("status")(status.status)
app.command("backup")(backup.backup)
app.command("restore")(backup.restore)
app.command("upgrade")(backup.upgrade)
app.add_typer(user.app, name="user")


def main() -> None:
    """Run the command line."""
    app()
