"""`quintain task datasheet`: what only the owner can say in the datasheets of a task's releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.confirm_changes import RemoveOption, YesOption, confirm_changes
from quintain.cli.context import RevisionOption, workspace_of
from quintain.cli.output import JsonFlag, print_document, print_json, say
from quintain.cli.plain.task import app
from quintain.cli.streams import in_file
from quintain.cli.tasks.task import TaskName
from quintain.core.datasheet import question
from quintain.core.people import OPERATOR
from quintain.core.toml import read_text
from quintain.services.release import datasheet_answers as service


@app.command()
def datasheet(
    context: typer.Context,
    name: TaskName,
    file: Annotated[Path | None, in_file("TOML file with the answers; without one, those there are.")] = None,
    remove: RemoveOption = None,
    yes: YesOption = False,
    revision: RevisionOption = "",
    json: JsonFlag = False,
) -> None:
    """Show the answers to the open questions of a task's datasheets, or set them; the next release has them.

    Example: quintain task datasheet sentiment > answers.toml

    Example: quintain task datasheet sentiment answers.toml
    """
    with workspace_of(context).session() as db:
        if file is not None:
            text = read_text(file)
            confirm_changes(
                lambda edit: service.put_answers(db, OPERATOR, name, text, file=str(file), edit=edit),
                remove,
                revision,
                yes=yes,
            )
        answers = service.answers_text(db, OPERATOR, name)
    if json:
        print_json(answers)
        return
    if file is None:
        print_document(answers.toml, nl=False)
    say(f"{len(answers.open)} questions are open.")
    for unanswered in answers.open:
        say(f"  {unanswered}: {question(unanswered)}")
