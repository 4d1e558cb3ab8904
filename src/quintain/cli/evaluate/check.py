"""`quintain model init|check`: make a model and try it, for which files suffice."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from quintain.adapters.contract import ADAPTERS
from quintain.adapters.manifest import read_manifest
from quintain.adapters.scaffold import write_model
from quintain.cli import output
from quintain.cli.context import settings_of, workspace_of
from quintain.cli.output import JsonFlag
from quintain.cli.plain.models import app
from quintain.cli.server_task import Handed, TokenOption, UrlOption, task_on_server
from quintain.cli.streams import in_option
from quintain.conditions import as_served, conditions_here
from quintain.core.errors import BadInput, NotFound
from quintain.core.task import Task
from quintain.core.texts import hint
from quintain.data.importing import write_examples
from quintain.data.plan import ImportPlan
from quintain.services.evaluate.submissions.check_model import CheckReport, check_model, with_limits
from quintain.services.evaluate.submissions.model_files import opened_model
from quintain.services.plain.files.tasks import check_task
from quintain.tasks.contract import kind_of
from quintain.tasks.definition import read_task
from quintain.tasks.starter import starter

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The model's folder.", show_default=False)]
TaskOption = Annotated[
    str | None,
    typer.Option("--task", "-t", help="A task of the workspace, or a task file (.toml).", show_default=False),
]
KindOption = Annotated[
    str | None, typer.Option("--kind", "-k", help="A kind, where there is no task yet.", show_default=False)
]
# A task that everybody starts with; it needs no workspace.
WELL_KNOWN = {"sentiment": "text-classification", "nli": "pair-classification", "qa": "extractive-qa"}


@app.command()
def init(
    context: typer.Context,
    folder: Folder,
    task: TaskOption = None,
    kind: KindOption = None,
    name: Annotated[str | None, typer.Option(help="Name of the model; the folder's by default.")] = None,
    adapter: Annotated[
        str | None, typer.Option("--adapter", "-a", help="How it is run, such as sklearn, onnx or chat.")
    ] = None,
    url: UrlOption = None,
    token: TokenOption = None,
    json: JsonFlag = False,
) -> None:
    """Write a model to start from: a handler that works, or what another adapter begins with; manifest and card.

    Example: quintain model init my-model --task sentiment

    Example: quintain model init my-endpoint --task sentiment --adapter chat
    """
    if adapter is not None and adapter not in ADAPTERS:
        raise BadInput("There is no adapter '{name}'; {hint}.", name=adapter, hint=hint(adapter, ADAPTERS.names()))
    definition = _task(context, task, kind, url=url, token=token)
    called = name or folder.resolve().name.lower().replace(" ", "-").replace("_", "-")
    files, start = write_model(folder, definition, name=called, named=task is not None, adapter=adapter or "")
    if json:
        of_task = definition.name if task else None
        output.print_json({"folder": folder, "task": of_task, "name": called, "files": files, "left": start.left})
        return
    output.say(f"Wrote {', '.join(files)} into {folder}.")
    for sentence in start.left:
        output.say(sentence)
    of = (f"--task {task}" if task else f"--kind {kind}") + (f" --url {url}" if url else "")
    output.say(f"Try it: quintain model check {folder} {of}")


@app.command()
def check(
    context: typer.Context,
    folder: Handed,
    task: TaskOption = None,
    kind: KindOption = None,
    data: Annotated[Path | None, in_option("Try it on this file instead of samples.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Use at most so many rows of the file.")] = 100,
    seconds: Annotated[float, typer.Option(min=0.1, help="Wait at most so long for the answers.")] = 60.0,
    url: UrlOption = None,
    token: TokenOption = None,
    json: JsonFlag = False,
) -> None:
    """Try a model in the sandbox that the workspace's server uses, and say everything that is wrong with it.

    Example: quintain model check my-model --task sentiment

    Example: quintain model check pipeline.joblib --task sentiment
    """
    with opened_model(folder) as model:
        definition = _task(context, task or (None if kind else named_task(model)), kind, url=url, token=token)
        inputs = _rows(data, definition, limit) if data else None
        conditions = with_limits(conditions_here(as_served(settings_of(context))), seconds=seconds)
        report = check_model(model, definition, conditions, inputs)
    if json:
        output.print_json(report.as_dict())
    else:
        _print_report(report)
    if not report.ok:
        raise typer.Exit(1)


def _task(
    context: typer.Context, task: str | None, kind: str | None, *, url: str | None = None, token: str | None = None
) -> Task:
    """Find the task that was meant: a file, one of a server or of the workspace, a well-known name, or a kind."""
    if task is not None and task.endswith(".toml"):
        return read_task(Path(task))
    if kind is not None:
        return check_task(starter(kind, task or kind))
    if task is None:
        raise typer.BadParameter("Name the task with --task, or its kind with --kind.")
    if url is not None:
        return task_on_server(task, url, token or settings_of(context).token or None)
    try:
        workspace = workspace_of(context)
    except NotFound:
        if task in WELL_KNOWN:
            return check_task(starter(WELL_KNOWN[task], task))
        raise
    from quintain.services.tasks.definitions import get_task  # only where there is a workspace

    try:
        with workspace.session() as db:
            return get_task(db, task)
    except NotFound:
        if task in WELL_KNOWN:
            return check_task(starter(WELL_KNOWN[task], task))
        raise


def named_task(folder: Path) -> str | None:
    """Return the task that the model's manifest names, or None."""
    try:
        return read_manifest(folder).task
    except BadInput:
        return None


def _rows(file: Path, task: Task, limit: int) -> list[dict[str, Any]]:
    fields = [item.name for item in kind_of(task).fields(task)]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "data.parquet"
        write_examples(file, task, ImportPlan(role="dev"), target)
        return pl.scan_parquet(target).select(fields).head(limit).collect().to_dicts()


def _print_report(report: CheckReport) -> None:
    rows: list[Sequence[object]] = [("adapter", report.adapter)]
    if report.load_seconds is not None:
        rows.append(("ready after", f"{report.load_seconds:.2f} s"))
    if report.latency_p50 is not None and report.latency_p95 is not None:
        rows.append(("latency", f"{report.latency_p50 * 1e3:.2f} ms (p50), {report.latency_p95 * 1e3:.2f} ms (p95)"))
    if report.memory is not None:
        rows.append(("memory", f"{report.memory:.3f} GiB at most"))
    if report.layers:
        held = ", ".join(name if holds else f"NOT {name}" for name, holds in report.layers.items())
        rows.append(("sandbox", held))
    if report.estimate is not None:
        rows.append(("estimate", str(report.estimate)))
    rows += [(name.replace("_", " "), value) for name, value in report.facts.items()]
    rows += [("answer", f"{answer['answer']!r}  to {str(answer['inputs'])[:80]}") for answer in report.answers[:3]]
    output.print_table(("", ""), rows)
    for warning in report.warnings:
        output.say(f"warning: {warning}")
    if report.log:
        output.say(report.log)
    for fault in report.faults:
        output.say(f"fault: {fault}")
    many = len(report.faults)
    output.print_line(
        "The model can be submitted." if report.ok else f"{many} fault{'s' if many != 1 else ''} to mend."
    )
