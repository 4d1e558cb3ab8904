"""`quintain round harvest`: a sample that was harvested as a round of its task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.collect.round import app as round_app
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, say
from quintain.cli.streams import in_file, in_option
from quintain.core.people import OPERATOR
from quintain.core.toml import read_text
from quintain.data.tables import parse_columns
from quintain.services.collect.rounds import RoundInfo
from quintain.services.validate.harvests import add_harvest
from quintain.services.validate.policy import parse_policy


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


def check_policy(policy: Path | None) -> None:
    """Say what is wrong with a policy before anything else is done."""
    if policy is not None:
        parse_policy(read_text(policy), file=str(policy))


def add_round(
    context: typer.Context,
    task: str,
    file: Path,
    *,
    title: str = "",
    model: str = "",
    policy: Path | None = None,
    seed: int = 0,
    columns: dict[str, str] | None = None,
) -> RoundInfo:
    """Make the sample in *file* a round."""
    text = read_text(policy) if policy else None
    with workspace_of(context).session() as db:
        return add_harvest(
            db, OPERATOR, task, file, title=title, model=model, policy_toml=text, seed=seed, columns=columns
        )


def say_round(info: RoundInfo) -> None:
    """Say what came of it, and what comes next."""
    say(f"It is round {info.ref}, and people can judge it. When they have: quintain round release {info.ref}")
