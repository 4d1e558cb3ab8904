"""Who may write in a round, for programs."""

from __future__ import annotations

from quintain.core.records.work import (
    Crowd,
    Eligible,
)
from quintain.services.collect.rounds import eligible
from quintain.web.api.call import Calling
from quintain.web.api.params import Filter, Limit, Offset, RoundRef
from quintain.web.api.work.quizzes import Somebody


def get_eligibility(call: Calling, ref: RoundRef, name: Somebody = None) -> Eligible:
    """Return rule by rule whether one, or for an owner the person called *name*, may write in a round."""
    return eligible.may_write(call.db, call.actor, ref, name)


def list_eligible(call: Calling, ref: RoundRef, search: Filter = "", limit: Limit = 100, offset: Offset = 0) -> Crowd:
    """Return of everybody with the role of a worker whether they may write in a round (owners)."""
    return eligible.crowd(call.db, call.actor, ref, search=search, limit=limit, offset=offset)
