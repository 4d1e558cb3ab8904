"""What a command needs from its surroundings: the settings and the opened workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from quintain.cli import output
from quintain.core.errors import NotFound
from quintain.settings import Settings, read_settings

if TYPE_CHECKING:
    from quintain.compose import Workspace


RevisionOption = Annotated[
    str,
    typer.Option(
        "--revision",
        help="The revision that this was made from, as --json shows it; refused if something else is stored by now.",
        show_default=False,
    ),
]


def settings_of(context: typer.Context, **overrides: Any) -> Settings:
    """Read the settings, with the options given on the command line on top."""
    return read_settings(**{"workspace": context.obj, **overrides})


def workspace_of(context: typer.Context, *, check: bool = True) -> Workspace:
    """Open the workspace that the command works on, or say how to make one.

    *check* refuses a database that has not been brought up to date.
    """
    settings = settings_of(context)
    if not settings.database_url and not (settings.workspace / "quintain.db").exists():
        raise NotFound(
            "There is no workspace in {workspace}.",
            workspace=settings.workspace,
            remedy="Make one with `quintain init`, or name another folder with --workspace.",
        )
    from quintain.compose import open_workspace  # it imports the whole platform, which few paths of a command need

    return open_workspace(settings, check=check)


def link_base(workspace: Workspace) -> str:
    """Return the address that links begin with; print which one is assumed where nothing tells."""
    from quintain.compose import base_address

    address = base_address(workspace.settings)
    if not address.known:
        output.say(
            f"No server runs on this workspace here, so {address.url} is assumed; "
            "QUINTAIN_PUBLIC_URL or QUINTAIN_PORT say otherwise."
        )
    return address.url
