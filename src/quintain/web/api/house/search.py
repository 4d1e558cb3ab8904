"""Search in all that somebody may see, for programs."""

from __future__ import annotations

from quintain.core.records.tasks import Found
from quintain.services.house import browse
from quintain.web.api.call import Calling
from quintain.web.api.params import Query


def search(call: Calling, q: Query) -> Found:
    """Find tasks, data sets and models by their names."""
    return browse.search(call.db, call.actor, q)
