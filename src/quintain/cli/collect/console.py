"""`quintain round show|history`: what the owner's page of a round shows beside its counts."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from quintain.cli.collect.round import RoundName, app
from quintain.cli.context import link_base, workspace_of
from quintain.cli.output import JsonFlag, print_document, print_json, print_line, print_table
from quintain.core.people import OPERATOR
from quintain.core.records.collect import RoundHistory
from quintain.core.rounds import Condition, Money
from quintain.services.collect.panels import entry
from quintain.services.collect.rounds import manage
from quintain.services.pay import earnings


@app.command()
def show(
    context: typer.Context,
    ref: RoundName,
    toml: Annotated[bool, typer.Option("--toml", help="Print the file that defines it.")] = False,
    json: JsonFlag = False,
) -> None:
    """Show what a round asks: its targets, conditions, pay and dates, and the address for a panel.

    Example: quintain round show sentiment/2

    Example: quintain round show sentiment/2 --toml > round-2.toml
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        info = manage.get_round(db, OPERATOR, ref)
        wage = earnings.wage(db, info.id, info.spec)
    address = entry.entry_url(info, link_base(workspace)) if info.spec.entry else None
    shown = info.record(address)
    if json:
        print_json(shown)
    elif toml:
        print_document(shown.toml, nl=False)
    else:
        print_table(["", ""], _facts(info, wage))
        if address:
            print_line(f"The panel sends people to: {address}")


@app.command()
def history(context: typer.Context, ref: RoundName, json: JsonFlag = False) -> None:
    """List every state of a round's file: when it changed, and by whom.

    Example: quintain round history sentiment/2
    """
    with workspace_of(context).session() as db:
        changes = manage.round_history(db, OPERATOR, ref)
    if json:
        print_json(RoundHistory(changes))
        return
    rows = [(change.number, f"{change.at:%Y-%m-%d %H:%M}", change.by or "operator") for change in changes]
    print_table(["version", "at (UTC)", "by"], rows)


def _facts(info: manage.RoundInfo, wage: earnings.Wage) -> list[tuple[str, Any]]:
    spec = info.spec
    times = f"measured over {wage.measured} sessions" if wage.measured else "estimated"
    facts = [
        ("title", spec.title),
        ("state", info.state.value),
        ("targets", f"{spec.targets.mode}: {', '.join(spec.targets.models)}".rstrip(": ")),
        ("fooled", spec.fooled.rule),
        ("conditions", ", ".join(map(_condition, spec.conditions))),
        ("attempts in a session", spec.attempts),
        ("a session pays", f"{spec.reward.base}, {wage.hourly} an hour at {wage.minutes:.1f} minutes ({times})"),
        ("bonus", Money(spec.reward.bonus, spec.reward.currency) if spec.reward.bonus else None),
        ("starts", spec.starts),
        ("ends", spec.ends),
        ("quizzes", ", ".join(spec.quizzes)),
    ]
    return [(name, value) for name, value in facts if value not in (None, "")]


def _condition(condition: Condition) -> str:
    weight = f", weight {condition.weight}" if condition.weight > 1 else ""
    return f"{condition.name} ({'a prompt to edit' if condition.prompt else 'a blank page'}{weight})"
