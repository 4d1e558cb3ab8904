"""`quintain board snapshot|fork|forks|unfork`: what is kept of a board."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from quintain.cli import output
from quintain.cli.board.board import Base, Datasets, Epsilon, Language, Rates, Tag, Task, Weights
from quintain.cli.context import workspace_of
from quintain.cli.plain.rank import app
from quintain.cli.streams import out_option
from quintain.core.people import OPERATOR
from quintain.core.records.base import plain
from quintain.core.records.board import BoardView, Forks
from quintain.services.board import snapshots as board_keep
from quintain.services.board.parts import BoardPart
from quintain.services.board.ranking import parse_view

Name = Annotated[str, typer.Argument(help="Name of the view.")]


@app.command()
def snapshot(
    context: typer.Context,
    task: Task,
    title: Annotated[str, typer.Option(help="What to call it.")] = "",
    out: Annotated[Path | None, out_option("File to write it to, too.", "--out", "-o")] = None,
    weights: Weights = "",
    datasets: Datasets = "",
    epsilon: Epsilon = None,
    base: Base = "",
    tag: Tag = None,
    language: Language = None,
    json: output.JsonFlag = False,
) -> None:
    """Freeze the board as everybody may see it, with the hash of every input, signed with the workspace's key.

    Example: quintain board snapshot sentiment --title "Camera ready" -o board.json
    """
    workspace = workspace_of(context)
    view: BoardView = parse_view(weights, datasets, epsilon=epsilon, base=base)
    with workspace.session() as db:
        part = BoardPart(tag, language)
        server = workspace.settings.public_url
        frozen = board_keep.take_snapshot(
            db, workspace.blobs, OPERATOR, task, view, title=title, part=part, server=server
        )
        _, data = board_keep.read_snapshot(db, workspace.blobs, OPERATOR, task, frozen.hash)
    if out is not None:
        output.write_file(out, data)
    if json:
        output.print_json(frozen)
    else:
        output.print_line(frozen.hash)


@app.command()
def fork(
    context: typer.Context,
    task: Task,
    name: Name,
    weights: Weights = "",
    datasets: Datasets = "",
    epsilon: Epsilon = None,
    base: Base = "",
    amrs: Rates = "",
    json: output.JsonFlag = False,
) -> None:
    """Keep weights under a name, for everybody to choose on the board's page; saying it again changes them.

    Example: quintain board fork sentiment "On a phone" --weights performance=4,memory=4,throughput=2
    """
    workspace = workspace_of(context)
    view = parse_view(weights, datasets, epsilon=epsilon, base=base, amrs=amrs)
    with workspace.session() as db:
        saved = board_keep.save_fork(db, workspace.blobs, OPERATOR, task, name, view)
    if json:
        output.print_json(saved)
    else:
        output.print_line(saved.name)


@app.command()
def forks(context: typer.Context, task: Task, json: output.JsonFlag = False) -> None:
    """List the weights that people keep under a name.

    Example: quintain board forks sentiment
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        saved = board_keep.list_forks(db, task)
    if json:
        output.print_json(Forks(saved))
    else:
        rows = [[one.name, one.owner, _words(plain(one.view))] for one in saved]
        output.print_table(["name", "kept by", "view"], rows)


@app.command()
def unfork(context: typer.Context, task: Task, name: Name, json: output.JsonFlag = False) -> None:
    """Remove weights that are kept under a name, whoever keeps them.

    Example: quintain board unfork sentiment "On a phone"
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        board_keep.remove_fork(db, OPERATOR, task, name)
    if json:
        output.print_json({"task": task, "removed": name})
    else:
        output.say(f"Removed '{name}'.")


def _words(view: Mapping[str, Any]) -> str:
    """Write a view on one line; what it leaves out is the board owner's."""
    parts = [
        f"{name}: {', '.join(f'{key}={number:g}' for key, number in value.items())}"
        if isinstance(value, Mapping)
        else f"{name}: {value}"
        for name, value in view.items()
    ]
    return "; ".join(parts) or "as the owner set it"
