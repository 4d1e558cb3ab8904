"""`quintain jobs run|rebuild`: do the jobs that wait, and compute kept figures again."""

from __future__ import annotations

from functools import partial

import typer

from quintain.cli import output
from quintain.cli.context import workspace_of
from quintain.cli.jobs.jobs import app
from quintain.cli.output import JsonFlag
from quintain.compose import checkpoints_of
from quintain.core.people import OPERATOR
from quintain.services.house.job_kinds import job_handlers, rebuild_all
from quintain.services.jobs.running import run_all


@app.command()
def run(context: typer.Context, json: JsonFlag = False) -> None:
    """Do the jobs that wait, here and now; a running `quintain worker` does them by itself.

    Example: quintain jobs run
    """
    workspace = workspace_of(context)
    handlers = job_handlers(workspace.runners, checkpoints_of(workspace.settings))
    number = run_all(workspace.session, workspace.blobs, handlers)
    if json:
        output.print_json({"done": number})
    else:
        output.say(f"{number} jobs done.")


@app.command()
def rebuild(context: typer.Context, json: JsonFlag = False) -> None:
    """Throw every kept figure away and compute it again from its facts.

    Example: quintain jobs rebuild
    """
    workspace = workspace_of(context)
    with workspace.session() as db, output.bar() as show:
        number = rebuild_all(db, workspace.blobs, OPERATOR, partial(show, "Figures"))
    if json:
        output.print_json({"figures": number})
    else:
        output.say(f"{number} figures computed again.")
