"""`quintain round harvest`: a sample that was harvested as a round of its task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.collect.round import app as round_app
from quintain.cli.harvest_round import add_round, check_policy, say_round
from quintain.cli.output import JsonFlag, print_json
from quintain.cli.streams import in_file, in_option
from quintain.data.tables import parse_columns


@round_app.command("harvest")
def harvest_(
    context: typer.Context,
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task's name.")],
    file: Annotated[Path, in_file("The sample, as `quintain harvest` writes it.")],
    title: Annotated[str, typer.Option("--title", help="Title of the round.")] = "",
    model: Annotated[
        str, typer.Option("--model", help="The model of the workspace that it was harvested with; else as it says.")
    ] = "",
    policy: Annotated[Path | None, in_option("TOML file of the validation's policy.", "--policy")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Decides the order of items, and ties.")] = 0,
    column: Annotated[list[str] | None, typer.Option("--column", help="Map a name: text=sentence.")] = None,
    json: JsonFlag = False,
) -> None:
    """Make a harvested sample the task's next round, and open its validation.

    Example: quintain round harvest sentiment sample.jsonl --title "Sentences from reviews"
    """
    check_policy(policy)
    columns = parse_columns(column or [])
    info = add_round(context, task, file, title=title, model=model, policy=policy, seed=seed, columns=columns)
    say_round(info)
    if json:
        print_json(info.record())
