"""What `quintain user` gives and takes of qualifications, and what is known of workers."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli.access.user import Name, app
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, print_table, say
from quintain.core.people import OPERATOR
from quintain.core.records.work import KnownFacts, Qualifications
from quintain.services.work import qualify as service

Task = Annotated[str, typer.Argument(metavar="TASK", help="Name of the task.")]


@app.command()
def qualify(
    context: typer.Context,
    name: Name,
    task: Task,
    qualification: Annotated[str, typer.Argument(help="Name of the qualification.")],
    end: Annotated[bool, typer.Option("--end", help="End it; work done so far stays, and stays paid.")] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why; the worker reads it.")] = "",
    json: JsonFlag = False,
) -> None:
    """Grant somebody a qualification on a task, or end it.

    Example: quintain user qualify wilma sentiment expert-writer

    Example: quintain user qualify wilma sentiment expert-writer --end --reason "Copies from the web."
    """
    with workspace_of(context).session() as db:
        service.set_qualification(db, OPERATOR, task, name, qualification, held=not end, reason=reason)
        changes = service.qualification_history(db, OPERATOR, task, name)
    say(f"{name} {'no longer holds' if end else 'holds'} '{qualification}' on task '{task}'.")
    if json:
        print_json(Qualifications(changes))


@app.command()
def qualifications(context: typer.Context, name: Name, task: Task, json: JsonFlag = False) -> None:
    """List every change of somebody's qualifications on a task, oldest first.

    Example: quintain user qualifications wilma sentiment
    """
    with workspace_of(context).session() as db:
        changes = service.qualification_history(db, OPERATOR, task, name)
    if json:
        print_json(Qualifications(changes))
        return
    shown = [
        (f"{change.created_at:%Y-%m-%d %H:%M}", change.name, "given" if change.held else "ended", change.reason)
        for change in changes
    ]
    print_table(["when", "qualification", "", "reason"], shown)


@app.command()
def fact(
    context: typer.Context,
    name: Name,
    what: Annotated[str, typer.Argument(metavar="FACT", help="country, language, approval_rate or completed.")],
    value: Annotated[str, typer.Argument(help="Such as DE, or 0.98.")],
    source: Annotated[str, typer.Option("--source", help="Who says so.")] = "panel",
    json: JsonFlag = False,
) -> None:
    """Record what a panel says of a worker, for rules that ask for it.

    Example: quintain user fact p-0a1b2c3d4e5f approval_rate 0.98 --source prolific
    """
    with workspace_of(context).session() as db:
        service.record_fact(db, OPERATOR, name, what, value, source=source)
        facts = service.facts(db, OPERATOR, name)
    if json:
        print_json(KnownFacts(facts))
    else:
        print_table(["fact", "value", "said by"], [(one.name, one.value, one.source) for one in facts])
