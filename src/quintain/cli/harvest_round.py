"""A harvested sample as a round of its task, for the commands that make one."""

from __future__ import annotations

from pathlib import Path

import typer

from quintain.cli.context import workspace_of
from quintain.cli.output import say
from quintain.core.people import OPERATOR
from quintain.core.toml import read_text
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.validate.console.harvests import add_harvest
from quintain.services.validate.policy import parse_policy


def check_policy(policy: Path | None) -> None:
    """Refuse a policy with something wrong in it, before anything else is done."""
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
    """Print which round it is, and what comes next."""
    say(f"It is round {info.ref}, and people can judge it. When they have: quintain round release {info.ref}")
