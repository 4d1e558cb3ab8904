"""`quintain serve`: the pages and the API of a workspace."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Annotated, Any

import typer

from quintain.cli import output
from quintain.cli.context import settings_of
from quintain.cli.house.first_questions import (
    ADMIN,
    NOTHING,
    NewWorkspace,
    complete,
    lasting_settings,
    may_ask,
    store_lasting,
)
from quintain.cli.output import JsonFlag
from quintain.cli.sandbox import sandbox_facts, say_sandbox
from quintain.compose import (
    Workspace,
    announced,
    create_workspace,
    open_workspace,
    require_engine,
    servers_beside,
    workers_beside,
)
from quintain.core.errors import BadInput, Conflict
from quintain.engine.loops import LoopBook
from quintain.logs import set_up_logs
from quintain.services.access import accounts
from quintain.services.house.demo import STARTERS, add_starter_tasks
from quintain.services.jobs.loops import pulse
from quintain.settings import Settings

MOST_PROCESSES = 64


def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.", show_default="8000")
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_PROCESSES, help="Processes that answer requests, on one port.", show_default="1"),
    ] = None,
    public_url: Annotated[
        str | None, typer.Option(help="Address that people use; a new workspace keeps it.", show_default=False)
    ] = None,
    admin: Annotated[
        str | None, typer.Option(help="Account name of a new workspace's admin.", show_default="admin")
    ] = None,
    starter: Annotated[
        str | None, typer.Option(help="Starter task that a new workspace begins with.", show_default="nothing")
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the first page in a browser.")] = False,
    listener: Annotated[int | None, typer.Option(hidden=True, help="Open socket to serve on; one of many.")] = None,
    ready: Annotated[int | None, typer.Option(hidden=True, help="Where to write a byte once it answers.")] = None,
    json: JsonFlag = False,
) -> None:
    """Serve the pages and the API of the workspace until Ctrl-C.

    Where there is no workspace yet, three questions are asked at a terminal: the admin's name, the address that people
    use, the task to begin with. Options answer them beforehand; without a terminal nothing is asked.

    Example: quintain serve --port 8080

    Example: quintain -w bench serve --admin maria --public-url https://bench.example.org --starter sentiment

    Example: quintain serve --processes 4
    """
    # Imported here: the other commands start faster without the web framework.
    from quintain.web.app import create_app
    from quintain.web.peers import trusted_proxies
    from quintain.web.server import bind
    from quintain.web.server import serve as run

    settings = settings_of(context, host=host, port=port, processes=processes, public_url=public_url)
    set_up_logs(settings.log_level, settings.log_format)
    if listener is not None and ready is not None:
        threading.Thread(target=_stop_with_input, daemon=True).start()
        tell = ready
        run(create_app(open_workspace(settings)), socket.socket(fileno=listener), ready=lambda: _tell(tell))
        return
    if not 1 <= settings.processes <= MOST_PROCESSES:
        raise BadInput(
            "QUINTAIN_PROCESSES is {processes}.",
            processes=settings.processes,
            most_processes=MOST_PROCESSES,
            remedy="It is 1 to {most_processes}.",
        )
    trusted_proxies(settings.trusted_proxies)  # said here, once, where they cannot be read
    require_engine(settings)
    known_address = "" if public_url is None and settings.public_url else public_url
    beginning = _beginning(settings, NewWorkspace(admin, known_address, starter), json=json)
    lasting = lasting_settings(settings, beginning) if beginning else {}
    settings = replace(settings, **lasting)
    bound = bind(settings.host, settings.port)
    settings = replace(settings, port=bound.getsockname()[1])
    workspace = open_workspace(settings) if beginning is None else _make(settings, beginning, lasting)
    with workspace.session() as db:
        link = accounts.first_admin(db, (beginning and beginning.admin) or ADMIN)
    announce = _announcer(settings, link.url(settings.address) if link else None, json=json, browse=open_browser)
    with announced(settings), workers_beside(settings, workspace.loops):
        if settings.processes > 1:
            workspace.engine.dispose()
            with pulse(workspace.session, workspace.loops):
                _serve_together(settings, bound, announce, workspace.loops)
        else:
            run(create_app(workspace), bound, ready=announce)
    workspace.engine.dispose()


def _serve_together(settings: Settings, bound: socket.socket, announce: Callable[[], None], book: LoopBook) -> None:
    """Let several processes answer on *bound* until this one is told to stop; one that dies is started again."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    reading, writing = os.pipe()
    servers = servers_beside(settings, settings.processes, bound.fileno(), writing, book)
    with ExitStack() as stack:
        for server in servers:
            stack.enter_context(server)
        threading.Thread(target=_wait_for, args=(reading, settings.processes, announce), daemon=True).start()
        stop.wait()
        bound.close()
        for server in servers:
            server.stop()


def _wait_for(reading: int, count: int, announce: Callable[[], None]) -> None:
    """Announce the address once *count* processes answer; what restarted ones write is read as well."""
    answering = 0
    while os.read(reading, 1):
        answering += 1
        if answering == count:
            announce()


def _tell(ready: int) -> None:
    os.write(ready, b".")


def _stop_with_input() -> None:
    """End this process as a signal would once its input ends: whoever started it is gone, or wants it to go."""
    while sys.stdin.buffer.read(1024):
        continue
    os.kill(os.getpid(), signal.SIGTERM)


def _announcer(settings: Settings, first: str | None, *, json: bool, browse: bool) -> Callable[[], None]:
    def announce() -> None:
        if json:
            output.print_json({"url": settings.address, "admin_link": first, "sandbox": sandbox_facts(settings)})
        else:
            say_sandbox(settings)
            output.say(f"Quintain is at {settings.address} (Ctrl-C stops it).")
            if first:
                output.say("Open this link once, within a week, to choose the admin's password:")
            output.print_line(first or settings.address)
        if browse:
            webbrowser.open(first or settings.address)

    return announce


def _beginning(settings: Settings, options: NewWorkspace, *, json: bool) -> NewWorkspace | None:
    """Find out what a new workspace is to begin with; None where there is one, which is never changed silently."""
    if settings.database_url or (settings.workspace / "quintain.db").exists():
        if options.starter is not None or options.admin is not None:
            raise Conflict(
                "There is a workspace already, and --admin and --starter are for a new one.",
                remedy="Leave them out, or name another folder with --workspace.",
            )
        return None
    return complete(options, starters=tuple(one.name for one in STARTERS), ask=may_ask() and not json)


def _make(settings: Settings, beginning: NewWorkspace, lasting: Mapping[str, Any]) -> Workspace:
    output.say(f"Making a workspace in {settings.workspace}.")
    workspace = create_workspace(settings)
    store_lasting(settings, lasting)
    if beginning.starter != NOTHING:
        output.say(f"Adding the starter task {beginning.starter}.")
        with workspace.session() as db:
            add_starter_tasks(db, workspace.blobs, beginning.starter or "")
    return workspace
