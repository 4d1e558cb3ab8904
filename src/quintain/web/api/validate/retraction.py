"""Taking an attempt back, and decisions on flagged ones, for programs."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from quintain.services.validate.judging import retraction
from quintain.web.api.call import Calling
from quintain.web.api.collect.rounds import AttemptId, RetractRequest
from quintain.web.api.shapes import Shape, Text

FlagId = Annotated[int, Path(description="Id of the flag.", ge=1, le=2**31 - 1)]


class FlagDecisionRequest(Shape):
    """Whether a flagged attempt is withheld from everything that leaves."""

    withhold: bool
    note: Text = ""


def decide_flag(call: Calling, flag: FlagId, decision: FlagDecisionRequest) -> None:
    """Keep a flagged attempt, or withhold it from everything that leaves (owners)."""
    retraction.decide_flag(call.db, call.actor, flag, withhold=decision.withhold, note=decision.note)


def retract(call: Calling, attempt: AttemptId, why: RetractRequest) -> None:
    """Take one of one's own attempts back; it stays paid."""
    retraction.retract(call.db, call.actor, attempt, why.reason)
