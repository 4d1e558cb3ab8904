"""`quintain task check`: say what is wrong with a task file, without a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.output import JsonFlag, out, print_json
from quintain.cli.streams import in_file
from quintain.core.errors import BadInput
from quintain.services.plain.tasks import check_task
from quintain.tasks.definition import read_task_text
from quintain.tasks.writing import task_as_dict

app = typer.Typer(help="Define what is asked.", no_args_is_help=True)

TaskFile = Annotated[Path, in_file("The task's TOML file.")]


@app.command()
def check(file: TaskFile, json: JsonFlag = False) -> None:
    """Say everything that is wrong with a task file; needs no workspace.

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
