"""Before writing: which rounds are open, what a round asks and pays, and what stands in the way."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.rounds import Money
from quintain.services.access.permissions import require_signed_in
from quintain.services.collect.rounds import manage
from quintain.services.collect.writing import readiness, sessions
from quintain.services.pay import earnings
from quintain.services.tasks import definitions as tasks
from quintain.web.errors import Trouble
from quintain.web.pages.begun import begun_session
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Visit, Visiting


def index(visit: Visiting, task: str) -> Response:
    """List the rounds of a task that take texts; a single one is gone to at once."""
    definition = tasks.get_task(visit.db, task)
    _ = visit.tongue.gettext
    is_open = manage.open_rounds(visit.db, visit.actor, task)
    if len(is_open) == 1:
        return visit.redirect(f"/tasks/{task}/rounds/{is_open[0].number}/write")
    return visit.render(
        "collect/write_rounds.html",
        task=definition,
        section="write",
        rounds=[(info, earnings.wage(visit.db, info.id, info.spec), begun_session(visit, info)) for info in is_open],
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (_("Write"), None)],
    )


def landing(visit: Visiting, task: str, number: int) -> Response:
    """Show what a round asks and pays, after its warning and its consent text."""
    require_signed_in(visit.actor)
    return landing_page(visit, f"{task}/{number}")


def landing_page(visit: Visit, ref: str, trouble: Trouble | None = None) -> Response:
    """Answer with the first page of a round."""
    _ = visit.tongue.gettext
    info = manage.get_round(visit.db, visit.actor, ref)
    task = tasks.get_task(visit.db, info.task)
    ready = readiness.readiness(visit.db, visit.actor, ref)
    return visit.render(
        "collect/write_start.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="write",
        round=info,
        spec=info.spec,
        ready=ready,
        refused=sessions.refused_role(visit.actor, info.task),
        wage=earnings.wage(visit.db, info.id, info.spec),
        begun=begun_session(visit, info),
        bonus=Money(info.spec.reward.bonus, info.spec.reward.currency),
        crumbs=[
            (title_of(visit, task), f"/tasks/{task.name}"),
            (_("Write"), f"/tasks/{task.name}/write"),
            (info.spec.title, None),
        ],
        error=trouble,
    )
