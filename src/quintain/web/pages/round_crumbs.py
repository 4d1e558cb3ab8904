"""The way to a page of a round."""

from __future__ import annotations

from quintain.core.task import Task
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Visit


def round_crumbs(visit: Visit, task: Task, number: int, last: str = "") -> list[tuple[str, str | None]]:
    """Return the way to a page of a round."""
    _ = visit.tongue.gettext
    base = f"/tasks/{task.name}/rounds"
    name = _("Round %(n)s", n=number)
    crumbs: list[tuple[str, str | None]] = [(title_of(visit, task), f"/tasks/{task.name}"), (_("Rounds"), base)]
    return [*crumbs, (name, f"{base}/{number}"), (last, None)] if last else [*crumbs, (name, None)]
