"""`quintain user token`: API tokens of an account, made by whoever has the workspace."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag
from quintain.core.people import OPERATOR, Scope
from quintain.core.records.access import NewToken, Token, Tokens
from quintain.core.records.base import plain
from quintain.services.access import tokens

app = typer.Typer(help="API tokens of an account, and what they are good for.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Account name or e-mail address.")]


@app.command()
def add(
    context: typer.Context,
    name: Name,
    what: Annotated[str, typer.Option("--for", help="What it is for.")] = "command line",
    scope: Annotated[list[Scope] | None, typer.Option(help="What it may do; may be given several times.")] = None,
    days: Annotated[int, typer.Option(help="How many days it lasts; 0 until it is revoked.", min=0)] = 90,
    json: JsonFlag = False,
) -> None:
    """Make an API token for an account and print it, this once. Without --scope it can only read.

    Example: quintain user token add bob --scope build --for "nightly submissions"
    """
    with workspace_of(context).session() as db:
        secret, token = tokens.create_token(
            db, OPERATOR, what, days=days or None, scopes=scope or [Scope.READ], person=name
        )
    if json:
        output.print_json(NewToken(**plain(token), token=secret))
    else:
        output.say(f"A token for {name}, good for {_scopes(token)}; it is shown this once:")
        output.print_line(secret)


@app.command("list")
def list_tokens(context: typer.Context, name: Name, json: JsonFlag = False) -> None:
    """List the API tokens of an account that are not revoked.

    Example: quintain user token list bob
    """
    with workspace_of(context).session() as db:
        active = tokens.list_tokens(db, OPERATOR, person=name)
    if json:
        output.print_json(Tokens(active))
        return
    rows = [
        (one.id, one.name, _scopes(one), f"{one.expires_at:%Y-%m-%d}" if one.expires_at else "never") for one in active
    ]
    output.print_table(("id", "name", "scopes", "expires"), rows)


@app.command()
def revoke(
    context: typer.Context,
    name: Name,
    token: Annotated[int, typer.Argument(help="Number of the token, as `list` shows it.")],
    json: JsonFlag = False,
) -> None:
    """Make an API token of an account useless, at once and for good.

    Example: quintain user token revoke bob 3
    """
    with workspace_of(context).session() as db:
        tokens.revoke_token(db, OPERATOR, token, person=name)
    if json:
        output.print_json({"revoked": token})
    else:
        output.print_line(f"Token {token} of {name} is revoked.")


def _scopes(token: Token) -> str:
    return ", ".join(token.scopes) + (" (from before tokens had scopes)" if token.unscoped else "")
