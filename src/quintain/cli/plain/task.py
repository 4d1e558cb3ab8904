"""`quintain task check|kinds|new`: task files, without a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from quintain.cli.output import JsonFlag, out, print_document, print_json, print_table, say
from quintain.cli.streams import in_file, out_file
from quintain.core.errors import BadInput
from quintain.services.plain.files.tasks import check_task
from quintain.tasks.contract import KINDS, TaskKind
from quintain.tasks.definition import read_task_text
from quintain.tasks.starter import starter
from quintain.tasks.writing import task_as_dict

app = typer.Typer(help="Define what is asked.", no_args_is_help=True)

TaskFile = Annotated[Path, in_file("The task's TOML file.")]


@app.command()
def check(file: TaskFile, json: JsonFlag = False) -> None:
    """Find everything that is wrong with a task file; needs no workspace.

    Example: quintain task check sentiment.toml
    """
    try:
        task = check_task(read_task_text(file), file=str(file))
    except BadInput as error:
        if not json:
            raise
        faults = [fault.as_dict() for fault in error.faults] or [{"file": str(file), "reason": error.message}]
        print_json({"ok": False, "faults": faults, "remedy": error.remedy})
        raise typer.Exit(1) from None
    if json:
        print_json({"ok": True, "task": task_as_dict(task)})
    else:
        out.print(f"{file}: a good task file ('{task.name}', {task.kind}).", markup=False, soft_wrap=True)


@app.command()
def kinds(json: JsonFlag = False) -> None:
    """List the kinds of task with their fields; needs no workspace.

    Example: quintain task kinds
    """
    members = [member() for _, member in KINDS.items()]
    if json:
        print_json({"kinds": [_kind(member) for member in members]})
    else:
        rows = [(member.name, ", ".join(member.example.inputs), member.answer_type, member.title) for member in members]
        print_table(["kind", "fields", "answer", "what it is"], rows)


@app.command()
def new(
    kind: Annotated[str, typer.Option("--kind", "-k", help="Kind of the task; `task kinds` lists them.")],
    file: Annotated[Path | None, out_file("Where to write it; stdout by default.", metavar="[FILE]")] = None,
    name: Annotated[str, typer.Option("--name", help="Name of the task.")] = "my-task",
    json: JsonFlag = False,
) -> None:
    """Write a commented task file to start from; needs no workspace.

    Example: quintain task new --kind text-classification --name sentiment sentiment.toml
    """
    text = starter(kind, name)
    check_task(text)
    if file is not None:
        _write_new(file, text)
        say(f"Wrote {file}. Edit it, then: quintain task check {file}")
    if json:
        print_json({"file": None if file is None else str(file), "toml": text})
    elif file is None:
        print_document(text, nl=False)


def _write_new(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput("{file} cannot be written: {strerror}.", file=file, strerror=error.strerror) from error


def _kind(kind: TaskKind) -> dict[str, Any]:
    return {
        "name": kind.name,
        "title": kind.title,
        "answer": kind.answer_type,
        "labels": list(kind.fixed_labels) or ("required" if kind.needs_labels else None),
        "metrics": list(kind.default_metrics),
        "options": dict(kind.default_options),
        "example": {**kind.example.inputs, "answer": kind.example.answer},
    }
