"""Words of pay, in the reader's language."""

from __future__ import annotations

from quintain.web.visit import Visit


def status_names(visit: Visit) -> dict[str, str]:
    """Say where an earning may stand."""
    _ = visit.tongue.gettext
    return {
        "pending": _("pending"),
        "approved": _("approved"),
        "declined": _("set aside"),
        "paid": _("paid out"),
    }
