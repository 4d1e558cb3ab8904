"""Judges from panels: in by an address of the validation, out with a code, as writers are."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict, NotFound
from quintain.core.people import Actor
from quintain.core.records.judging import JudgingEntry
from quintain.core.texts import Text
from quintain.services.access.permissions import require_owner, require_user
from quintain.services.collect.panels import entry as writers
from quintain.services.collect.panels.admission import Door, PanelArrival, Visitor
from quintain.services.collect.panels.entry import Completion
from quintain.services.collect.panels.panel_entry import arrive, entry_key, go_back, may_go_back
from quintain.services.validate.console.manage import find_validation, require_open
from quintain.services.validate.types import ValidationInfo
from quintain.store.queries.collect import panels as queries
from quintain.store.queries.validate import judging_times

PLACE = "validation:"


def judging_entry(db: Session, actor: Actor, ref: str, base_url: str) -> JudgingEntry:
    """Return the address that a panel sends judges to, with its own places for ids (owners)."""
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    entry = validation.policy.entry
    if entry is None:
        raise Conflict("The policy of {ref} has no [entry].", ref=ref, remedy="Add one that names the provider.")
    return JudgingEntry(ref, writers.address_for(entry, entry_key(db, _panel_place(validation)), base_url))


def enter(db: Session, key: str, parameters: Mapping[str, str], visitor: Visitor) -> PanelArrival:
    """Let somebody in who came from a panel, to write or to judge."""
    panel_place = queries.place_of(db, key) if "\x00" not in key else None
    if panel_place is None or not panel_place.startswith(PLACE):
        return writers.enter(db, key, parameters, visitor)
    validation = find_validation(db, judging_times.name_of(db, int(panel_place.removeprefix(PLACE))))
    door = _door(validation)
    if door is None:
        raise NotFound("This address leads nowhere.", remedy="Check the link in the panel's study.")
    return arrive(db, door, parameters, lambda: require_open(validation), visitor)


def complete(db: Session, actor: Actor, ref: str) -> Completion:
    """Return what somebody who came from a panel, and has handed in a page since, needs to go back and be paid."""
    user_id = require_user(actor)
    validation = find_validation(db, ref)
    door = _door(validation)
    completion = None
    if door is not None:
        missing = Text("You have not handed in a page yet.")
        since = judging_times.handed_in_since
        completion = go_back(db, actor, door, lambda moment: bool(since(db, validation.id, user_id, moment)), missing)
    if completion is None:
        raise NotFound("You did not come to this judging from a panel.")
    return completion


def may_complete(db: Session, actor: Actor, ref: str) -> bool:
    """Whether a code waits for the actor; nothing is written."""
    validation, user_id = find_validation(db, ref), actor.user_id
    if validation.policy.entry is None or user_id is None:
        return False
    since = judging_times.handed_in_since
    return may_go_back(
        db, actor, _panel_place(validation), lambda moment: bool(since(db, validation.id, user_id, moment))
    )


def _door(validation: ValidationInfo) -> Door | None:
    entry, task = validation.policy.entry, validation.task.name
    if entry is None:
        return None
    page = f"/tasks/{task}/judge/{validation.name}"
    return Door(_panel_place(validation), entry, page, task, validation.task_id, validation.ref)


def _panel_place(validation: ValidationInfo) -> str:
    return f"{PLACE}{validation.id}"
