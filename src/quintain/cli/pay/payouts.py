"""`quintain pay policy|costs|owed|plan|list|show|file|send|cancel|resolve|overpaid|bonus|questions|answer`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.confirm_changes import RemoveOption, YesOption, confirm_changes
from quintain.cli.context import RevisionOption, workspace_of
from quintain.cli.output import JsonFlag, print_document, print_json, print_table, say
from quintain.cli.pay.pay import app
from quintain.core.people import OPERATOR
from quintain.core.records.pay import OwedList, PayoutFile, PayoutRecord, Payouts
from quintain.core.rounds import Money
from quintain.core.toml import read_text
from quintain.services.pay import earnings, payouts, prolific, questions, report
from quintain.services.pay import overpaid as overpayments
from quintain.services.pay import policy as policies

TaskArgument = Annotated[str, typer.Argument(help="The task.", metavar="TASK")]
PayoutArgument = Annotated[int, typer.Argument(help="Number of the payout.", metavar="PAYOUT", min=1)]
LimitOption = Annotated[int, typer.Option(help="At most so many.", min=1)]
OffsetOption = Annotated[int, typer.Option(help="Skip so many.", min=0)]
CurrencyOption = Annotated[str, typer.Option("--currency", help="The currency, such as USD.")]


@app.command()
def policy(
    context: typer.Context,
    task: TaskArgument,
    file: Annotated[Path | None, typer.Argument(help="A TOML file that is to hold from now on.")] = None,
    remove: RemoveOption = None,
    yes: YesOption = False,
    revision: RevisionOption = "",
    json: JsonFlag = False,
) -> None:
    """Print what is promised and allowed to be spent, as TOML; or let a file hold.

    Example: quintain pay policy sentiment > pay.toml

    Example: quintain pay policy sentiment pay.toml
    """
    with workspace_of(context).session() as db:
        if file is not None:
            text = read_text(file)
            confirm_changes(
                lambda edit: policies.put_policy(db, OPERATOR, task, text, file=file.name, edit=edit),
                remove,
                revision,
                yes=yes,
            )
            say("Saved.")
        current = policies.policy_text(db, OPERATOR, task)
    if json:
        print_json(current)
    else:
        print_document(current.toml, nl=False)


@app.command()
def costs(context: typer.Context, task: TaskArgument, currency: CurrencyOption = "", json: JsonFlag = False) -> None:
    """Show what a text has cost in each round, with what training cost and without it, experts' time included.

    Example: quintain pay costs sentiment
    """
    with workspace_of(context).session() as db:
        spent = report.cost_report(db, OPERATOR, task, currency=currency)
    if json:
        print_json(spent)
        return
    rows = [
        (
            group.name if group.name != task else "no round",
            "training" if group.training else "",
            group.texts,
            group.base,
            group.bonus,
            group.expert,
            group.total,
            group.each,
        )
        for group in spent.groups
    ]
    print_table(["round", "", "texts", "base", "bonus", "experts", "in all", "a text"], rows)
    say(f"{spent.texts} texts cost {spent.total}, {spent.each or 'nothing'} each.")
    say(f"Without training: {spent.total_without_training}, {spent.each_without_training or 'nothing'} each.")


@app.command()
def owed(context: typer.Context, task: TaskArgument, json: JsonFlag = False) -> None:
    """List what is approved and in no payout yet, by provider.

    Example: quintain pay owed sentiment
    """
    with workspace_of(context).session() as db:
        owed_by_provider = payouts.owed(db, OPERATOR, task)
    if json:
        print_json(OwedList(owed_by_provider))
        return
    print_table(["provider", "people", "owed"], [(one.provider, one.people, one.money) for one in owed_by_provider])


@app.command()
def plan(
    context: typer.Context,
    task: TaskArgument,
    provider: Annotated[str, typer.Option(help="hand, prolific, panel or mturk.")] = "hand",
    currency: CurrencyOption = "USD",
    approvals: Annotated[
        bool, typer.Option("--approvals", help="Approve submissions on Prolific, with the base pay that covers.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Plan payouts of everything that is approved for the people of a provider.

    Example: quintain pay plan sentiment --provider prolific --currency GBP
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        planned = prolific.plan(
            db, OPERATOR, task, workspace.outside, provider=provider, currency=currency, approvals=approvals
        )
    _print(planned, json)


@app.command("list")
def list_(
    context: typer.Context,
    task: TaskArgument,
    limit: LimitOption = 25,
    offset: OffsetOption = 0,
    json: JsonFlag = False,
) -> None:
    """List payouts of a task, the newest first.

    Example: quintain pay list sentiment
    """
    with workspace_of(context).session() as db:
        page = payouts.list_payouts(db, OPERATOR, task, limit=limit, offset=offset)
    _print(page.payouts, json, page.total)


@app.command()
def show(context: typer.Context, payout: PayoutArgument, json: JsonFlag = False) -> None:
    """Show a payout: who is paid how much, and every call that was made for it.

    Example: quintain pay show 3
    """
    with workspace_of(context).session() as db:
        _print_one(payouts.get_payout(db, OPERATOR, payout), json)


@app.command()
def file(context: typer.Context, payout: PayoutArgument, json: JsonFlag = False) -> None:
    """Print a payout as CSV by the panel's own ids, to pay it there.

    Example: quintain pay file 3 > bonuses.csv
    """
    with workspace_of(context).session() as db:
        text = payouts.export(db, OPERATOR, payout)
    if json:
        print_json(PayoutFile(text))
    else:
        print_document(text, nl=False)


@app.command()
def send(context: typer.Context, payout: PayoutArgument, json: JsonFlag = False) -> None:
    """Send a payout through its panel, or go on where it was left. Nobody is paid twice.

    Example: quintain pay send 3
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        _print_one(prolific.send(db, OPERATOR, payout, workspace.outside), json)


@app.command()
def cancel(context: typer.Context, payout: PayoutArgument, json: JsonFlag = False) -> None:
    """Cancel a payout that was not sent: its earnings can go into another one.

    Example: quintain pay cancel 3
    """
    with workspace_of(context).session() as db:
        _print_one(payouts.cancel(db, OPERATOR, payout), json)


@app.command()
def resolve(
    context: typer.Context,
    payout: PayoutArgument,
    paid: Annotated[bool, typer.Option("--paid/--not-paid", help="Whether it was made.")],
    note: Annotated[str, typer.Option(help="How you know.")] = "",
    json: JsonFlag = False,
) -> None:
    """Record whether a payout was made: one by hand, or one whose answer did not come.

    Example: quintain pay resolve 3 --paid --note "Stands on the panel's list."
    """
    with workspace_of(context).session() as db:
        _print_one(payouts.resolve(db, OPERATOR, payout, paid=paid, note=note), json)


@app.command()
def overpaid(
    context: typer.Context,
    payout: PayoutArgument,
    hold_back: Annotated[
        bool, typer.Option("--hold-back/--let-go", help="Whether it is taken out of what the person earns later.")
    ],
    json: JsonFlag = False,
) -> None:
    """Decide what becomes of what a panel paid for work that had been paid already; `pay check` names it.

    Example: quintain pay overpaid 7 --hold-back
    """
    with workspace_of(context).session() as db:
        _print_one(overpayments.answer(db, OPERATOR, payout, hold_back=hold_back), json)


@app.command()
def bonus(
    context: typer.Context,
    task: TaskArgument,
    worker: Annotated[str, typer.Argument(help="Who gets it.")],
    amount: Annotated[int, typer.Argument(help="How much, in minor units such as cents.", min=1)],
    what: Annotated[str, typer.Option("--for", help="What for; the worker reads it.")],
    key: Annotated[str, typer.Option(help="A name for it: given twice, it is paid once.")],
    currency: CurrencyOption = "USD",
    json: JsonFlag = False,
) -> None:
    """Grant a worker a bonus; it is pending until it is approved.

    Example: quintain pay bonus sentiment ann 500 --for "Second round" --key second-ann
    """
    with workspace_of(context).session() as db:
        granted = earnings.grant_bonus(db, OPERATOR, task, worker, Money(amount, currency), what=what, key=key)
    if json:
        print_json({"given": granted})
    say("Given." if granted else "It was given before; nothing changed.")


@app.command("questions")
def questions_(
    context: typer.Context,
    task: TaskArgument,
    limit: LimitOption = 25,
    offset: OffsetOption = 0,
    json: JsonFlag = False,
) -> None:
    """List what workers asked about their pay, those without an answer first.

    Example: quintain pay questions sentiment
    """
    with workspace_of(context).session() as db:
        page = questions.list_questions(db, OPERATOR, task, limit=limit, offset=offset)
    if json:
        print_json(page)
        return
    rows = [
        (question.id, question.worker, question.what, question.money, question.text, question.answer)
        for question in page.questions
    ]
    print_table(["question", "worker", "for", "amount", "asked", "answer"], rows)


@app.command()
def answer(
    context: typer.Context,
    task: TaskArgument,
    question: Annotated[int, typer.Argument(help="Number of the question.", min=1)],
    text: Annotated[str, typer.Argument(help="What to answer.")],
    json: JsonFlag = False,
) -> None:
    """Answer what a worker asked about their pay; they are told.

    Example: quintain pay answer sentiment 4 "It is paid on Friday."
    """
    with workspace_of(context).session() as db:
        questions.answer(db, OPERATOR, task, question, text)
        listed = questions.list_questions(db, OPERATOR, task)
    if json:
        print_json(listed)
    say("Answered.")


def _print(records: list[PayoutRecord], json: bool, total: int | None = None) -> None:
    if json:
        print_json(Payouts(records, len(records) if total is None else total))
        return
    rows = [
        (
            record.id,
            record.provider,
            record.step,
            record.study,
            record.people,
            record.money,
            record.state,
            record.reason,
        )
        for record in records
    ]
    print_table(["payout", "provider", "step", "study", "people", "amount", "state", "reason"], rows)


def _print_one(payout: PayoutRecord, json: bool) -> None:
    if json:
        print_json(payout)
        return
    _print([payout], json)
    rows = [(line.worker, line.person, Money(line.amount, payout.currency)) for line in payout.lines]
    print_table(["worker", "id", "amount"], rows)
    calls = [
        (f"{call.at:%Y-%m-%d %H:%M}", call.key, call.outcome, call.status, call.reply[:80]) for call in payout.calls
    ]
    print_table(["at (UTC)", "call", "outcome", "status", "reply"], calls)
