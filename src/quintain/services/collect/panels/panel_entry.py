"""Doors for people from panels that lead elsewhere than to a round: to judging, to a trial, to grading.

A panel's people have one account each, whatever they do: who wrote comes back to judge or to grade under the same name.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import datetime

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.people import Actor
from quintain.core.texts import Text
from quintain.services.access import audit
from quintain.services.access.permissions import require_user
from quintain.services.collect.panels.admission import Door, PanelArrival, Visitor, admit
from quintain.services.collect.panels.entry import Completion, completion_of
from quintain.services.collect.panels.panel_ids import PanelIds
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.collect import panels as queries
from quintain.store.tables import PanelPlace, PanelStay


def entry_key(db: Session, panel_place: str) -> str:
    """Return the key of the address that leads to a place; it is made when it is first asked for."""
    known = db.get(PanelPlace, panel_place)
    if known is not None:
        return known.key
    with transaction(db):
        lock(db, f"door of {panel_place}")
        row = db.get(PanelPlace, panel_place)
        if row is None:
            row = PanelPlace(place=panel_place, key=secrets.token_urlsafe(18))
            db.add(row)
            db.flush()
        return row.key


def arrive(
    db: Session, door: Door, parameters: Mapping[str, str], check: Callable[[], None], visitor: Visitor
) -> PanelArrival:
    """Let somebody in who came by a door with the panel's *parameters*, unless *check* refuses."""

    def remember(user_id: int, ids: PanelIds) -> None:
        if queries.stay(db, door.place, user_id, ids.study, ids.session) is None:
            about = {"provider": door.entry.provider, "study": ids.study, "submit_to": ids.submit_to}
            db.add(PanelStay(place=door.place, user_id=user_id, outside_session=ids.session, **about))

    return admit(db, door, parameters, visitor, check, remember)


def go_back(
    db: Session, actor: Actor, door: Door, done: Callable[[datetime], bool], missing: Text
) -> Completion | None:
    """Return what whoever came by a door, and has *done* enough since, needs to go back; None where nobody came.

    Who has not is told what is *missing*.
    """
    user_id = require_user(actor)
    with transaction(db):
        newest = queries.newest_stay(db, door.place, user_id)
        if newest is None:
            return None
        stay, outside_id = newest
        if not done(stay.arrived_at):
            raise Conflict(missing, remedy="Go on, and come back.")
        if stay.completed_at is None:
            stay.completed_at = now()
            audit.record(db, actor, "panel.complete", door.ref, provider=stay.provider)
        return completion_of(door.entry, stay, outside_id)


def may_go_back(db: Session, actor: Actor, panel_place: str, done: Callable[[datetime], bool]) -> bool:
    """Whether a code waits for the actor; nothing is written."""
    newest = queries.newest_stay(db, panel_place, actor.user_id) if actor.user_id is not None else None
    return newest is not None and done(newest[0].arrived_at)
