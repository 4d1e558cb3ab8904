"""Published contrast sets, for programs: which formats there are, and bringing one in."""

from __future__ import annotations

from typing import Annotated

from fastapi import File, Form, UploadFile

from quintain.core.records.contrasting import ContrastFormats, ContrastImported, PublishedFormat
from quintain.data.contrast.contract import CONTRAST_FORMATS, ContrastFiles
from quintain.data.plan import parse_plan
from quintain.services.data.contrast import import_contrast as bring_in
from quintain.web.api.call import Calling
from quintain.web.api.params import TaskName
from quintain.web.api.shapes import LongText, Text
from quintain.web.files import several_on_disk


def list_contrast_formats() -> ContrastFormats:
    """List the published contrast sets that can be brought in."""
    formats = [CONTRAST_FORMATS.get(name) for name in CONTRAST_FORMATS.names()]
    return ContrastFormats(
        [PublishedFormat(layout.name, layout.task, layout.metric, layout.about) for layout in formats]
    )


def import_contrast(
    call: Calling,
    task: TaskName,
    *,
    name: Annotated[Text, Form(description="Name of the data set.")],
    format: Annotated[Text, Form(description="Which one: see the formats.")],  # noqa: A002 - the word of the command
    files: Annotated[list[UploadFile], File(description="Its files, as they were published.")],
    originals: Annotated[UploadFile | None, File(description="The originals, where they are apart.")] = None,
    split: Annotated[Text, Form(description="Which split, where there are several.")] = "test",
    hidden: Annotated[bool, Form(description="Whether its labels stay on the server.")] = False,
    plan: Annotated[LongText, Form(description="What its columns and labels mean: an import plan in TOML.")] = "",
) -> ContrastImported:
    """Import a published contrast set as a version of role contrast; all of it, or nothing and every fault (owners)."""
    import_plan = parse_plan(plan).with_changes(role="contrast", hidden=hidden)
    limits = call.workspace.limits_at_once
    with several_on_disk(files, limits) as path, several_on_disk([originals] if originals else [], limits) as beside:
        uploaded = ContrastFiles(path, beside if originals else None, split)
        version, report = bring_in(call.db, call.blobs, call.actor, task, name, format, uploaded, import_plan)
    return ContrastImported(version.record(), report)
