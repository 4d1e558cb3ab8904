"""`quintain round flags`: texts that the owner of a round should look at."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli.collect.round import RoundName, app
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, print_table, say
from quintain.core.people import OPERATOR
from quintain.core.records.collect import Flag
from quintain.services.collect.writing import list_attempts
from quintain.services.validate.judging import retraction


@app.command()
def flags(
    context: typer.Context,
    ref: RoundName,
    keep: Annotated[list[int] | None, typer.Option("--keep", help="Keep what this flag is on; repeat.")] = None,
    withhold: Annotated[
        list[int] | None, typer.Option("--withhold", help="Withhold it from everything that leaves; repeat.")
    ] = None,
    note: Annotated[str, typer.Option("--note", help="Why.")] = "",
    every: Annotated[bool, typer.Option("--all", help="List those that were decided on, too.")] = False,
    json: JsonFlag = False,
) -> None:
    """List texts that may hurt, hold personal data or were reported, and decide on them.

    Example: quintain round flags sentiment/2

    Example: quintain round flags sentiment/2 --withhold 7 --keep 8
    """
    with workspace_of(context).session() as db:
        decisions = {**dict.fromkeys(keep or (), False), **dict.fromkeys(withhold or (), True)}
        retraction.decide_flags(db, OPERATOR, ref, decisions, note=note)
        queue = list_attempts.flag_queue(db, OPERATOR, ref, decided=None if every else False)
    if json:
        print_json(queue)
        return
    rows = [
        (flag.id, flag.kind, flag.detail, {None: "", True: "withheld", False: "kept"}[flag.withhold], _short(flag))
        for flag in queue.flags
    ]
    print_table(["flag", "kind", "what", "decision", "text"], rows)
    say(f"{sum(flag.withhold is None for flag in queue.flags)} texts wait for a decision.")


def _short(flag: Flag) -> str:
    text = " · ".join(str(value) for value in flag.inputs.values())
    return text if len(text) <= 100 else f"{text[:99]}…"
