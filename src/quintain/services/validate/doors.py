"""Judges from panels: in by an address of the validation, out with a code, as writers are.

A panel's people have one account each, whatever they do: who wrote comes back to judge under the same name.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict, NotFound
from quintain.core.people import Actor
from quintain.core.records.judging import JudgingEntry
from quintain.services.access import audit
from quintain.services.access.actors import actor_of
from quintain.services.access.permissions import require_owner, require_user
from quintain.services.access.sign_in import start_session
from quintain.services.collect import entry as writers
from quintain.services.collect.entry import Completion, PanelArrival
from quintain.services.validate.validation import ValidationInfo
from quintain.services.validate.validations import find, require_open
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.collect import panels as queries
from quintain.store.queries.validate import judging_times
from quintain.store.tables import PanelPlace, PanelStay


def judging_entry(db: Session, actor: Actor, ref: str, base_url: str) -> JudgingEntry:
    """Give the address that a panel sends judges to, with its own places for ids (owners)."""
    validation = find(db, ref)
    require_owner(actor, validation.task.name)
    entry = validation.policy.entry
    if entry is None:
        raise Conflict("The policy of {ref} has no [entry].", ref=ref, remedy="Add one that names the provider.")
    with transaction(db):
        lock(db, f"door of {validation.id}")
        row = db.get(PanelPlace, _place(validation))
        if row is None:
            row = PanelPlace(place=_place(validation), key=secrets.token_urlsafe(18))
            db.add(row)
            db.flush()
        key = row.key
    return JudgingEntry(ref, writers.address_for(entry, key, base_url))


def enter(
    db: Session, key: str, parameters: Mapping[str, str], *, user_agent: str = "", language: str = "en"
) -> PanelArrival:
    """Let somebody in who came from a panel, to write or to judge."""
    place = queries.place_of(db, key) if "\x00" not in key else None
    if place is None:
        return writers.enter(db, key, parameters, user_agent=user_agent, language=language)
    validation = find(db, judging_times.name_of(db, int(place.removeprefix("validation:"))))
    page, entry = f"/tasks/{validation.task.name}/judge/{validation.name}", validation.policy.entry
    if entry is None:
        raise NotFound("This address leads nowhere.", remedy="Check the link in the panel's study.")
    if entry.provider == "mturk" and parameters.get("assignmentId") == writers.PREVIEW:
        return PanelArrival(page, preview=True)
    ids = writers.panel_ids(entry, parameters)
    require_open(validation)
    with transaction(db):
        user = writers.let_in(db, entry, ids, validation.task.name, validation.task_id, language)
        if queries.stay(db, place, user.id, ids.study, ids.session) is None:
            about = {"provider": entry.provider, "study": ids.study, "submit_to": ids.submit_to}
            db.add(PanelStay(place=place, user_id=user.id, outside_session=ids.session, **about))
        db.flush()
        actor = actor_of(db, user)
        audit.record(db, actor, "panel.enter", validation.ref, provider=entry.provider)
    return PanelArrival(page, actor, start_session(db, actor, user_agent=user_agent))


def complete(db: Session, actor: Actor, ref: str) -> Completion:
    """Give somebody who came from a panel, and has handed in a page since, what they need to go back and be paid."""
    user_id = require_user(actor)
    with transaction(db):
        validation = find(db, ref)
        found = queries.newest_stay(db, _place(validation), user_id)
        if found is None or validation.policy.entry is None:
            raise NotFound("You did not come to this judging from a panel.")
        stay, outside_id = found
        if not judging_times.handed_in_since(db, validation.id, user_id, stay.arrived_at):
            raise Conflict("You have not handed in a page yet.", remedy="Judge one, and come back.")
        if stay.completed_at is None:
            stay.completed_at = now()
            audit.record(db, actor, "panel.complete", ref, provider=stay.provider)
        return writers.way_back(validation.policy.entry, stay, outside_id)


def may_complete(db: Session, actor: Actor, ref: str) -> bool:
    """Say whether a code waits for the actor; nothing is written."""
    validation = find(db, ref)
    if validation.policy.entry is None or actor.user_id is None:
        return False
    found = queries.newest_stay(db, _place(validation), actor.user_id)
    return found is not None and judging_times.handed_in_since(db, validation.id, actor.user_id, found[0].arrived_at)


def _place(validation: ValidationInfo) -> str:
    return f"validation:{validation.id}"
