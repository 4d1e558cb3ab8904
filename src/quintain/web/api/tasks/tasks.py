"""Tasks, for programs."""

from __future__ import annotations

from quintain.core.errors import Conflict
from quintain.core.task import Task
from quintain.services.house import browse
from quintain.services.tasks import definitions as tasks
from quintain.tasks.contract import kind_of
from quintain.tasks.definition import parse_task
from quintain.web.api.call import Calling
from quintain.web.api.params import Archived, Query, TaskName
from quintain.web.api.shapes import (
    FieldShape,
    FoundShape,
    LabelShape,
    TaskDefinition,
    TaskHistoryShape,
    TaskShape,
    TasksShape,
    TaskSummaryShape,
    TaskVersionShape,
)


def list_tasks(call: Calling, archived: Archived = False) -> TasksShape:
    """List the tasks."""
    found = [
        TaskSummaryShape(
            name=item.task.name,
            kind=item.task.kind,
            title=dict(item.task.title),
            labels=list(item.task.label_names),
            version=item.version,
            changed_at=item.changed_at,
            archived=item.archived,
        )
        for item in tasks.list_tasks(call.db, archived=archived)
    ]
    return TasksShape(tasks=found)


def create_task(call: Calling, definition: TaskDefinition) -> TaskShape:
    """Add the task that a TOML file defines, or change the one of that name."""
    return shape_of(tasks.put_task(call.db, call.actor, definition.toml))


def get_task(call: Calling, task: TaskName) -> TaskShape:
    """Give a task as it is defined now."""
    return shape_of(tasks.get_task(call.db, task))


def change_task(call: Calling, task: TaskName, definition: TaskDefinition) -> TaskShape:
    """Change a task's definition; every version is kept."""
    tasks.get_task(call.db, task)
    name = parse_task(definition.toml).name
    if name != task:
        raise Conflict("This defines '{name}', not '{task}'.", name=name, task=task, remedy="A task keeps its name.")
    return shape_of(tasks.put_task(call.db, call.actor, definition.toml))


def archive_task(call: Calling, task: TaskName) -> None:
    """Take a task out of the lists; nothing is lost."""
    tasks.archive_task(call.db, call.actor, task)


def task_history(call: Calling, task: TaskName) -> TaskHistoryShape:
    """List every version of a task's TOML file, the newest first."""
    versions = [TaskVersionShape.model_validate(change) for change in tasks.task_history(call.db, task)]
    return TaskHistoryShape(versions=versions)


def search(call: Calling, q: Query) -> FoundShape:
    """Find tasks, data sets and models by their names."""
    found = browse.search(call.db, call.actor, q)
    return FoundShape.model_validate(
        {"tasks": found.tasks, "datasets": found.datasets, "models": found.models}, from_attributes=True
    )


def shape_of(task: Task) -> TaskShape:
    """Give a task in the shape that the API documents."""
    kind = kind_of(task)
    fields = [
        FieldShape(name=item.name, type=item.type, title=item.title, required=item.required)
        for item in kind.fields(task)
    ]
    return TaskShape(
        name=task.name,
        kind=task.kind,
        title=dict(task.title),
        labels=[LabelShape.model_validate(label) for label in task.labels],
        extra_labels=[LabelShape.model_validate(label) for label in task.extra_labels],
        fields=fields,
        answer_type=kind.answer_type,
        instructions=dict(task.instructions),
        content_warning=dict(task.content_warning),
        languages=list(task.languages),
        metrics=list(task.metrics),
        canonical_metric=task.canonical_metric,
        options=dict(task.options),
    )
