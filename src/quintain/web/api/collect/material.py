"""What goes into a round and what comes up in it, for programs: prompts, and texts for the owner to look at."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import File, Form, Path, UploadFile
from fastapi import Query as Parameter

from quintain.services.access.permissions import require_owner
from quintain.services.collect import attempts, prompts
from quintain.web.api.call import Calling
from quintain.web.api.collect.rounds import RoundNumber
from quintain.web.api.params import TaskName
from quintain.web.api.shapes import Shape, Text
from quintain.web.files import on_disk

FlagId = Annotated[int, Path(description="Id of the flag.", ge=1, le=2**31 - 1)]


class PromptReportShape(Shape):
    """What became of a table of prompts: *used* are in earlier rounds, *used_parts* in parts of a corpus that are."""

    rows: int
    added: int
    repeated: int
    used: int
    used_parts: int


class FlagShape(Shape):
    """Something in an attempt for the owner to look at; *withhold* is null until somebody has."""

    id: int
    attempt_id: int
    kind: str
    detail: str
    inputs: dict[str, Any]
    at: datetime
    withhold: bool | None
    note: str


class FlagsShape(Shape):
    """What the owner of a round should look at."""

    flags: list[FlagShape]


class FlagDecisionRequest(Shape):
    """Whether a flagged attempt is withheld from everything that leaves."""

    withhold: bool
    note: Text = ""


def import_prompts(
    call: Calling,
    task: TaskName,
    number: RoundNumber,
    *,
    file: Annotated[UploadFile, File(description="JSONL, CSV, TSV or Parquet with the task's fields.")],
    corpus: Annotated[Text, Form(description="The corpus; the file's name by default.")] = "",
    part: Annotated[Text, Form(description="The part of the corpus that all rows are from.")] = "",
    tags: Annotated[Text, Form(description="Tags for all of them, with commas between them.")] = "",
) -> PromptReportShape:
    """Add prompts to a round; what earlier rounds of the task used is left out (owners)."""
    require_owner(call.actor, task)
    with on_disk(file) as path:
        found = prompts.import_prompts(
            call.db,
            call.actor,
            f"{task}/{number}",
            path,
            corpus=corpus.strip() or None,
            part=part.strip() or None,
            tags=[tag.strip() for tag in tags.split(",") if tag.strip()],
        )
    return PromptReportShape.model_validate(found.as_dict())


def list_flags(
    call: Calling,
    task: TaskName,
    number: RoundNumber,
    decided: Annotated[bool, Parameter(description="Those that were decided on, too.")] = False,
) -> FlagsShape:
    """List texts that may hurt, hold personal data, or were reported (owners)."""
    found = attempts.flag_queue(call.db, call.actor, f"{task}/{number}", decided=None if decided else False)
    return FlagsShape(flags=[FlagShape.model_validate(asdict(one)) for one in found])


def decide_flag(call: Calling, flag: FlagId, decision: FlagDecisionRequest) -> None:
    """Keep a flagged attempt, or withhold it from everything that leaves (owners)."""
    attempts.decide_flag(call.db, call.actor, flag, withhold=decision.withhold, note=decision.note)
