"""What people earned in a round, for its owners: to approve it, or to set it aside."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Fault
from quintain.core.records.pay import EarningOrder
from quintain.services.access.permissions import require_owner
from quintain.services.collect.rounds import round_pay
from quintain.services.pay import earnings
from quintain.services.tasks import definitions as tasks
from quintain.web.errors import Trouble, trouble_of
from quintain.web.listing import SIZE, Asking, ListQuery, page_of
from quintain.web.pages.pay.words import STATUSES, status_names
from quintain.web.pages.round_crumbs import round_crumbs
from quintain.web.pages.stations import station_line
from quintain.web.visit import Posting, Visit, Visiting

ORDERS: dict[tuple[str, bool], EarningOrder] = {
    ("when", True): "newest",
    ("when", False): "oldest",
    ("amount", True): "largest",
    ("amount", False): "smallest",
    ("worker", True): "worker_down",
    ("worker", False): "worker",
}


def show(visit: Visiting, task: str, number: int, asked: Asking) -> Response:
    """List what people earned in a round, a page at a time."""
    return _show(visit, task, number, asked)


def decide(post: Posting, task: str, number: int) -> Response:
    """Approve earnings, or set them aside with a reason that the worker reads."""
    visit = post.visit
    ref, decision = f"{task}/{number}", post.text("decision")
    numbers = [int(text) for text in post.texts("earning") if text.isdecimal() and len(text) < 10]
    try:
        if decision == "approve-all":
            round_pay.approve_all(visit.db, visit.actor, ref)
        elif not numbers:
            raise BadInput(faults=[Fault("choose some first")])
        else:
            approved = decision == "approve"
            earnings.decide(visit.db, visit.actor, task, numbers, approved=approved, reason=post.text("reason"))
    except (BadInput, Conflict) as error:
        return _show(visit, task, number, ListQuery(), trouble_of(error))
    return visit.redirect(f"/tasks/{task}/rounds/{number}/pay", visit.tongue.gettext("Saved."))


def _show(visit: Visit, task: str, number: int, asked: ListQuery, trouble: Trouble | None = None) -> Response:
    definition = tasks.get_task(visit.db, task)
    require_owner(visit.actor, task)
    _ = visit.tongue.gettext
    known = asked.sort in {"when", "amount", "worker"}
    sort, down = (asked.sort, asked.order == "down") if known else ("when", True)
    pay = round_pay.round_pay(
        visit.db,
        visit.actor,
        f"{task}/{number}",
        status=STATUSES.get(asked.show),
        order=ORDERS[sort, down],
        limit=SIZE,
        offset=max(asked.offset, 0),
    )
    path = f"/tasks/{task}/rounds/{number}/pay"
    names = status_names(visit)
    return visit.render(
        "collect/round_pay.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="rounds",
        wheel=station_line(visit, definition, number),
        listing=page_of(pay.earnings, pay.total, asked, path=path, sort=sort, down=down),
        home=path,
        asked=asked,
        totals=pay.totals,
        pay=pay,
        statuses=names,
        shows=[("", _("everything")), *names.items()],
        crumbs=round_crumbs(visit, definition, number, _("Pay")),
        error=trouble,
    )
