"""Deciding on texts that were flagged."""

from __future__ import annotations

from starlette.responses import Response

from quintain.services.validate.judging import retraction
from quintain.web.visit import Posting


def decide_flag(post: Posting, task: str, number: int) -> Response:
    """Keep a flagged attempt, or withhold it."""
    visit = post.visit
    withhold = post.text("decision") == "withhold"
    retraction.decide_flag(visit.db, visit.actor, post.number("flag"), withhold=withhold, note=post.text("note"))
    return visit.redirect(f"/tasks/{task}/rounds/{number}/flags", visit.tongue.gettext("Decided. You can change it."))
