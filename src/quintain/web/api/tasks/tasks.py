"""Tasks, for programs."""

from __future__ import annotations

from quintain.core.records.tasks import TaskHistory, TaskInfo, Tasks
from quintain.core.task import Task
from quintain.services.tasks import definitions as tasks
from quintain.web.api.call import Call, Calling
from quintain.web.api.params import Archived, Changing, TaskName
from quintain.web.api.shapes import TaskDefinition


def list_tasks(call: Calling, archived: Archived = False) -> Tasks:
    """List the tasks."""
    return Tasks([task.record() for task in tasks.list_tasks(call.db, archived=archived)])


def put_task(call: Calling, definition: TaskDefinition, edit: Changing) -> TaskInfo:
    """Add the task that a TOML file defines, or change the one of that name."""
    return _info(call, tasks.put_task(call.db, call.actor, definition.toml, edit=edit))


def get_task(call: Calling, task: TaskName) -> TaskInfo:
    """Return a task as it is defined now."""
    return _info(call, tasks.get_task(call.db, task))


def change_task(call: Calling, task: TaskName, definition: TaskDefinition, edit: Changing) -> TaskInfo:
    """Change a task's definition; every version is kept."""
    return _info(call, tasks.put_task(call.db, call.actor, definition.toml, name=task, edit=edit))


def archive_task(call: Calling, task: TaskName) -> None:
    """Take a task out of the lists; nothing is lost."""
    tasks.archive_task(call.db, call.actor, task)


def restore_task(call: Calling, task: TaskName) -> None:
    """Put an archived task back into the lists."""
    tasks.archive_task(call.db, call.actor, task, archived=False)


def get_task_history(call: Calling, task: TaskName) -> TaskHistory:
    """List every version of a task's TOML file, the newest first."""
    return TaskHistory(tasks.task_history(call.db, task))


def _info(call: Call, task: Task) -> TaskInfo:
    return tasks.record_of(task, tasks.task_revision(call.db, task.name))
