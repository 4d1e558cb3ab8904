"""People from panels as owners see them: who is confirmed, what looks odd, whose pay is held, who wants to come in."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, NotFound
from quintain.core.people import Actor
from quintain.core.records.panels import DoorCode, DoorRequest, PanelGuest, PanelGuests, PanelKey
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.collect.panels import entry_codes
from quintain.services.collect.panels.admission import signing_key
from quintain.services.tasks.definitions import find_row
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.collect import guests as queries
from quintain.store.tables import PanelRequest, PanelWord

MOST_REQUESTS = 200
AT_ONCE = 500


def list_guests(
    db: Session, actor: Actor, task: str, *, held: bool = False, limit: int = 100, offset: int = 0
) -> PanelGuests:
    """List people whom panels sent to a task, the newest first; with *held* those whose pay is held (owners)."""
    task_id = find_row(db, task).id
    require_owner(actor, task)
    rows, total = queries.guests(db, task_id, held=held, limit=limit, offset=offset)
    waiting = queries.open_requests(db, task_id, now(), MOST_REQUESTS)
    requests = [DoorRequest(row.id, name, row.created_at) for row, name in waiting]
    return PanelGuests([_guest(row) for row in rows], requests, total)


def confirm_guests(
    db: Session, actor: Actor, task: str, names: Sequence[str] = (), *, everybody: bool = False
) -> PanelGuests:
    """Take these for people of their own, who are paid; *everybody*: all of whom nothing looks odd (owners)."""
    task_id = find_row(db, task).id
    require_owner(actor, task)
    if not names and not everybody:
        raise BadInput("Nobody is named.", remedy="Name people, or confirm everybody of whom nothing looks odd.")
    with transaction(db):
        chosen = _named(db, task, task_id, names)
        if everybody:
            chosen |= _unsuspected(db, task_id)
        fresh = [user for user in sorted(chosen) if db.get(PanelWord, (task_id, user)) is None]
        db.add_all(PanelWord(task_id=task_id, user_id=user, by=actor.user_id) for user in fresh)
        audit.record(db, actor, "panel.confirm", task, people=len(fresh))
    return list_guests(db, actor, task)


def decide_request(db: Session, actor: Actor, task: str, number: int, *, let_in: bool) -> PanelGuests:
    """Let somebody in who says to be a person that came before, by the browser that asks; or refuse (owners)."""
    task_id = find_row(db, task).id
    require_owner(actor, task)
    with transaction(db):
        row = db.get(PanelRequest, number)
        if row is None or row.task_id != task_id or not row.device:
            raise NotFound("Task '{task}' has no request {number}.", task=task, number=number)
        if row.state != "open":
            raise Conflict("Request {number} is decided.", number=number)
        row.state, row.decided_by, row.decided_at = "allowed" if let_in else "refused", actor.user_id, now()
        audit.record(db, actor, "panel.let_in" if let_in else "panel.refuse", task, user=row.user_id)
    return list_guests(db, actor, task)


def make_door_code(db: Session, actor: Actor, task: str, name: str) -> DoorCode:
    """Make a code with which somebody comes in by another browser; hand it on by the panel's messages (owners)."""
    task_id = find_row(db, task).id
    require_owner(actor, task)
    with transaction(db):
        (user_id,) = _named(db, task, task_id, [name])
        code = entry_codes.make_code(db, task_id, user_id)
        audit.record(db, actor, "panel.code", task, user=user_id)
    return DoorCode(name, code, now() + entry_codes.BY_OWNER)


def panel_key(db: Session, actor: Actor, task: str) -> PanelKey:
    """Return the key by which a panel signs its links to a task (owners)."""
    task_id = find_row(db, task).id
    require_owner(actor, task)
    return PanelKey(task, signing_key(db, task_id))


def _named(db: Session, task: str, task_id: int, names: Sequence[str]) -> set[int]:
    rows, _ = queries.guests(db, task_id, names=names, limit=len(names)) if names else ([], 0)
    known = {row.name: row.user_id for row in rows}
    for name in names:
        if name not in known:
            raise NotFound("No panel sent '{name}' to task '{task}'.", name=name, task=task)
    return set(known.values())


def _unsuspected(db: Session, task_id: int) -> set[int]:
    chosen: set[int] = set()
    for first in range(0, queries.guests(db, task_id, held=True, limit=1)[1], AT_ONCE):
        rows, _ = queries.guests(db, task_id, held=True, limit=AT_ONCE, offset=first)
        chosen |= {row.user_id for row in rows if not flags(row)}
    return chosen


def flags(row: queries.GuestRow) -> list[str]:
    """Return what looks odd of somebody: others by the same browser, or many from the same address."""
    odd = []
    if row.same_browser:
        odd.append("same_browser")
    if row.same_address >= entry_codes.FEW_BY_ADDRESS:
        odd.append("same_address")
    return odd


def _guest(row: queries.GuestRow) -> PanelGuest:
    return PanelGuest(
        row.name,
        row.provider,
        row.came_at,
        row.confirmed_by,
        flags(row),
        row.same_browser,
        row.same_address,
        row.owed,
        row.currency,
    )
