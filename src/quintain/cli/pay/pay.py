"""`quintain pay`: what people earn, the books that it is kept in, and paying it out."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli.context import workspace_of
from quintain.cli.names import split_round
from quintain.cli.output import JsonFlag, print_json, print_table, say
from quintain.core.people import OPERATOR
from quintain.services.pay import ledger

app = typer.Typer(no_args_is_help=True, help="Pay people, and keep the books.")


@app.command()
def check(
    context: typer.Context,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Make every balance anew from the entries first.")] = False,
    json: JsonFlag = False,
) -> None:
    """Count the books again, and compare them with what people earned, what was decided and what was paid.

    Exit with 1 when something differs. Example: quintain pay check
    """
    with workspace_of(context).session() as db:
        audit = ledger.check(db, OPERATOR, rebuild=rebuild)
    if json:
        print_json(audit)
    else:
        print_table(["place", "booked", "counted"], [(o.place, o.booked, o.counted) for o in audit.discrepancies])
        say(f"{audit.transactions} transactions in {audit.accounts} accounts; {len(audit.discrepancies)} differences.")
    if not audit.ok:
        raise typer.Exit(1)


@app.command()
def books(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The task, or the round: task/number.", metavar="TASK[/NUMBER]")],
    limit: Annotated[int, typer.Option(help="At most so many lines.", min=1)] = 50,
    offset: Annotated[int, typer.Option(help="Skip so many.", min=0)] = 0,
    json: JsonFlag = False,
) -> None:
    """Show the accounts of a round, or of a task's budget, and what was booked to them.

    Example: quintain pay books sentiment/2
    """
    task, number = split_round(name)
    with workspace_of(context).session() as db:
        page = ledger.books(db, OPERATOR, task, number, limit=limit, offset=offset)
    if json:
        print_json(page)
        return
    print_table(["account", "balance"], [(balance.account, balance.money) for balance in page.balances])
    print_table(
        ["at (UTC)", "transaction", "account", "amount"],
        [(f"{entry.at:%Y-%m-%d %H:%M}", entry.transaction, entry.account, entry.money) for entry in page.entries],
    )
    say(f"{len(page.entries)} of {page.total} lines.")
