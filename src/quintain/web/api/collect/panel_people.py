"""People from panels, for programs of owners: who is confirmed, who wants to come in, codes, and the key for links."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from quintain.core.records.panels import DoorCode, PanelGuests, PanelKey
from quintain.services.collect.panels import panel_people
from quintain.web.api.call import Calling
from quintain.web.api.params import Limit, Offset, PersonName, TaskName
from quintain.web.api.shapes import ConfirmRequest, DoorDecision

RequestNumber = Annotated[int, Path(description="Number of the request.", ge=1, le=2**31 - 1)]


def list_panel_people(
    call: Calling, task: TaskName, held: bool = False, limit: Limit = 100, offset: Offset = 0
) -> PanelGuests:
    """List people whom panels sent to a task, or whose pay is *held*, and who wants to come in (owners)."""
    return panel_people.list_guests(call.db, call.actor, task, held=held, limit=limit, offset=offset)


def confirm_panel_people(call: Calling, task: TaskName, body: ConfirmRequest) -> PanelGuests:
    """Take these for people of their own, who are paid; or all of whom nothing looks odd (owners)."""
    return panel_people.confirm_guests(call.db, call.actor, task, body.names, everybody=body.everybody)


def decide_door_request(call: Calling, task: TaskName, request: RequestNumber, decision: DoorDecision) -> PanelGuests:
    """Let somebody in by another browser, or refuse (owners)."""
    return panel_people.decide_request(call.db, call.actor, task, request, let_in=decision.let_in)


def make_door_code(call: Calling, task: TaskName, name: PersonName) -> DoorCode:
    """Make a code with which somebody comes in by another browser; it is shown this once (owners)."""
    return panel_people.make_door_code(call.db, call.actor, task, name)


def get_panel_key(call: Calling, task: TaskName) -> PanelKey:
    """Return the key by which a panel signs its links to a task (owners)."""
    return panel_people.panel_key(call.db, call.actor, task)
