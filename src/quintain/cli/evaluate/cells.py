"""`quintain evaluate status|watch|run|why|cancel|retry|measure|remeasure`: the cells of a workspace."""

from __future__ import annotations

import threading
import time
from typing import Annotated

import typer
from rich.live import Live
from rich.table import Table

from quintain.cli import output
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag
from quintain.cli.plain.score import app
from quintain.cli.sandbox import say_sandbox
from quintain.compose import Workspace, make_engine
from quintain.conditions import conditions_here
from quintain.core.people import OPERATOR
from quintain.core.records.evaluate import Run
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells import measure_again, progress
from quintain.services.evaluate.cells.worker import work

TaskOption = Annotated[str | None, typer.Option("--task", "-t", help="Only this task.", show_default=False)]
WATCH_SECONDS = 1.0


@app.command()
def status(
    context: typer.Context,
    task: TaskOption = None,
    model: Annotated[str | None, typer.Option(help="Only this model, as task/name.", show_default=False)] = None,
    cells: Annotated[bool, typer.Option(help="List the cells one by one.")] = False,
    state: Annotated[list[str] | None, typer.Option(help="With --cells: only these states.")] = None,
    json: JsonFlag = False,
) -> None:
    """Show how many cells are queued, running, done, failed and cancelled.

    Example: quintain evaluate status --task sentiment --cells --state failed
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        counts = progress.status(db, OPERATOR, task)
        listed = progress.list_cells(db, OPERATOR, task=task, model=model, states=state or ()) if cells or model else []
    if json:
        output.print_json({"states": counts, "cells": listed})
        return
    output.print_table(list(counts), [list(counts.values())])
    if listed:
        output.print_table(["id", "model", "data set", "variant", "state", "rows", "reason"], map(_line, listed))


def _line(cell: Run) -> list[object]:
    return [cell.id, cell.model, cell.dataset, cell.variant, cell.state, f"{cell.done}/{cell.total}", cell.reason[:80]]


@app.command()
def watch(context: typer.Context, task: TaskOption = None, json: JsonFlag = False) -> None:
    """Follow the cells until none is queued or running; with --json, one line for each change.

    Example: quintain evaluate watch
    """
    workspace = workspace_of(context)
    if json:
        _watch_lines(workspace, task)
        return
    with Live(console=output.err, auto_refresh=False) as live:
        while True:
            counts, running = _read_runs(workspace, task)
            table = Table(
                "model", "data set", "variant", "rows", box=None, title=_summary(counts), title_justify="left"
            )
            for cell in running:
                table.add_row(cell.model, cell.dataset, cell.variant, f"{cell.done}/{cell.total}")
            live.update(table, refresh=True)
            if not counts["queued"] + counts["running"]:
                return
            time.sleep(WATCH_SECONDS)


def _watch_lines(workspace: Workspace, task: str | None) -> None:
    last: dict[str, int] = {}
    while True:
        counts, _ = _read_runs(workspace, task)
        if counts != last:
            output.print_json_line({"states": counts})
        if not counts["queued"] + counts["running"]:
            return
        last = counts
        time.sleep(WATCH_SECONDS)


def _read_runs(workspace: Workspace, task: str | None) -> tuple[dict[str, int], list[Run]]:
    with workspace.session() as db:
        return progress.status(db, OPERATOR, task), progress.list_cells(db, OPERATOR, task=task, states=["running"])


def _summary(counts: dict[str, int]) -> str:
    return " · ".join(f"{number} {state}" for state, number in counts.items())


@app.command()
def run(context: typer.Context, task: TaskOption = None, json: JsonFlag = False) -> None:
    """Compute everything that is missing now, in this process, and stop.

    Example: quintain evaluate run --task sentiment
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        added = evaluate.fill(db, task)
    say_sandbox(workspace.settings)
    output.say(f"{added} cells were missing.")
    stored = work(
        workspace.session,
        workspace.blobs,
        make_engine(workspace.settings),
        conditions_here(workspace.settings),
        threading.Event(),
        until_empty=True,
        task=task,
        tell=output.say,
    )
    with workspace.session() as db:
        counts = progress.status(db, OPERATOR, task)
    if json:
        output.print_json({"added": added, "computed": stored, "states": counts})
    else:
        output.say(f"{stored} computed. {_summary(counts)}")


@app.command()
def why(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="The model, as task/name or task/name@2.")],
    dataset: Annotated[str, typer.Argument(help="The data set, as task/name.")],
    variant: Annotated[str, typer.Option(help="plain, measure, or a perturbation.")] = "plain",
    json: JsonFlag = False,
) -> None:
    """Explain why a model has, or has not, a result on a data set, with the log of its run.

    Example: quintain evaluate why sentiment/tfidf sentiment/test --variant typos
    """
    with workspace_of(context).session() as db:
        explanation = progress.explain(db, OPERATOR, model, dataset, variant)
    if json:
        output.print_json(explanation)
        return
    output.print_line(explanation.summary)
    for event in explanation.events:
        output.print_line(f"{event.at:%Y-%m-%d %H:%M:%S}  {event.kind}  {event.text}")


@app.command()
def cancel(
    context: typer.Context, cell: Annotated[int, typer.Argument(help="The number of the cell.")], json: JsonFlag = False
) -> None:
    """Cancel a cell that is queued or running.

    Example: quintain evaluate cancel 17
    """
    with workspace_of(context).session() as db:
        evaluate.cancel(db, OPERATOR, cell)
        info = progress.explain_cell(db, OPERATOR, cell)
    output.print_json(info) if json else output.print_line(info.summary)


@app.command()
def retry(
    context: typer.Context, cell: Annotated[int, typer.Argument(help="The number of the cell.")], json: JsonFlag = False
) -> None:
    """Queue a failed or cancelled cell again.

    Example: quintain evaluate retry 17
    """
    with workspace_of(context).session() as db:
        evaluate.retry(db, OPERATOR, cell)
        info = progress.explain_cell(db, OPERATOR, cell)
    output.print_json(info) if json else output.print_line(info.summary)


@app.command()
def measure(
    context: typer.Context,
    cell: Annotated[int, typer.Argument(help="The number of the cell of a measurement.")],
    json: JsonFlag = False,
) -> None:
    """Measure a model's speed and memory on a data set again; the known figure stands until then.

    Example: quintain evaluate measure 17
    """
    with workspace_of(context).session() as db:
        measure_again.measure_again(db, OPERATOR, cell)
        info = progress.explain_cell(db, OPERATOR, cell)
    output.print_json(info) if json else output.print_line(info.summary)
