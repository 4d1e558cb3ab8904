"""Doors for people from panels that lead elsewhere than to a round: to judging, to a trial, to grading.

A panel's people have one account each, whatever they do: who wrote comes back to judge or to grade under the same name.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.people import Actor
from quintain.core.rounds import Entry
from quintain.core.texts import Text
from quintain.services.access import audit
from quintain.services.access.actors import actor_of
from quintain.services.access.permissions import require_user
from quintain.services.access.sign_in import start_session
from quintain.services.collect.entry import PREVIEW, Completion, PanelArrival, let_in, panel_ids, way_back
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.collect import panels as queries
from quintain.store.tables import PanelPlace, PanelStay


@dataclass(frozen=True, slots=True)
class Door:
    """A *place* that a panel sends people to: the *page* there, how they come and go, and of which task it is."""

    place: str
    entry: Entry
    page: str
    task: str
    task_id: int
    ref: str


def key_of(db: Session, place: str) -> str:
    """Give the key of the address that leads to a place; it is made when it is first asked for."""
    made = db.get(PanelPlace, place)
    if made is not None:
        return made.key
    with transaction(db):
        lock(db, f"door of {place}")
        row = db.get(PanelPlace, place)
        if row is None:
            row = PanelPlace(place=place, key=secrets.token_urlsafe(18))
            db.add(row)
            db.flush()
        return row.key


def arrive(
    db: Session,
    door: Door,
    parameters: Mapping[str, str],
    check: Callable[[], None],
    *,
    user_agent: str = "",
    language: str = "en",
) -> PanelArrival:
    """Let somebody in who came by a door with the panel's *parameters*, unless *check* refuses."""
    entry = door.entry
    if entry.provider == "mturk" and parameters.get("assignmentId") == PREVIEW:
        return PanelArrival(door.page, preview=True)
    ids = panel_ids(entry, parameters)
    check()
    with transaction(db):
        user = let_in(db, entry, ids, door.task, door.task_id, language)
        if queries.stay(db, door.place, user.id, ids.study, ids.session) is None:
            about = {"provider": entry.provider, "study": ids.study, "submit_to": ids.submit_to}
            db.add(PanelStay(place=door.place, user_id=user.id, outside_session=ids.session, **about))
        db.flush()
        actor = actor_of(db, user)
        audit.record(db, actor, "panel.enter", door.ref, provider=entry.provider)
    return PanelArrival(door.page, actor, start_session(db, actor, user_agent=user_agent))


def go_back(
    db: Session, actor: Actor, door: Door, done: Callable[[datetime], bool], missing: Text
) -> Completion | None:
    """Give whoever came by a door, and has *done* enough since, what they need to go back; None where nobody came.

    Who has not is told what is *missing*.
    """
    user_id = require_user(actor)
    with transaction(db):
        found = queries.newest_stay(db, door.place, user_id)
        if found is None:
            return None
        stay, outside_id = found
        if not done(stay.arrived_at):
            raise Conflict(missing, remedy="Go on, and come back.")
        if stay.completed_at is None:
            stay.completed_at = now()
            audit.record(db, actor, "panel.complete", door.ref, provider=stay.provider)
        return way_back(door.entry, stay, outside_id)


def may_go_back(db: Session, actor: Actor, place: str, done: Callable[[datetime], bool]) -> bool:
    """Say whether a code waits for the actor; nothing is written."""
    found = queries.newest_stay(db, place, actor.user_id) if actor.user_id is not None else None
    return found is not None and done(found[0].arrived_at)
