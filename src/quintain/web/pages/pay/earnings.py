"""What a worker earned, and where it stands."""

from __future__ import annotations

from functools import partial

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, NotFound
from quintain.services.access.permissions import require_signed_in
from quintain.services.pay import earnings, questions
from quintain.services.pay.held_pay import my_held_pay
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import download_json
from quintain.web.listing import SIZE, Asking, ListQuery
from quintain.web.pages.pay.words import STATUSES, status_names
from quintain.web.paging import Paging
from quintain.web.visit import Posting, Visit, Visiting


def show(visit: Visiting, asked: Asking) -> Response:
    """List what the person earned, newest first, with its status."""
    return _show(visit, asked)


def ask(post: Posting) -> Response:
    """Ask the owners about an earning."""
    visit = post.visit
    try:
        questions.ask(visit.db, visit.actor, post.number("earning"), post.text("text"))
    except (BadInput, Conflict, NotFound) as error:
        return _show(visit, ListQuery(), trouble_of(error))
    return visit.redirect("/work/earnings#questions", visit.tongue.gettext("Asked. The answer comes as a message."))


def _show(visit: Visit, asked: ListQuery, trouble: Trouble | None = None) -> Response:
    require_signed_in(visit.actor)
    _ = visit.tongue.gettext
    offset = max(asked.offset, 0)
    page = earnings.my_page(visit.db, visit.actor, status=STATUSES.get(asked.show), limit=SIZE, offset=offset)
    names = status_names(visit)
    return visit.render(
        "pay/earnings.html",
        status=trouble.status if trouble else 200,
        earnings=page.earnings,
        paging=Paging("/work/earnings", {"show": asked.show}, offset, len(page.earnings), page.total, SIZE),
        asked=asked,
        totals=earnings.my_totals(visit.db, visit.actor),
        held=my_held_pay(visit.db, visit.actor),
        statuses=names,
        shows=[("", _("everything")), *names.items()],
        questions=questions.my_questions(visit.db, visit.actor).questions,
        crumbs=[(_("Your work"), "/work"), (_("Earnings"), None)],
        error=trouble,
    )


def export(visit: Visiting) -> Response:
    """Send the earnings as JSON."""
    require_signed_in(visit.actor)
    return download_json("earnings", partial(earnings.export_my_earnings, visit.db, visit.actor))
