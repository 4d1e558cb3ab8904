"""What a TOML text would change, for programs that look first."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from quintain.core.records.changes import SpecChanges
from quintain.services.house import changes
from quintain.web.api.call import Calling
from quintain.web.api.shapes import LongText, Shape, Text


class ChangesRequest(Shape):
    """What is to be replaced: a task, board, pay policy, quiz, round, judging, contest and so on, and the texts.

    *of* is the task, or task/name. A trial takes several protocols, all others one text.
    """

    what: Text
    of: Text
    toml: Annotated[list[LongText], Field(min_length=1, max_length=50)]


def preview_changes(call: Calling, body: ChangesRequest) -> SpecChanges:
    """Return what a TOML text would change, from old to new, and would reset; nothing is changed (owners)."""
    return changes.preview(call.db, call.blobs, call.actor, body.what, body.of, body.toml)
