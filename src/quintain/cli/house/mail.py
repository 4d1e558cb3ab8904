"""`quintain mail list|retry|give-up`: the e-mails that wait or could not be sent."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR
from quintain.core.records.access import MailCount, MailState, QueuedMail
from quintain.services.house import mailing

app = typer.Typer(no_args_is_help=True, help="Look after e-mails that wait or could not be sent.")
Ids = Annotated[list[int] | None, typer.Argument(help="Numbers of e-mails, as `list` shows them.", show_default=False)]
All = Annotated[bool, typer.Option("--all", help="All of them.")]


@app.command("list")
def list_mails(
    context: typer.Context,
    state: Annotated[MailState | None, typer.Option(help="Only those in this state; else all to look after.")] = None,
    limit: Annotated[int, typer.Option(help="At most so many.", min=1)] = 100,
    offset: Annotated[int, typer.Option(help="Skip so many.", min=0)] = 0,
    json: JsonFlag = False,
) -> None:
    """List the e-mails that wait or failed, the oldest first, with why the last try failed.

    Example: quintain mail list --state failed
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        queue = mailing.mail_queue(db, OPERATOR, workspace.mail, state=state, limit=limit, offset=offset)
    if json:
        output.print_json(queue)
        return
    if not queue.enabled:
        output.say("No e-mail is sent: set QUINTAIN_SMTP_URL.")
    output.say(f"{queue.waiting} waiting, {queue.failed} failed.")
    if queue.mails:
        columns = ("id", "to", "address", "purpose", "state", "since", "tries", "next try", "reason")
        output.print_table(columns, map(_line, queue.mails))
    if queue.total > len(queue.mails):
        output.say(f"{len(queue.mails)} of {queue.total} e-mails; --offset shows more.")


def _line(mail: QueuedMail) -> list[object]:
    at = f"{mail.next_at:%Y-%m-%d %H:%M}{', the last' if mail.last else ''}" if mail.next_at else ""
    since = f"{mail.asked_at:%Y-%m-%d %H:%M}"
    return [
        mail.id,
        mail.person,
        mail.address or "",
        mail.purpose,
        mail.state,
        since,
        mail.attempts,
        at,
        mail.reason,
    ]


@app.command()
def retry(context: typer.Context, ids: Ids = None, every: All = False, json: JsonFlag = False) -> None:
    """Try e-mails again, as if for the first time; a running server sends them within seconds.

    Example: quintain mail retry --all
    """
    chosen = _chosen(ids, every)
    with workspace_of(context).session() as db:
        number = mailing.try_again(db, OPERATOR, chosen)
    _tell(number, "tried again", json=json)


@app.command("give-up")
def give_up(context: typer.Context, ids: Ids = None, every: All = False, json: JsonFlag = False) -> None:
    """Abandon e-mails that wait or failed; with --all, those that failed.

    Example: quintain mail give-up 12
    """
    chosen = _chosen(ids, every)
    with workspace_of(context).session() as db:
        number = mailing.give_up(db, OPERATOR, chosen)
    _tell(number, "given up", json=json)


def _chosen(ids: list[int] | None, every: bool) -> list[int] | None:
    if bool(ids) == every:
        raise BadInput("Name e-mails by their numbers, or say --all.", remedy="`quintain mail list` shows the numbers.")
    return None if every else ids


def _tell(number: int, what: str, *, json: bool) -> None:
    if json:
        output.print_json(MailCount(number))
    else:
        output.say(f"{number} e-mail{'' if number == 1 else 's'} {what}.")
