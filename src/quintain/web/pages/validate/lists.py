"""Lists of a validation that several pages show: judges, and the words for what stands out."""

from __future__ import annotations

from quintain.services.validate.quality.judges import JudgeList, JudgeQuery
from quintain.web.listing import SIZE, Listing, ListQuery, page_of
from quintain.web.visit import Visit

JUDGE_ORDERS = ("look", "worker", "judgements", "accuracy", "agreement", "gold", "seconds")


def judge_listing(judges: JudgeList, asked: ListQuery, *, path: str, size: int = SIZE) -> Listing:
    """Return a page of the judges: who is worth a look comes first, unless the address says otherwise."""
    sort, down = asked.sort if asked.sort in JUDGE_ORDERS else "look", asked.order == "down"
    rows, total = judges.page(JudgeQuery(asked.show, asked.q.strip(), sort, down, max(asked.offset, 0), size))
    return page_of(rows, total, asked, path=path, sort=sort, down=down, size=size)


def pattern_names(visit: Visit) -> dict[str, str]:
    """Name what stands out about judges."""
    _ = visit.tongue.gettext
    return {
        "too_fast": _("too fast"),
        "same_key": _("always the same key"),
        "keys_in_turn": _("keys in turn"),
        "copies": _("same errors as another"),
    }
