"""The session that a reader has begun in a round: every button that leads to writing goes on with it."""

from __future__ import annotations

from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.collect.writing.session_under_way import session_under_way
from quintain.web.visit import Visit


def begun_session(visit: Visit, info: RoundInfo) -> str | None:
    """Return the key of the session that the reader can go on with; None where there is none, or of a stranger."""
    return session_under_way(visit.db, visit.actor, info) if visit.signed_in else None


def writing_address(task: str, number: int | str, begun: str | None) -> str:
    """Return the address at which somebody writes in a round: of the session that they have *begun*, or of its door."""
    return f"/write/{begun}" if begun else f"/tasks/{task}/rounds/{number}/write"
