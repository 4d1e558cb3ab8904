"""Words of pay, in the reader's language."""

from __future__ import annotations

from quintain.core.records.pay import PayStatus
from quintain.web.visit import Visit


def status_names(visit: Visit) -> dict[str, str]:
    """Return in the reader's language where an earning may stand."""
    _ = visit.tongue.gettext
    return {
        "pending": _("pending"),
        "approved": _("approved"),
        "declined": _("set aside"),
        "paid": _("paid out"),
    }


def payout_states(visit: Visit) -> dict[str, str]:
    """Return in the reader's language where a payout may stand."""
    _ = visit.tongue.gettext
    return {
        "planned": _("planned"),
        "prepared": _("ready to pay"),
        "sending": _("being sent"),
        "sent": _("paid out"),
        "refused": _("refused"),
        "unknown": _("no answer came"),
        "cancelled": _("cancelled"),
    }


def overpaid_answers(visit: Visit) -> dict[str, str]:
    """Return what an owner may have decided about what was paid twice."""
    _ = visit.tongue.gettext
    return {"": _("not decided"), "hold back": _("held back from later pay"), "let go": _("let go")}


def provider_names(visit: Visit) -> dict[str, str]:
    """Name the ways to pay."""
    _ = visit.tongue.gettext
    return {
        "hand": _("by hand"),
        "prolific": "Prolific",
        "panel": _("another panel"),
        "mturk": "Mechanical Turk",
    }


def study_places(visit: Visit) -> list[tuple[str, str]]:
    """Name the places that a study can send people to."""
    _ = visit.tongue.gettext
    return [
        ("round", _("A round")),
        ("judging", _("A judging")),
        ("trial", _("A trial, to take part")),
        ("grading", _("A trial, to grade")),
    ]


def cap_names(visit: Visit) -> dict[str, str]:
    """Name the caps on all work of a task, and of a trial."""
    _ = visit.tongue.gettext
    return {"day_cap": _("Today"), "project_cap": _("In all"), "trial_cap": _("Trial")}


STATUSES: dict[str, PayStatus] = {one: one for one in ("pending", "approved", "declined", "paid")}
