"""Who may do which work: `quintain round eligible`, and what `quintain user` gives and takes of qualifications."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli.collect.round import RoundName
from quintain.cli.collect.round import app as round_app
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, print_line, print_table, say
from quintain.core.people import OPERATOR
from quintain.core.records.work import Eligible
from quintain.services.collect.rounds import eligible as service


@round_app.command()
def eligible(
    context: typer.Context,
    ref: RoundName,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One person; everybody by default.", show_default=False)
    ] = None,
    search: Annotated[str, typer.Option("--search", help="Only people whose name contains this.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many people.")] = 1000,
    json: JsonFlag = False,
) -> None:
    """Show who may write in a round and who may not, with a reason for every rule.

    Example: quintain round eligible sentiment/2

    Example: quintain round eligible sentiment/2 wilma
    """
    with workspace_of(context).session() as db:
        if name is not None:
            _print_person(service.may_write(db, OPERATOR, ref, name), json)
            return
        crowd = service.crowd(db, OPERATOR, ref, search=search, limit=limit)
    if json:
        print_json(crowd)
        return
    rows = [
        (
            person.name,
            "yes" if person.eligible else "no",
            " ".join(reason.text for reason in person.reasons if not reason.ok),
        )
        for person in crowd.people
    ]
    print_table(["person", "eligible", "why not"], rows)
    good = sum(person.eligible for person in crowd.people)
    say(f"{good} of {len(crowd.people)} people may write; {crowd.total} have the role of a worker.")


def _print_person(person: Eligible, json: bool) -> None:
    if json:
        print_json(person)
        return
    print_line(f"{person.name} {'may' if person.eligible else 'may not'} write.")
    print_table(
        ["rule", "met", "why"], [(reason.rule, "yes" if reason.ok else "no", reason.text) for reason in person.reasons]
    )
