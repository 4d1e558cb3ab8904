"""`quintain task quiz`: quizzes that show whether a task was understood."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.confirm_changes import RemoveOption, YesOption, confirm_changes
from quintain.cli.context import RevisionOption, workspace_of
from quintain.cli.output import JsonFlag, print_json, print_line, print_table, say
from quintain.cli.plain.task import app as task_app
from quintain.cli.streams import in_file
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR
from quintain.core.records.work import Quizzes
from quintain.core.toml import read_text
from quintain.services.work import quiz_results, quizzes
from quintain.services.work.quiz_files import dump_quiz, parse_quiz

app = typer.Typer(help="Quizzes of a task, for those who write and judge.", no_args_is_help=True)
task_app.add_typer(app, name="quiz")

QuizName = Annotated[str, typer.Argument(metavar="QUIZ", help="The quiz, as task/name, such as sentiment/intro.")]


@app.command()
def new(
    context: typer.Context,
    ref: QuizName,
    file: Annotated[Path, in_file("TOML or JSON file of the quiz.")],
    check: Annotated[bool, typer.Option("--check", help="Only say what is wrong with it; needs no workspace.")] = False,
    remove: RemoveOption = None,
    yes: YesOption = False,
    revision: RevisionOption = "",
    json: JsonFlag = False,
) -> None:
    """Add a quiz to a task, or change it; whoever passed it before has passed it.

    Example: quintain task quiz new sentiment/intro intro.toml
    """
    task, name = split_ref(ref)
    definition = parse_quiz(read_text(file), file=file.name)
    counted = f"{len(definition['questions'])} questions"
    if check:
        say(f"{file} defines a quiz of {counted}.")
        if json:
            print_json({"file": str(file), "questions": len(definition["questions"])})
        return
    with workspace_of(context).session() as db:
        quiz = confirm_changes(
            lambda edit: quizzes.put_quiz(db, OPERATOR, task, name, definition, edit=edit), remove, revision, yes=yes
        )
    say(f"The quiz {ref} has {counted}, version {quiz.version}.")
    if json:
        print_json(quiz)


@app.command("list")
def list_(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="Name of the task.")],
    json: JsonFlag = False,
) -> None:
    """List the quizzes of a task, retired ones too.

    Example: quintain task quiz list sentiment
    """
    with workspace_of(context).session() as db:
        quizzes_of_task = quiz_results.quiz_list(db, OPERATOR, task)
    if json:
        print_json(Quizzes(quizzes_of_task))
    elif not quizzes_of_task:
        say(f"Task '{task}' has no quizzes. Add one with `quintain task quiz new {task}/NAME FILE`.")
    else:
        rows = [
            (quiz.name, quiz.version, quiz.questions, quiz.practice, "yes" if quiz.retired else "")
            for quiz in quizzes_of_task
        ]
        print_table(["quiz", "version", "questions", "practice", "retired"], rows)


@app.command()
def show(context: typer.Context, ref: QuizName, json: JsonFlag = False) -> None:
    """Print a quiz as the TOML file that defines it.

    Example: quintain task quiz show sentiment/intro > intro.toml
    """
    task, name = split_ref(ref)
    with workspace_of(context).session() as db:
        quiz = quizzes.get_quiz(db, OPERATOR, task, name)
        definition = quizzes.quiz_definition(db, OPERATOR, task, name)
    if json:
        print_json(
            {
                "task": task,
                "name": name,
                "version": quiz.version,
                "definition": definition,
                "revision": quiz.revision,
            }
        )
    else:
        print_line(dump_quiz(definition).rstrip("\n"))


@app.command()
def results(context: typer.Context, ref: QuizName, json: JsonFlag = False) -> None:
    """Show who passed a quiz, and which questions are missed.

    Example: quintain task quiz results sentiment/intro
    """
    task, name = split_ref(ref)
    with workspace_of(context).session() as db:
        outcome = quiz_results.quiz_results(db, OPERATOR, task, name)
    if json:
        print_json(outcome)
        return
    say(f"{outcome.passed} of {outcome.people} people passed {ref}, in {outcome.tries} tries.")
    people = [
        (
            one.name,
            one.tries,
            f"{one.best} of {one.total}",
            "yes" if one.passed else "",
            f"{one.last_at:%Y-%m-%d %H:%M}",
        )
        for one in outcome.by_person
    ]
    print_table(["person", "tries", "best", "passed", "last"], people)
    questions = [(one.text, "–" if one.rate is None else f"{one.rate:.0%}") for one in outcome.by_question]
    print_table(["question", "right"], questions)


def split_ref(ref: str) -> tuple[str, str]:
    """Return the task and the name of a quiz; refuse what is no `task/name`."""
    task, _, name = ref.partition("/")
    if not task or not name:
        raise BadInput("'{ref}' is not a quiz.", ref=ref, remedy="Name it as task/name, such as sentiment/intro.")
    return task, name
