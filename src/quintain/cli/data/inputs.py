"""`quintain data inputs`: who reads the inputs of a data set, here or on a server."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, print_line, print_table
from quintain.cli.plain.data_files import app
from quintain.core.people import OPERATOR
from quintain.services.data import inputs as service

Name = Annotated[str, typer.Argument(metavar="REF", help="task/name.", show_default=False)]


@app.command()
def inputs(
    context: typer.Context,
    ref: Name,
    readers: Annotated[str, typer.Option("--set", help="open, request or never.", show_default=False)] = "",
    traces: Annotated[
        bool | None, typer.Option("--traces/--no-traces", help="Tell builders the lines of a failure.")
    ] = None,
    allow: Annotated[int, typer.Option("--allow", help="Allow this request.", show_default=False)] = 0,
    decline: Annotated[int, typer.Option("--decline", help="Decline this request.", show_default=False)] = 0,
    revoke: Annotated[int, typer.Option("--revoke", help="Take back what was allowed.", show_default=False)] = 0,
    json: JsonFlag = False,
) -> None:
    """Show who may read the inputs of a data set, choose it, and decide about requests.

    Example: quintain data inputs sentiment/reviews

    Example: quintain data inputs sentiment/reviews --set request

    Example: quintain data inputs sentiment/reviews --allow 3
    """
    with workspace_of(context).session() as db:
        state = service.inputs_of(db, OPERATOR, ref)
        if readers or traces is not None:
            state = service.set_inputs(db, OPERATOR, ref, readers or state.inputs, traces=traces)
        for decision, number in (("allow", allow), ("decline", decline), ("revoke", revoke)):
            if number:
                state = service.decide_inputs(db, OPERATOR, ref, number, decision)
    if json:
        print_json(state)
        return
    print_line(f"{state.dataset}: inputs {state.inputs}{'' if state.chosen else ' (by default)'}")
    if state.requests:
        print_table(
            ["request", "by", "state", "why"],
            [(request.id, request.name, request.state, request.why) for request in state.requests],
        )
