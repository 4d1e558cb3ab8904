"""`quintain jobs list|run|cancel|rebuild`: what workers do outside of requests, and the figures that they keep."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag
from quintain.core.people import OPERATOR
from quintain.core.records.jobs import JobStanding
from quintain.services.jobs import queue

app = typer.Typer(no_args_is_help=True, help="Follow what workers do outside of requests, and rebuild figures.")
JobArgument = Annotated[int, typer.Argument(help="Number of the job.", show_default=False)]


@app.command("list")
def list_jobs(
    context: typer.Context,
    unfinished: Annotated[bool, typer.Option(help="Only those that are not over.")] = False,
    json: JsonFlag = False,
) -> None:
    """List the newest jobs with how far they are.

    Example: quintain jobs list --unfinished
    """
    with workspace_of(context).session() as db:
        listed = queue.list_jobs(db, OPERATOR, unfinished=unfinished)
    if json:
        output.print_json(listed)
    elif not listed.jobs:
        output.say("There are no jobs.")
    else:
        output.print_table(["id", "kind", "about", "state", "done", "reason"], map(_line, listed.jobs))


def _line(job: JobStanding) -> list[object]:
    done = "" if job.share is None else f"{job.share:.0%}"
    return [job.id, job.kind, job.subject, job.state, done, job.reason[:80]]


@app.command()
def cancel(context: typer.Context, job: JobArgument, json: JsonFlag = False) -> None:
    """Cancel a job that is not over; what it has written so far stays.

    Example: quintain jobs cancel 12
    """
    with workspace_of(context).session() as db:
        cancelled = queue.cancel(db, OPERATOR, job)
    if json:
        output.print_json(cancelled)
    else:
        output.say(f"Job {job} is cancelled.")
