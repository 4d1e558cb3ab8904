"""The wheel, for programs: whether a round is solved, the next round, the timeline of a task."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from quintain.core.records.collect import Round
from quintain.core.records.wheel import Margin, RoundParity, Timeline
from quintain.services.wheel import next_round, standings
from quintain.services.wheel import timeline as timelines
from quintain.web.api.call import Calling
from quintain.web.api.params import TaskName, ValidationRef
from quintain.web.api.shapes import Shape, Text


class NextRequest(Shape):
    """The model that the next round is aimed at; empty for the best of those that solved the round."""

    model: Text = ""


class MarginRequest(Shape):
    """How much lower than that of people a model's macro F1 may be."""

    margin: Annotated[float, Field(ge=0, le=standings.MOST_MARGIN)]


def get_parity(call: Calling, ref: ValidationRef) -> RoundParity:
    """Whether models do as well as people on a released round, with the evidence (owners)."""
    return standings.solved(call.db, call.actor, ref)


def start_next(call: Calling, ref: ValidationRef, body: NextRequest | None = None) -> Round:
    """Add a draft of the next round: the same options, aimed at a model that solved this one (owners)."""
    model = body.model.strip() if body else ""
    return next_round.start_next(call.db, call.actor, ref, model or None).record()


def get_timeline(call: Calling, task: TaskName) -> Timeline:
    """Return the rounds of a task in their order: vMER, and what people and models reach on each."""
    return timelines.timeline(call.db, call.actor, task)


def set_margin(call: Calling, task: TaskName, body: MarginRequest) -> Margin:
    """Set the margin within which a model counts as not inferior to people (owners)."""
    return standings.set_margin(call.db, call.actor, task, body.margin)
