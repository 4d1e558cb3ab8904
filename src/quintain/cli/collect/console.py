"""`quintain round show|history|pay`: what the owner's page of a round shows and decides, beside its counts."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from quintain.cli.collect.round import RoundName, app
from quintain.cli.context import link_base, workspace_of
from quintain.cli.output import JsonFlag, print_document, print_json, print_line, print_table, say
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR
from quintain.core.records.collect import RoundHistory
from quintain.core.records.pay import Earning, PayStatus
from quintain.core.rounds import Condition, Money
from quintain.services.collect.panels import entry
from quintain.services.collect.rounds import manage, round_pay
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


@app.command("pay")
def pay_(
    context: typer.Context,
    ref: RoundName,
    approve: Annotated[list[int] | None, typer.Option("--approve", help="Approve this earning; repeat.")] = None,
    approve_all: Annotated[bool, typer.Option("--approve-all", help="Approve everything that is pending.")] = False,
    set_aside: Annotated[
        list[int] | None, typer.Option("--set-aside", help="Set this earning aside; repeat. Needs --reason.")
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why it is set aside; the worker reads it.")] = "",
    pending: Annotated[bool, typer.Option("--pending", help="List only what waits for a decision.")] = False,
    json: JsonFlag = False,
) -> None:
    """List what people earned in a round, base pay and bonuses, and approve it or set it aside.

    Example: quintain round pay sentiment/2 --approve-all

    Example: quintain round pay sentiment/2 --set-aside 7 --reason "Copied from the web."
    """
    if set_aside and (approve or approve_all):
        raise BadInput("Both --approve and --set-aside are given.", remedy="Decide one after the other.")
    with workspace_of(context).session() as db:
        info = manage.get_round(db, OPERATOR, ref)
        chosen = list(dict.fromkeys(approve or set_aside or ()))
        if chosen:
            known = earnings.list_earnings(db, OPERATOR, info.task, round_id=info.id).earnings
            _refuse_others(ref, known, chosen)
            earnings.decide(db, OPERATOR, info.task, chosen, approved=not set_aside, reason=reason)
        if approve_all:
            round_pay.approve_all(db, OPERATOR, ref, wait=True)
        only: PayStatus | None = "pending" if pending else None
        pay = round_pay.round_pay(db, OPERATOR, ref, status=only)
    if json:
        print_json(pay)
        return
    rows = [
        (earning.id, earning.worker, earning.kind, earning.what, str(earning.money), earning.status, earning.reason)
        for earning in pay.earnings
    ]
    print_table(["earning", "worker", "kind", "for", "amount", "status", "reason"], rows)
    say(
        "; ".join(f"{total.kind}, {total.status}: {total.money}" for total in pay.totals)
        or "Nobody has earned anything yet."
    )


def _refuse_others(ref: str, known: list[Earning], chosen: list[int]) -> None:
    strange = sorted(set(chosen) - {one.id for one in known})
    if strange:
        numbers = ", ".join(map(str, strange))
        raise BadInput(
            "Round {ref} has no earning {numbers}.",
            ref=ref,
            numbers=numbers,
            remedy="`quintain round pay {ref}` lists them.",
        )


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
