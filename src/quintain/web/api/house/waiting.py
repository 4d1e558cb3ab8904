"""What waits for whoever asks."""

from __future__ import annotations

from quintain.core.records.house import Errands
from quintain.services.house.waiting import waiting_for
from quintain.web.api.call import Calling


def list_waiting(call: Calling) -> Errands:
    """List what waits for oneself, with the page on which each is done."""
    return Errands(waiting_for(call.db, call.actor))
