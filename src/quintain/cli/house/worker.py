"""`quintain worker`: compute cells."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag
from quintain.cli.sandbox import say_sandbox
from quintain.compose import Workspace, busy, checkpoints_of, make_engine, require_engine, trainer_of
from quintain.conditions import conditions_here
from quintain.logs import set_up_logs
from quintain.services.evaluate.cells.worker import work_together, worker_name
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs.loops import pulse
from quintain.services.jobs.running import keep_running


def worker(
    context: typer.Context,
    parallel: Annotated[int, typer.Option(min=1, max=256, help="Cells to compute at the same time.")] = 1,
    until_empty: Annotated[bool, typer.Option(help="Stop when there is nothing left to compute.")] = False,
    attached: Annotated[bool, typer.Option(hidden=True, help="Stop at once when the input ends.")] = False,
    json: JsonFlag = False,
) -> None:
    """Compute the cells that are missing, one after another, until Ctrl-C; start as many workers as you like.

    Beside them it does the jobs that wait: figures, reviews, reports. Example: quintain worker --parallel 2
    """
    workspace = workspace_of(context)
    set_up_logs(workspace.settings.log_level, workspace.settings.log_format)
    require_engine(workspace.settings)
    stop = threading.Event()
    abandon = threading.Event()
    if attached:
        threading.Thread(target=_watch_input, args=(stop, abandon), daemon=True).start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    if not attached:
        say_sandbox(workspace.settings)
        output.say("Working; Ctrl-C stops after the cells in hand.")
    with pulse(workspace.session, workspace.loops), _jobs_beside(workspace):
        stored = work_together(
            workspace.session,
            workspace.blobs,
            make_engine(workspace.settings),
            conditions_here(workspace.settings),
            stop,
            parallel=parallel,
            until_empty=until_empty,
            abandon=abandon,
            trainer=trainer_of(workspace.settings),
            book=workspace.loops,
        )
    if until_empty:  # the last cells may have woken some
        _do_jobs(workspace, stop, until_empty=True)
    if json:
        output.print_json({"computed": stored})
    elif not attached:
        output.say(f"{stored} cells computed.")


@contextmanager
def _jobs_beside(workspace: Workspace) -> Iterator[None]:
    """Do jobs beside the cells, for as long as the block runs."""
    over = threading.Event()
    jobs = threading.Thread(target=_do_jobs, args=(workspace, over), name="jobs")
    jobs.start()
    try:
        yield
    finally:
        over.set()
        jobs.join()


def _do_jobs(workspace: Workspace, stop: threading.Event, *, until_empty: bool = False) -> None:
    """Do jobs; nothing is measured on this machine while one is done."""
    keep_running(
        workspace.session,
        workspace.blobs,
        job_handlers(workspace.runners, checkpoints_of(workspace.settings)),
        worker_name(),
        stop,
        until_empty=until_empty,
        busy=lambda: busy(workspace.settings),
        book=workspace.loops,
    )


def _watch_input(stop: threading.Event, abandon: threading.Event) -> None:
    """Wait for the end of the input: whoever started this worker is gone, or wants it to go."""
    while sys.stdin.buffer.read(1024):
        continue
    stop.set()
    abandon.set()
