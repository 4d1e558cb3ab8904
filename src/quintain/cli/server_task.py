"""What a command takes for a model, and where a model's task is found: files, a server, or the workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.core.task import Task

Handed = Annotated[
    Path,
    typer.Argument(
        metavar="DIR|FILE",
        help="The model's folder, an archive of it, or one file that is a model: .joblib, .onnx, predictions as .csv …",
        show_default=False,
    ),
]
UrlOption = Annotated[
    str | None, typer.Option("--url", help="Address of the server that has the task.", show_default=False)
]
TokenOption = Annotated[
    str | None, typer.Option("--token", help="API token; by default that of QUINTAIN_TOKEN.", show_default=False)
]


def task_on_server(name: str, url: str, token: str | None) -> Task:
    """Ask the server at *url* for the definition of a task."""
    from quintain.client import Client  # a command on files alone does without

    with Client(url, token) as client:
        info = client.task(name)
    return Task(
        name=info.name,
        kind=info.kind,
        title=info.title,
        labels=info.labels,
        extra_labels=info.extra_labels,
        instructions=info.instructions,
        content_warning=info.content_warning,
        languages=tuple(info.languages),
        metrics=tuple(info.metrics),
        canonical_metric=info.canonical_metric,
        counted_perturbations=tuple(info.counted_perturbations),
        options=info.options,
    )
