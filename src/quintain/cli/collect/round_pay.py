"""`quintain round pay|approve|set-aside`: what people earned in a round, and deciding on it."""

from __future__ import annotations

from typing import Annotated

import typer
from sqlalchemy.orm import Session

from quintain.cli.collect.round import RoundName, app
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, print_table, say
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR
from quintain.core.records.pay import RoundPay
from quintain.services.collect.rounds import manage, round_pay
from quintain.services.pay import earnings

Numbers = Annotated[list[int], typer.Argument(help="The earnings, as `round pay` numbers them.", metavar="EARNING…")]


@app.command("pay")
def pay_(
    context: typer.Context,
    ref: RoundName,
    pending: Annotated[bool, typer.Option("--pending", help="List only what waits for a decision.")] = False,
    json: JsonFlag = False,
) -> None:
    """List what people earned in a round, base pay and bonuses, and what was decided.

    Example: quintain round pay sentiment/2 --pending
    """
    with workspace_of(context).session() as db:
        pay = round_pay.round_pay(db, OPERATOR, ref, status="pending" if pending else None)
    _print(pay, json)


@app.command()
def approve(
    context: typer.Context,
    ref: RoundName,
    numbers: Annotated[
        list[int] | None, typer.Argument(help="The earnings, as `round pay` numbers them.", metavar="[EARNING…]")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Approve everything that is pending.")] = False,
    json: JsonFlag = False,
) -> None:
    """Approve what people earned in a round: some earnings, or with --all everything that is pending.

    Example: quintain round approve sentiment/2 --all
    """
    if bool(numbers) == everything:
        raise BadInput(
            "Neither earnings nor --all are given, or both.",
            remedy="`quintain round pay {ref}` lists the earnings; --all approves all that are pending.",
            ref=ref,
        )
    with workspace_of(context).session() as db:
        if everything:
            round_pay.approve_all(db, OPERATOR, ref, wait=True)
        else:
            _decide(db, ref, numbers or [], approved=True)
        pay = round_pay.round_pay(db, OPERATOR, ref)
    _print(pay, json)


@app.command("set-aside")
def set_aside(
    context: typer.Context,
    ref: RoundName,
    numbers: Numbers,
    reason: Annotated[str, typer.Option("--reason", help="Why; the worker reads it.")],
    json: JsonFlag = False,
) -> None:
    """Set earnings of a round aside, which are then not paid.

    Example: quintain round set-aside sentiment/2 7 --reason "Copied from the web."
    """
    with workspace_of(context).session() as db:
        _decide(db, ref, numbers, approved=False, reason=reason)
        pay = round_pay.round_pay(db, OPERATOR, ref)
    _print(pay, json)


def _decide(db: Session, ref: str, numbers: list[int], *, approved: bool, reason: str = "") -> None:
    info = manage.get_round(db, OPERATOR, ref)
    known = earnings.list_earnings(db, OPERATOR, info.task, round_id=info.id).earnings
    strange = sorted(set(numbers) - {earning.id for earning in known})
    if strange:
        raise BadInput(
            "Round {ref} has no earning {numbers}.",
            ref=ref,
            numbers=", ".join(map(str, strange)),
            remedy="`quintain round pay {ref}` lists them.",
        )
    earnings.decide(db, OPERATOR, info.task, list(dict.fromkeys(numbers)), approved=approved, reason=reason)


def _print(pay: RoundPay, json: bool) -> None:
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
