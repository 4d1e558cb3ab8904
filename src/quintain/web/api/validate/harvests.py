"""Harvests, for programs: a sample as a round of its task."""

from __future__ import annotations

from typing import Annotated

from fastapi import File, Form, UploadFile

from quintain.core.records.collect import Round
from quintain.services.validate import harvests
from quintain.web.api.call import Calling
from quintain.web.api.params import TaskName
from quintain.web.api.shapes import LongText, Text
from quintain.web.files import on_disk


def add_harvest(
    call: Calling,
    task: TaskName,
    *,
    file: Annotated[UploadFile, File(description="The sample as `quintain harvest` writes it: JSONL, CSV or Parquet.")],
    title: Annotated[Text, Form(description="Title of the round; after the file by default.")] = "",
    model: Annotated[
        Text, Form(description="The model that it was harvested with; as the sample says by default.")
    ] = "",
    policy: Annotated[LongText, Form(description="The policy of its validation, as TOML.")] = "",
) -> Round:
    """Make a harvested sample the task's next round, and open its validation: all of it, or nothing (owners)."""
    with on_disk(file, call.workspace.file_limits) as path:
        made = harvests.add_harvest(
            call.db, call.actor, task, path, title=title.strip(), model=model.strip(), policy_toml=policy or None
        )
    return made.record()
