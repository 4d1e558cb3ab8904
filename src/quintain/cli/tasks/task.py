"""`quintain task`: define what is asked."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from quintain.cli.confirm_changes import RemoveOption, YesOption, confirm_changes
from quintain.cli.context import RevisionOption, workspace_of
from quintain.cli.output import JsonFlag, print_document, print_json, print_table, say
from quintain.cli.plain.task import TaskFile, app
from quintain.core.people import OPERATOR, RoleName
from quintain.core.records.tasks import TaskHistory, Tasks
from quintain.core.task import Task
from quintain.services.access import accounts
from quintain.services.tasks import definitions as service
from quintain.tasks.contract import kind_of
from quintain.tasks.definition import read_task_text

TaskName = Annotated[str, typer.Argument(metavar="NAME", help="The task's name.", show_default=False)]


@app.command()
def add(
    context: typer.Context,
    file: TaskFile,
    remove: RemoveOption = None,
    yes: YesOption = False,
    revision: RevisionOption = "",
    json: JsonFlag = False,
) -> None:
    """Add the task that a file defines, or change the one of that name.

    Example: quintain task add sentiment.toml
    """
    text = read_task_text(file)
    with workspace_of(context).session() as db:
        task = confirm_changes(
            lambda edit: service.put_task(db, OPERATOR, text, file=str(file), edit=edit), remove, revision, yes=yes
        )
        version = service.task_history(db, task.name)[0].number
        record = service.record_of(task, service.task_revision(db, task.name))
    if json:
        print_json({"task": record, "version": version})
    else:
        say(f"Task '{task.name}' is there, version {version}.")


@app.command()
def roles(
    context: typer.Context,
    name: TaskName,
    search: Annotated[str, typer.Option("--search", help="Part of a name.", show_default=False)] = "",
    role: Annotated[RoleName | None, typer.Option("--role", help="Only this one.", show_default=False)] = None,
    limit: Annotated[int, typer.Option("--limit", help="At most so many.", min=1)] = 100,
    offset: Annotated[int, typer.Option("--offset", help="Skip so many.", min=0)] = 0,
    json: JsonFlag = False,
) -> None:
    """List who holds a role on one task; `user grant` and `user revoke` with --task give and take them.

    Example: quintain task roles sentiment --role expert
    """
    with workspace_of(context).session() as db:
        listed = accounts.roles_on_task(db, OPERATOR, name, search=search, role=role, limit=limit, offset=offset)
    if json:
        print_json(listed)
        return
    rows = [(role.name, role.display_name, role.role, f"{role.since:%Y-%m-%d}", role.given_by) for role in listed.roles]
    print_table(("name", "display name", "role", "since", "given by"), rows)
    if listed.total > offset + len(listed.roles):
        say(f"{len(listed.roles)} of {listed.total} roles; --offset shows more.")


@app.command("list")
def list_(
    context: typer.Context,
    archived: Annotated[bool, typer.Option("--archived", help="Show archived tasks too.")] = False,
    json: JsonFlag = False,
) -> None:
    """List the tasks.

    Example: quintain task list
    """
    with workspace_of(context).session() as db:
        tasks = service.list_tasks(db, archived=archived)
    if json:
        print_json(Tasks([task.record() for task in tasks]))
    elif not tasks:
        say("There are no tasks yet. Add one with `quintain task add FILE`.")
    else:
        rows = [(task.task.name, task.task.kind, _first(task.task.title), task.version, _state(task)) for task in tasks]
        print_table(["name", "kind", "title", "version", ""], rows)


@app.command()
def show(
    context: typer.Context,
    name: TaskName,
    toml: Annotated[bool, typer.Option("--toml", help="Print the file exactly as it was given.")] = False,
    json: JsonFlag = False,
) -> None:
    """Show a task: its fields, labels, metrics and instructions.

    Example: quintain task show sentiment --toml > sentiment.toml
    """
    with workspace_of(context).session() as db:
        history = service.task_history(db, name)
        task = service.get_task(db, name)
        record = service.record_of(task, service.task_revision(db, name))
    if json:
        print_json({"task": record, "version": history[0].number})
    elif toml:
        print_document(history[0].toml, nl=not history[0].toml.endswith("\n"))
    else:
        _print_task(task)


@app.command()
def history(context: typer.Context, name: TaskName, json: JsonFlag = False) -> None:
    """List every state of a task's file: when it changed, and by whom.

    Example: quintain task history sentiment
    """
    with workspace_of(context).session() as db:
        changes = service.task_history(db, name)
    if json:
        print_json(TaskHistory(changes))
    else:
        rows = [(change.number, f"{change.at:%Y-%m-%d %H:%M}", change.by or "operator") for change in changes]
        print_table(["version", "at (UTC)", "by"], rows)


@app.command()
def archive(
    context: typer.Context,
    name: TaskName,
    restore: Annotated[bool, typer.Option("--restore", help="Put it back instead.")] = False,
    json: JsonFlag = False,
) -> None:
    """Take a task out of the lists, or put it back; nothing is deleted.

    Example: quintain task archive sentiment
    """
    with workspace_of(context).session() as db:
        service.archive_task(db, OPERATOR, name, archived=not restore)
    if json:
        print_json({"name": name, "archived": not restore})
    else:
        say(f"Task '{name}' is {'back in the lists' if restore else 'archived'}.")


def _state(listed: service.ListedTask) -> str:
    return "archived" if listed.archived else ""


def _first(texts: Any) -> str:
    return next(iter(texts.values()), "")


def _print_task(task: Task) -> None:
    kind = kind_of(task)
    rows = [
        ("name", task.name),
        ("kind", f"{task.kind} ({kind.title})"),
        ("title", "; ".join(f"{text} ({code})" for code, text in task.title.items())),
        ("languages", ", ".join(task.languages)),
        ("fields", ", ".join(f"{item.name} ({item.type})" for item in kind.fields(task))),
        ("answer", kind.answer_type),
        ("labels", ", ".join(task.label_names)),
        ("extra labels", ", ".join(label.name for label in task.extra_labels)),
        ("metrics", ", ".join(f"{name} *" if name == task.canonical_metric else name for name in task.metrics)),
        ("options", ", ".join(f"{name} = {value}" for name, value in task.options.items())),
        ("warning", _first(task.content_warning)),
    ]
    print_table(["", ""], [row for row in rows if row[1]])
    if task.instructions:
        print_document(f"\n{_first(task.instructions).strip()}", nl=True)
