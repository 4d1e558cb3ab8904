"""What a worker earned, and where it stands."""

from __future__ import annotations

import json

from starlette.responses import Response

from quintain.core.records.base import plain
from quintain.core.records.work import Earnings
from quintain.services.access.permissions import require_signed_in
from quintain.services.work import pay
from quintain.web.visit import Visiting


def show(visit: Visiting) -> Response:
    """List what the person earned, newest first, with its status."""
    require_signed_in(visit.actor)
    _ = visit.tongue.gettext
    return visit.render(
        "work/earnings.html",
        earnings=pay.my_earnings(visit.db, visit.actor),
        totals=pay.my_totals(visit.db, visit.actor),
        statuses={"pending": _("pending"), "approved": _("approved"), "declined": _("set aside")},
        crumbs=[(_("Your work"), "/work"), (_("Earnings"), None)],
    )


def export(visit: Visiting) -> Response:
    """Send the earnings as JSON."""
    require_signed_in(visit.actor)
    found = Earnings(pay.my_earnings(visit.db, visit.actor))
    headers = {"content-disposition": 'attachment; filename="earnings.json"'}
    text = json.dumps(found, ensure_ascii=False, indent=2, default=plain)
    return Response(text, media_type="application/json", headers=headers)
