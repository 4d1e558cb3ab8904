"""Words for where a contest stands and what a team does."""

from __future__ import annotations

from quintain.web.visit import Visit


def phase_names(visit: Visit) -> dict[str, str]:
    """Return in the reader's language where a contest may stand."""
    _ = visit.tongue.gettext
    return {
        "coming": _("coming"),
        "build": _("build"),
        "break": _("break"),
        "score": _("score"),
        "review": _("review"),
        "over": _("over"),
    }


def role_names(visit: Visit) -> dict[str, str]:
    """Return in the reader's language what a team may do."""
    _ = visit.tongue.gettext
    return {"builder": _("builders"), "breaker": _("breakers"), "both": _("builders and breakers")}
