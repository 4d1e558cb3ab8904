"""`quintain model submit`: hand a model in."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from quintain.cli import output
from quintain.cli.context import settings_of, workspace_of
from quintain.cli.evaluate.check import named_task
from quintain.cli.output import JsonFlag
from quintain.cli.plain.models import app
from quintain.cli.server_task import Handed
from quintain.client import Client
from quintain.compose import rules_of
from quintain.conditions import as_served
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR
from quintain.core.records.tasks import Submission, Visibility
from quintain.engine.archives import packed
from quintain.services.evaluate.submissions.model_files import opened_model
from quintain.services.evaluate.submissions.submit import submit_folder
from quintain.services.models.registry import VISIBILITIES


@app.command()
def submit(
    context: typer.Context,
    folder: Handed,
    task: Annotated[str | None, typer.Option("--task", "-t", help="The task; the manifest's by default.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the model; the manifest's by default.")] = None,
    url: Annotated[str | None, typer.Option(help="Address of the server; the local workspace by default.")] = None,
    token: Annotated[str | None, typer.Option(help="API token; by default that of QUINTAIN_TOKEN.")] = None,
    visibility: Annotated[str, typer.Option(help="public, private or anonymous.")] = "public",
    json: JsonFlag = False,
) -> None:
    """Submit a model: it is uploaded, looked at, registered, and run on every data set of its task.

    Example: quintain model submit my-model --task sentiment --url https://bench.example.org --token qt_…

    Example: quintain model submit pipeline.joblib --task sentiment --name my-pipeline
    """
    chosen = next((known for known in VISIBILITIES if known == visibility), None)
    if chosen is None:
        raise BadInput(
            "The visibility '{visibility}' is not one of {visibilities}.",
            visibility=visibility,
            visibilities=", ".join(VISIBILITIES),
        )
    key = token or settings_of(context).token or None
    with opened_model(folder) as model:
        task_name = task or named_task(model)
        if task_name is None:
            raise typer.BadParameter("Name the task with --task, or as `task` in quintain.toml.")
        if url:
            submission = _send(model, task_name, name, url, key, chosen)
        else:
            submission = _keep(context, model, task_name, name, chosen)
    if json:
        output.print_json(submission)
        return
    _report(submission)


def _report(submission: Submission) -> None:
    ref = submission.ref
    output.say(f"{ref} is registered." if submission.new else f"{ref} was there already, with this content.")
    left = "" if submission.left_today is None else f" {submission.left_today} submissions are left today."
    waiting = submission.trial == "queued"
    first = "A worker tries it on a few examples first; its cells are queued after that."
    output.say(f"{first if waiting else str(submission.cells) + ' cells are queued.'}{left}")
    if submission.estimate:
        output.say(f"They make {submission.estimate}.")
    output.print_line(ref)


def _send(folder: Path, task: str, name: str | None, url: str, token: str | None, visibility: Visibility) -> Submission:
    with (
        tempfile.TemporaryDirectory() as scratch,
        packed(folder, Path(scratch) / "model.tar.gz") as archive,
        Client(url, token) as client,
        _bar() as progress,
    ):
        output.say("Once it is there, the server tries the model on a few examples …")
        return client.submit(archive, task, name=name, visibility=visibility, progress=progress)


def _keep(context: typer.Context, folder: Path, task: str, name: str | None, visibility: Visibility) -> Submission:
    workspace = workspace_of(context)
    rules = rules_of(as_served(workspace.settings))
    output.say("Looking at the model, and trying it on a few examples …")
    with workspace.session() as db:
        submitted = submit_folder(
            db, workspace.blobs, OPERATOR, task, folder, rules=rules, name=name, visibility=visibility
        )
    return submitted.record()


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    columns = (TextColumn("uploading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=output.err, disable=not output.err.is_terminal) as progress:
        bar = progress.add_task("upload", total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)
