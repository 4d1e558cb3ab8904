"""Lists of a validation that several pages show: judges, and the words for what stands out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from quintain.core.records.validate import Judge
from quintain.web.listing import SIZE, Asked, Listing, make_listing
from quintain.web.visit import Visit

JUDGE_COLUMNS: Mapping[str, Callable[[Judge], Any]] = {
    "look": lambda row: (not row.qualified, -len(row.patterns), row.accuracy.value),
    "worker": lambda row: row.worker,
    "judgements": lambda row: row.judgements,
    "accuracy": lambda row: row.accuracy.value,
    "agreement": lambda row: row.agreement.value,
    "gold": lambda row: row.gold.value,
    "seconds": lambda row: row.median_seconds,
}


def judge_listing(rows: Sequence[Judge], asked: Asked, *, path: str, size: int = SIZE) -> Listing:
    """Arrange the judges: who is worth a look comes first, unless the address says otherwise."""
    return make_listing(rows, JUDGE_COLUMNS, asked, path=path, default="look", size=size)


def pattern_names(visit: Visit) -> dict[str, str]:
    """Name what stands out about judges."""
    _ = visit.tongue.gettext
    return {
        "too_fast": _("too fast"),
        "same_key": _("always the same key"),
        "keys_in_turn": _("keys in turn"),
        "copies": _("same errors as another"),
    }
