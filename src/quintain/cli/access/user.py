"""`quintain user`: accounts and what they may do."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.access.user_token import app as token_commands
from quintain.cli.context import link_base, workspace_of
from quintain.cli.output import JsonFlag
from quintain.core.people import OPERATOR, Grant, RoleName
from quintain.core.records.access import OneTimeLink, Person
from quintain.services.access import accounts, ending, links

app = typer.Typer(help="Accounts and what they may do.", no_args_is_help=True)
app.add_typer(token_commands, name="token")

Name = Annotated[str, typer.Argument(help="Account name or e-mail address.")]
Role = Annotated[RoleName, typer.Argument(help="Role.")]
Task = Annotated[str | None, typer.Option("--task", help="Only on this task; everywhere by default.")]


@app.command()
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Account name: a-z, digits, dots, hyphens, underscores.")],
    email: Annotated[str | None, typer.Option(help="E-mail address.")] = None,
    display_name: Annotated[str, typer.Option(help="Name that others see.")] = "",
    role: Annotated[list[RoleName] | None, typer.Option(help="Role; may be given several times.")] = None,
    language: Annotated[
        str, typer.Option(help="Language of its pages, such as de; the browser decides by default.")
    ] = "",
    json: JsonFlag = False,
) -> None:
    """Make an account and print the link with which its owner opens it.

    Example: quintain user add wilma --role worker --email wilma@example.org
    """
    workspace = workspace_of(context)
    roles = role or [RoleName.WORKER]
    with workspace.session() as db:
        person, link = accounts.invite(
            db, OPERATOR, name, email=email, display_name=display_name, roles=roles, language=language
        )
    url = link.url(link_base(workspace))
    if json:
        output.print_json(OneTimeLink(person.name, url, link.expires_at))
    else:
        output.say(f"Send this link to {person.name}; it works once, until {link.expires_at:%Y-%m-%d}:")
        output.print_line(url)


@app.command("list")
def list_users(
    context: typer.Context,
    search: Annotated[str, typer.Argument(help="Part of a name or address.", show_default=False)] = "",
    role: Annotated[RoleName | None, typer.Option(help="Only those who hold this role.")] = None,
    limit: Annotated[int, typer.Option(help="At most so many.", min=1)] = 1000,
    offset: Annotated[int, typer.Option(help="Skip so many.", min=0)] = 0,
    json: JsonFlag = False,
) -> None:
    """List the accounts.

    Example: quintain user list wil
    """
    with workspace_of(context).session() as db:
        people = accounts.page_of_people(db, OPERATOR, search=search, role=role, limit=limit, offset=offset)
    if json:
        output.print_json(people)
        return
    rows = [(p.name, p.display_name, p.email, _roles(p), "yes" if p.opened else "not yet") for p in people.users]
    output.print_table(("name", "display name", "e-mail", "roles", "opened"), rows)
    if people.total > len(people.users):
        output.say(f"{len(people.users)} of {people.total} accounts; --offset shows more.")


@app.command()
def grant(context: typer.Context, name: Name, role: Role, task: Task = None, json: JsonFlag = False) -> None:
    """Grant somebody a role, everywhere or on one task.

    Example: quintain user grant olga owner --task sentiment
    """
    with workspace_of(context).session() as db:
        _show(accounts.grant_role(db, OPERATOR, name, role, task=task), json=json)


@app.command()
def revoke(context: typer.Context, name: Name, role: Role, task: Task = None, json: JsonFlag = False) -> None:
    """Take a role from somebody, everywhere or on one task.

    Example: quintain user revoke olga owner --task sentiment
    """
    with workspace_of(context).session() as db:
        _show(accounts.revoke_role(db, OPERATOR, name, role, task=task), json=json)


@app.command()
def link(context: typer.Context, name: Name, json: JsonFlag = False) -> None:
    """Print a link with which somebody chooses a new password.

    Example: quintain user link wilma
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        invitation = links.make_link(db, OPERATOR, name)
    url = invitation.url(link_base(workspace))
    if json:
        output.print_json(OneTimeLink(invitation.name, url, invitation.expires_at))
    else:
        output.say(f"Send this link to {invitation.name}; it works once, within a day:")
        output.print_line(url)


@app.command("sign-out")
def sign_out(context: typer.Context, name: Name, json: JsonFlag = False) -> None:
    """End every session and API token of somebody, and links that are open; password and roles stay.

    Example: quintain user sign-out wilma
    """
    with workspace_of(context).session() as db:
        ended = ending.end_access(db, OPERATOR, name)
    if json:
        output.print_json(ended)
    else:
        output.print_line(f"{ended.name}: {ended.sessions} sessions and {ended.tokens} tokens ended.")


def _show(person: Person, *, json: bool) -> None:
    if json:
        output.print_json(person)
    else:
        output.print_line(f"{person.name}: {_roles(person) or 'no role'}")


def _roles(person: Person) -> str:
    return ", ".join(_role(grant) for grant in person.grants)


def _role(grant: Grant) -> str:
    return f"{grant.role} of {grant.task}" if grant.task else str(grant.role)
