"""`quintain evaluate remeasure`: bring measurements to the class of machine that ranks."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag
from quintain.cli.plain.score import app
from quintain.core.people import OPERATOR
from quintain.services.board import remeasure as measuring_again


@app.command()
def remeasure(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Name of the task.")],
    json: JsonFlag = False,
) -> None:
    """Queue what was measured on another class of machine than the one that ranks on the board.

    Example: quintain evaluate remeasure sentiment
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        outcome = measuring_again.remeasure(db, workspace.blobs, OPERATOR, task)
    if json:
        output.print_json(outcome)
    elif outcome.queued:
        output.print_line(f"{outcome.queued} measurements wait for a worker on a machine of class '{outcome.machine}'.")
    else:
        output.print_line(f"Everything was measured on '{outcome.machine}'.")
