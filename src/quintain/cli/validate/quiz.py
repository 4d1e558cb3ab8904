"""`quintain task quiz retire|restore`: take a quiz out of use, and into use again."""

from __future__ import annotations

import typer

from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, say
from quintain.cli.work.quiz import QuizName, app, split_ref
from quintain.core.people import OPERATOR
from quintain.services.validate.quality import quiz_use


@app.command()
def retire(context: typer.Context, ref: QuizName, json: JsonFlag = False) -> None:
    """Take a quiz out of use; who passed it has passed it.

    Example: quintain task quiz retire sentiment/intro
    """
    task, name = split_ref(ref)
    with workspace_of(context).session() as db:
        quiz = quiz_use.retire_quiz(db, OPERATOR, task, name)
    say(f"The quiz {ref} is retired. `quintain task quiz restore {ref}` brings it back.")
    if json:
        print_json(quiz)


@app.command()
def restore(context: typer.Context, ref: QuizName, json: JsonFlag = False) -> None:
    """Take a quiz that was retired into use again.

    Example: quintain task quiz restore sentiment/intro
    """
    task, name = split_ref(ref)
    with workspace_of(context).session() as db:
        quiz = quiz_use.restore_quiz(db, OPERATOR, task, name)
    say(f"The quiz {ref} is in use again.")
    if json:
        print_json(quiz)
