"""People from panels, for owners: who is confirmed, what looks odd, who wants to come in, and what is held."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, NotFound, QuintainError
from quintain.core.records.panels import DoorCode
from quintain.services.collect.panels import panel_people
from quintain.services.pay.held_pay import held_pay
from quintain.services.tasks import definitions as tasks
from quintain.web.errors import trouble_of
from quintain.web.listing import SIZE, Asking, ListQuery
from quintain.web.pages.pay.words import provider_names
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.paging import Paging
from quintain.web.visit import Posting, Visit, Visiting


def show(visit: Visiting, task: str, asked: Asking, held: bool = False) -> Response:
    """Show the people whom panels sent to a task; with *held* those whose pay is held."""
    return _show(visit, task, asked.offset, held=held)


def act(post: Posting, task: str) -> Response:
    """Confirm people, decide on a request to be let in, or make a code."""
    visit, action = post.visit, post.text("act")
    db, actor = visit.db, visit.actor
    try:
        if action == "code":
            code = panel_people.make_door_code(db, actor, task, post.text("name"))
            return _show(visit, task, code=code)
        if action in {"let-in", "refuse"}:
            panel_people.decide_request(db, actor, task, post.number("request"), let_in=action == "let-in")
        else:
            panel_people.confirm_guests(db, actor, task, post.texts("name"), everybody=action == "everybody")
    except (BadInput, Conflict, NotFound) as error:
        return _show(visit, task, error=error)
    return visit.redirect(f"/tasks/{task}/panel", visit.tongue.gettext("Saved."))


def _show(
    visit: Visit,
    task: str,
    offset: int = ListQuery().offset,
    *,
    held: bool = False,
    error: QuintainError | None = None,
    code: DoorCode | None = None,
) -> Response:
    definition = tasks.get_task(visit.db, task)
    _ = visit.tongue.gettext
    offset = max(offset, 0)
    page = panel_people.list_guests(visit.db, visit.actor, task, held=held, limit=SIZE, offset=offset)
    trouble = trouble_of(error) if error else None
    home = f"/tasks/{task}/panel"
    return visit.render(
        "collect/panel_people.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="pay",
        home=home,
        page=page,
        held=held,
        held_pay=held_pay(visit.db, visit.actor, task),
        code=code,
        key=panel_people.panel_key(visit.db, visit.actor, task).key,
        providers=provider_names(visit),
        words={
            "panel": _("by the panel"),
            "link": _("by a signed link"),
            "owner": _("by an owner"),
            "before": _("came before this was asked"),
        },
        paging=Paging(home, {"held": "1"} if held else {}, offset, len(page.people), page.total, SIZE),
        error=trouble,
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (_("Pay"), f"/tasks/{task}/pay"),
            (_("People from panels"), None),
        ],
    )
