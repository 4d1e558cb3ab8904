"""`quintain serve`: the pages and the API of a workspace."""

from __future__ import annotations

import webbrowser
from dataclasses import replace
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.context import settings_of
from quintain.cli.output import JsonFlag
from quintain.compose import Workspace, create_workspace, open_workspace, workers_beside
from quintain.logs import set_up_logs
from quintain.services import accounts
from quintain.settings import Settings


def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.", show_default="8000")
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the first page in a browser.")] = False,
    json: JsonFlag = False,
) -> None:
    """Serve the pages and the API of the workspace until Ctrl-C; the first start makes the admin.

    Example: quintain serve --port 8080
    """
    # Imported here: the other commands start faster without the web framework.
    from quintain.web.app import create_app
    from quintain.web.server import bind
    from quintain.web.server import serve as run

    settings = settings_of(context, host=host, port=port)
    set_up_logs(settings.log_level, settings.log_format)
    listener = bind(settings.host, settings.port)
    settings = replace(settings, port=listener.getsockname()[1])
    workspace = _workspace(settings)
    with workspace.session() as db:
        link = accounts.first_admin(db)
    first = link.url(settings.address) if link else None

    def announce() -> None:
        if json:
            output.print_json({"url": settings.address, "admin_link": first})
        else:
            output.say(f"Quintain is at {settings.address} (Ctrl-C stops it).")
            if first:
                output.say("Open this link once, within a week, to choose the admin's password:")
            output.print_line(first or settings.address)
        if open_browser:
            webbrowser.open(first or settings.address)

    with workers_beside(settings):
        run(create_app(workspace), listener, ready=announce)
    workspace.engine.dispose()


def _workspace(settings: Settings) -> Workspace:
    """Open the workspace, or make one where there is none yet; an old one is never changed silently."""
    if not settings.database_url and not (settings.workspace / "quintain.db").exists():
        output.say(f"Making a workspace in {settings.workspace}.")
        return create_workspace(settings)
    return open_workspace(settings)
