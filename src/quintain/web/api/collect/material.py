"""What goes into a round and what comes up in it, for programs: prompts, and texts for the owner to look at."""

from __future__ import annotations

from typing import Annotated

from fastapi import File, Form, UploadFile
from fastapi import Query as Parameter

from quintain.core.records.collect import Flags, PromptReport
from quintain.services.collect.rounds import prompts
from quintain.services.collect.writing import list_attempts
from quintain.web.api.call import Calling
from quintain.web.api.params import Limit, Offset, RoundRef
from quintain.web.api.shapes import Text
from quintain.web.files import on_disk


def import_prompts(
    call: Calling,
    ref: RoundRef,
    *,
    file: Annotated[UploadFile, File(description="JSONL, CSV, TSV or Parquet with the task's fields.")],
    corpus: Annotated[Text, Form(description="The corpus; the file's name by default.")] = "",
    part: Annotated[Text, Form(description="The part of the corpus that all rows are from.")] = "",
    tags: Annotated[Text, Form(description="Tags for all of them, with commas between them.")] = "",
    contexts: Annotated[
        bool, Form(description="Only what writers may not change, such as the passage; they add the rest.")
    ] = False,
) -> PromptReport:
    """Add prompts to a round; what earlier rounds of the task used is left out (owners)."""
    with on_disk(file, call.workspace.limits_at_once) as path:
        return prompts.import_prompts(
            call.db,
            call.actor,
            ref,
            path,
            corpus=corpus.strip() or None,
            part=part.strip() or None,
            tags=[tag.strip() for tag in tags.split(",") if tag.strip()],
            contexts=contexts,
        )


def list_flags(
    call: Calling,
    ref: RoundRef,
    decided: Annotated[bool, Parameter(description="Those that were decided on, too.")] = False,
    offset: Offset = 0,
    limit: Limit = 1000,
) -> Flags:
    """List texts that may hurt, hold personal data or were reported; with *decided*, all of them (owners)."""
    state = None if decided else False
    return list_attempts.flag_queue(call.db, call.actor, ref, decided=state, offset=offset, limit=limit)
