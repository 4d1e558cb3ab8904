"""Calls about tasks, and a search for anything.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from collections.abc import Iterable

from quintain.client.refs import task_path
from quintain.client.transport import Transport
from quintain.core.records.access import TaskRoles
from quintain.core.records.changes import SpecChanges
from quintain.core.records.release import DatasheetText
from quintain.core.records.tasks import Found, TaskChange, TaskHistory, TaskInfo, Tasks, TaskSummary
from quintain.core.records.wheel import Margin, Timeline


class TasksCalls:
    """What `Client` can ask about tasks."""

    _transport: Transport

    def preview_changes(self, what: str, of: str, toml: Iterable[str]) -> SpecChanges:
        """Return what a TOML text would change, from old to new, and would reset; nothing is changed (owners)."""
        return self._transport.read(SpecChanges, "POST", "/changes", json={"what": what, "of": of, "toml": list(toml)})

    def search(self, q: str) -> Found:
        """Find tasks, data sets and models by their names."""
        return self._transport.read(Found, "GET", "/search", params={"q": q})

    def tasks(self, *, archived: bool = False) -> list[TaskSummary]:
        """List the tasks."""
        return self._transport.read(Tasks, "GET", "/tasks", params={"archived": archived}).tasks

    def put_task(self, toml: str, *, revision: str = "", remove: Iterable[str] = ()) -> TaskInfo:
        """Add the task that a TOML file defines, or change the one of that name."""
        return self._transport.read(
            TaskInfo, "POST", "/tasks", params={"revision": revision, "remove": list(remove)}, json={"toml": toml}
        )

    def task(self, task: str) -> TaskInfo:
        """Return a task as it is defined now."""
        return self._transport.read(TaskInfo, "GET", task_path(task))

    def change_task(self, task: str, toml: str, *, revision: str = "", remove: Iterable[str] = ()) -> TaskInfo:
        """Change a task's definition; every version is kept."""
        return self._transport.read(
            TaskInfo, "PUT", task_path(task), params={"revision": revision, "remove": list(remove)}, json={"toml": toml}
        )

    def archive_task(self, task: str) -> None:
        """Take a task out of the lists; nothing is lost."""
        self._transport.ask("DELETE", task_path(task))

    def restore_task(self, task: str) -> None:
        """Put an archived task back into the lists."""
        self._transport.ask("POST", f"{task_path(task)}/restore")

    def task_history(self, task: str) -> list[TaskChange]:
        """List every version of a task's TOML file, the newest first."""
        return self._transport.read(TaskHistory, "GET", f"{task_path(task)}/history").versions

    def task_roles(
        self, task: str, *, search: str = "", role: str | None = None, limit: int = 100, offset: int = 0
    ) -> TaskRoles:
        """List who holds a role on a task (its owners)."""
        return self._transport.read(
            TaskRoles,
            "GET",
            f"{task_path(task)}/roles",
            params={"search": search, "role": role, "limit": limit, "offset": offset},
        )

    def datasheet(self, task: str) -> DatasheetText:
        """Return the answers to the open questions of a task's datasheets, as TOML, and those without one (owners)."""
        return self._transport.read(DatasheetText, "GET", f"{task_path(task)}/datasheet")

    def set_datasheet(self, task: str, toml: str, *, revision: str = "", remove: Iterable[str] = ()) -> DatasheetText:
        """Let other answers stand in the datasheets of a task, from its next release on (owners)."""
        return self._transport.read(
            DatasheetText,
            "PUT",
            f"{task_path(task)}/datasheet",
            params={"revision": revision, "remove": list(remove)},
            json={"toml": toml},
        )

    def timeline(self, task: str) -> Timeline:
        """Return the rounds of a task in their order: vMER, and what people and models reach on each."""
        return self._transport.read(Timeline, "GET", f"{task_path(task)}/timeline")

    def set_margin(self, task: str, margin: float) -> Margin:
        """Set the margin within which a model counts as not inferior to people (owners)."""
        return self._transport.read(Margin, "PUT", f"{task_path(task)}/margin", json={"margin": margin})
