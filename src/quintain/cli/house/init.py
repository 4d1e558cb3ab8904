"""`quintain init`: make a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.context import settings_of
from quintain.cli.output import JsonFlag
from quintain.compose import create_workspace
from quintain.core.errors import BadInput, Conflict
from quintain.services.access import accounts


def init(
    context: typer.Context,
    folder: Annotated[Path | None, typer.Argument(help="Folder of the new workspace.", show_default=False)] = None,
    admin: Annotated[str, typer.Option(help="Account name of the first admin.")] = "admin",
    json: JsonFlag = False,
) -> None:
    """Make a workspace and print the link with which its admin chooses a password.

    Example: quintain init my-workspace
    """
    if folder is not None and context.obj is not None and folder != context.obj:
        raise BadInput(
            "Two folders are named: {first} by --workspace, and {folder}.",
            first=context.obj,
            folder=folder,
            remedy="Name the new workspace once.",
        )
    settings = settings_of(context, workspace=folder or context.obj)
    workspace = create_workspace(settings)
    with workspace.session() as db:
        link = accounts.first_admin(db, admin)
    if link is None:
        raise Conflict(
            "There is a workspace in {workspace} already, and it has an admin.",
            workspace=settings.workspace,
            remedy="Name another folder, or make a new link for somebody with `quintain user link NAME`.",
        )
    url = link.url(settings.address)
    if json:
        result = {"workspace": settings.workspace.absolute(), "admin": link.name, "url": url}
        output.print_json({**result, "expires_at": link.expires_at})
        return
    output.say(f"The workspace is in {settings.workspace}. Start it: quintain --workspace {settings.workspace} serve")
    output.say(f"Then open this link once, within a week, to choose the password of '{link.name}':")
    output.print_line(url)
