"""`quintain pay panel`: people from panels: who is confirmed, who wants to come in, codes, the key for links."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, print_line, print_table, say
from quintain.cli.pay.pay import app as pay
from quintain.core.people import OPERATOR
from quintain.core.records.panels import PanelGuest, PanelGuests
from quintain.services.collect.panels import panel_people

app = typer.Typer(no_args_is_help=True, help="People from panels: confirm them, let them in, sign links.")
pay.add_typer(app, name="panel")

Task = Annotated[str, typer.Argument(help="The task.")]
Person = Annotated[str, typer.Argument(help="Account of somebody from a panel (p-…).")]


@app.command("list")
def list_people(
    context: typer.Context,
    task: Task,
    held: Annotated[bool, typer.Option("--held", help="Only those whose pay is held.")] = False,
    limit: Annotated[int, typer.Option(help="At most so many.", min=1)] = 1000,
    offset: Annotated[int, typer.Option(help="Skip so many.", min=0)] = 0,
    json: JsonFlag = False,
) -> None:
    """List people whom panels sent to a task: how they are confirmed, what looks odd, and what is owed.

    Example: quintain pay panel list sentiment --held
    """
    with workspace_of(context).session() as db:
        _print(panel_people.list_guests(db, OPERATOR, task, held=held, limit=limit, offset=offset), json)


@app.command()
def confirm(
    context: typer.Context,
    task: Task,
    names: Annotated[list[str] | None, typer.Argument(help="Accounts of people (p-…).")] = None,
    everybody: Annotated[bool, typer.Option("--all", help="Everybody of whom nothing looks odd.")] = False,
    json: JsonFlag = False,
) -> None:
    """Confirm that these are people of their own: what they earned can be paid out.

    Example: quintain pay panel confirm sentiment --all
    """
    with workspace_of(context).session() as db:
        _print(panel_people.confirm_guests(db, OPERATOR, task, names or [], everybody=everybody), json)


@app.command("let-in")
def let_in(
    context: typer.Context,
    task: Task,
    request: Annotated[int, typer.Argument(help="Number of the request.")],
    refuse: Annotated[bool, typer.Option("--refuse", help="Refuse instead.")] = False,
    json: JsonFlag = False,
) -> None:
    """Let somebody in who says to be a person that came before, by the browser that asks.

    Example: quintain pay panel let-in sentiment 3
    """
    with workspace_of(context).session() as db:
        _print(panel_people.decide_request(db, OPERATOR, task, request, let_in=not refuse), json)


@app.command()
def code(context: typer.Context, task: Task, name: Person, json: JsonFlag = False) -> None:
    """Make a code with which somebody comes in by another browser; it works once.

    Example: quintain pay panel code sentiment p-0123456789ab
    """
    with workspace_of(context).session() as db:
        door_code = panel_people.make_door_code(db, OPERATOR, task, name)
    if json:
        print_json(door_code)
    else:
        say(f"A code for {name}, good once until {door_code.expires_at:%Y-%m-%d}; send it by the panel's messages:")
        print_line(door_code.code)


@app.command()
def key(context: typer.Context, task: Task, json: JsonFlag = False) -> None:
    """Print the key by which a panel signs its links to a task.

    Example: quintain pay panel key sentiment
    """
    with workspace_of(context).session() as db:
        panel_key = panel_people.panel_key(db, OPERATOR, task)
    if json:
        print_json(panel_key)
    else:
        print_line(panel_key.key)


def _owed(person: PanelGuest) -> str:
    return str(person.money) if person.owed else ""


def _print(guests: PanelGuests, json: bool) -> None:
    if json:
        print_json(guests)
        return
    rows = [
        (
            person.name,
            person.provider,
            person.confirmed or "no: pay is held",
            ", ".join(person.flags),
            _owed(person),
        )
        for person in guests.people
    ]
    print_table(["person", "panel", "confirmed", "looks odd", "owed"], rows)
    for request in guests.requests:
        say(f"Request {request.number}: {request.name} wants to come in by another browser.")
    if guests.total > len(guests.people):
        say(f"{len(guests.people)} of {guests.total} people; --offset shows more.")
