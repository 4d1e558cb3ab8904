"""A task's definition, its history and its roles, for its owners."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict
from quintain.core.people import RoleName
from quintain.core.records.tasks import TaskChange
from quintain.core.spec_changes import ChangesToConfirm
from quintain.core.task import Task
from quintain.services.access import accounts
from quintain.services.access.permissions import require_role
from quintain.services.house.overview import running_in
from quintain.services.tasks import definitions as tasks
from quintain.tasks.contract import KINDS
from quintain.tasks.starter import starter
from quintain.tasks.writing import dump_task
from quintain.web.confirming import page_edit, show_changes
from quintain.web.error_text import translated
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.tasks.task_form import TaskForm, beside, first_form, form_of, read_form, with_form
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.paging import Paging
from quintain.web.visit import Posting, Visit, Visiting

ROLES_SHOWN = 50


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """One version of a definition, with what changed line by line."""

    number: int
    by: str | None
    at: datetime
    lines: tuple[tuple[str, str], ...]


def new_page(visit: Visiting, kind: str = "text-classification", file: str = "") -> Response:
    """Offer a form for a task of a *kind*, or a definition to start from."""
    if file:
        return _editor(visit, None, starter(kind), kind=kind)
    return _new(visit, first_form(kind))


def create(post: Posting) -> Response:
    """Add the task."""
    if not post.flag("as_form"):
        return _save(post, None)
    visit, typed = post.visit, read_form(post)
    try:
        saved = tasks.put_task(visit.db, visit.actor, typed.toml(), new=True)
    except (BadInput, Conflict) as error:
        return _new(visit, typed, trouble_of(error))
    return visit.redirect(f"/tasks/{saved.name}", visit.tongue.gettext("Saved."))


def _new(visit: Visit, typed: TaskForm, trouble: Trouble | None = None) -> Response:
    """Show the form of a new task, with what is wrong beside each field."""
    require_role(visit.actor, RoleName.OWNER)
    _ = visit.tongue.gettext
    return visit.render(
        "house/task_new.html",
        status=trouble.status if trouble else 200,
        typed=typed,
        kinds=[(name, _(member.title)) for name, member in KINDS.items()],
        faults=_faults(visit, trouble),
        crumbs=[(_("New task"), None)],
        error=trouble,
    )


def settings_page(visit: Visiting, task: str, q: str = "", offset: int = 0) -> Response:
    """Show the definition and its history, and who holds a role on the task."""
    return show_settings(visit, tasks.get_task(visit.db, task), search=q[:200], offset=max(offset, 0))


def show_settings(
    visit: Visit, task: Task, trouble: Trouble | None = None, *, search: str = "", offset: int = 0
) -> Response:
    """Show the settings of a task as they are stored, with what was refused of a change of roles."""
    return _editor(visit, task, None, trouble, search=search, offset=offset)


def save(post: Posting, task: str) -> Response:
    """Change the task."""
    return _save(post, tasks.get_task(post.visit.db, task))


def archive(post: Posting, task: str) -> Response:
    """Take the task out of the lists."""
    tasks.archive_task(post.visit.db, post.visit.actor, task)
    toast = post.visit.tongue.gettext("The task is archived. It can be put back here.")
    return post.visit.redirect(f"/tasks/{task}/settings#archive", toast)


def restore(post: Posting, task: str) -> Response:
    """Put the task back into the lists."""
    tasks.archive_task(post.visit.db, post.visit.actor, task, archived=False)
    return post.visit.redirect(f"/tasks/{task}/settings", post.visit.tongue.gettext("The task is back in the lists."))


def _save(post: Posting, task: Task | None) -> Response:
    visit = post.visit
    typed = read_form(post) if task and post.flag("as_form") else None
    toml = dump_task(with_form(task, typed)) if task and typed else post.text("toml").replace("\r\n", "\n")
    try:
        name = task.name if task else None
        saved = tasks.put_task(visit.db, visit.actor, toml, name=name, new=task is None, edit=page_edit(post))
    except ChangesToConfirm as error:
        return show_changes(post, error.changes, f"/tasks/{name}/settings")
    except (BadInput, Conflict) as error:
        return _editor(visit, task, None if typed else toml, trouble_of(error), typed=typed)
    return visit.redirect(f"/tasks/{saved.name}", visit.tongue.gettext("Saved."))


def _faults(visit: Visit, trouble: Trouble | None) -> dict[str, str]:
    """Return what is wrong with each field of the form."""
    faults = (
        {fault.field or "": translated(visit.language, fault.reason) for fault in trouble.faults} if trouble else {}
    )
    return {name: beside(faults, name) for name in ("name", "title", "labels", "instructions")}


def _editor(
    visit: Visit,
    task: Task | None,
    toml: str | None,
    trouble: Trouble | None = None,
    *,
    kind: str = "",
    search: str = "",
    offset: int = 0,
    typed: TaskForm | None = None,
) -> Response:
    require_role(visit.actor, RoleName.OWNER, task=task.name if task else None)
    _ = visit.tongue.gettext
    history = tasks.task_history(visit.db, task.name) if task else []
    crumbs = (
        [(title_of(visit, task), f"/tasks/{task.name}"), (_("Settings"), None)] if task else [(_("New task"), None)]
    )
    roles = _roles(visit, task, search, offset) if task else {}
    return visit.render(
        "house/task_settings.html",
        **roles,
        status=trouble.status if trouble else 200,
        title=_("Settings") if task else _("New task"),
        action=f"/tasks/{task.name}/settings" if task else "/tasks/new",
        task=task,
        section="settings",
        kind=kind,
        typed=typed or (form_of(task) if task else None),
        faults=_faults(visit, trouble if typed else None),
        commented=task is not None and re.search(r"^\s*#", history[0].toml, re.MULTILINE) is not None,
        kinds=[(name, _(member.title)) for name, member in KINDS.items()] if task is None else [],
        toml=toml if toml is not None else history[0].toml,
        history=list(_changes(history)),
        archived=tasks.is_archived(visit.db, task.name) if task else False,
        running=running_in(visit.db, visit.actor, task.name) if task else None,
        made_from=visit.made_from("task", tasks.stored_table(visit.db, task.name)) if task else None,
        crumbs=crumbs,
        error=trouble,
    )


def _roles(visit: Visit, task: Task, search: str, offset: int) -> dict[str, Any]:
    """Return what the page shows of who holds a role on the task."""
    listed = accounts.roles_on_task(visit.db, visit.actor, task.name, search=search, limit=ROLES_SHOWN, offset=offset)
    query = {"q": search}
    path = f"/tasks/{task.name}/settings"
    return {
        "task_roles": listed.roles,
        "role_search": search,
        "role_paging": Paging(path, query, offset, len(listed.roles), listed.total, ROLES_SHOWN),
        "roles_given": [role.value for role in RoleName if role in accounts.GIVEN_BY_OWNERS],
        "me": visit.actor.name,
    }


def _changes(history: Sequence[TaskChange]) -> Iterator[DefinitionChange]:
    """Go through the history, newest first, with the lines that each version added and removed."""
    for index, change in enumerate(history):
        before = history[index + 1].toml if index + 1 < len(history) else ""
        yield DefinitionChange(change.number, change.by, change.at, tuple(_line_diff(before, change.toml)))


def _line_diff(before: str, after: str) -> Iterator[tuple[str, str]]:
    kinds = {"+": "added", "-": "removed", " ": "same"}
    for line in list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:]:
        if not line.startswith("@@"):
            yield kinds[line[0]], line[1:]
