"""Answers to the open questions of a task's datasheets, for programs."""

from __future__ import annotations

from quintain.core.records.release import DatasheetText
from quintain.services.release import datasheet_answers as service
from quintain.web.api.call import Calling
from quintain.web.api.params import Changing, TaskName
from quintain.web.api.shapes import LongText, Shape


class DatasheetRequest(Shape):
    """The answers as a TOML file."""

    toml: LongText


def get_datasheet(call: Calling, task: TaskName) -> DatasheetText:
    """Return the answers to the open questions of a task's datasheets, as TOML, and those without one (owners)."""
    return service.answers_text(call.db, call.actor, task)


def set_datasheet(call: Calling, task: TaskName, definition: DatasheetRequest, edit: Changing) -> DatasheetText:
    """Let other answers stand in the datasheets of a task, from its next release on (owners)."""
    service.put_answers(call.db, call.actor, task, definition.toml, edit=edit)
    return service.answers_text(call.db, call.actor, task)
