"""What a worker earned, and where it stands."""

from __future__ import annotations

import json

from starlette.responses import Response

from quintain.core.records.base import plain
from quintain.core.records.pay import Earnings
from quintain.services.access.permissions import require_signed_in
from quintain.services.pay import earnings
from quintain.web.listing import SIZE, Asking
from quintain.web.pages.pay.round_pay import STATUSES
from quintain.web.pages.pay.words import status_names
from quintain.web.paging import Paging
from quintain.web.visit import Visiting


def show(visit: Visiting, asked: Asking) -> Response:
    """List what the person earned, newest first, with its status."""
    require_signed_in(visit.actor)
    _ = visit.tongue.gettext
    offset = max(asked.offset, 0)
    page = earnings.my_page(visit.db, visit.actor, status=STATUSES.get(asked.show), limit=SIZE, offset=offset)
    names = status_names(visit)
    return visit.render(
        "pay/earnings.html",
        earnings=page.earnings,
        paging=Paging("/work/earnings", {"show": asked.show}, offset, len(page.earnings), page.total, SIZE),
        asked=asked,
        totals=earnings.my_totals(visit.db, visit.actor),
        statuses=names,
        shows=[("", _("everything")), *names.items()],
        crumbs=[(_("Your work"), "/work"), (_("Earnings"), None)],
    )


def export(visit: Visiting) -> Response:
    """Send the earnings as JSON."""
    require_signed_in(visit.actor)
    mine = earnings.my_earnings(visit.db, visit.actor)
    headers = {"content-disposition": 'attachment; filename="earnings.json"'}
    text = json.dumps(Earnings(mine, len(mine)), ensure_ascii=False, indent=2, default=plain)
    return Response(text, media_type="application/json", headers=headers)
