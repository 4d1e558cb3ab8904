"""Published contrast sets as data set versions: a set is a group, the role of a member a tag."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.example import Role
from quintain.core.people import Actor
from quintain.core.records.contrast import ContrastImport
from quintain.data.contrast.contract import (
    CONTRAST_FORMATS,
    ContrastFiles,
    read_contrast,
    repeated_inputs,
    stored_members,
    whole_sets,
)
from quintain.data.plan import ImportPlan
from quintain.services.access.permissions import require_owner
from quintain.services.data.datasets import VersionInfo, import_dataset
from quintain.services.plain.files.contrast_import import describe_import
from quintain.services.tasks.definitions import find_row
from quintain.store.blobs import Blobs


def import_contrast(  # noqa: PLR0917 - what goes where, from what, how: the order of the command line
    db: Session,
    blobs: Blobs,
    actor: Actor,
    task: str,
    name: str,
    form: str,
    files: ContrastFiles,
    plan: ImportPlan,
) -> tuple[VersionInfo, ContrastImport]:
    """Import a published contrast set as a version of role contrast, which scores once its owner lets it."""
    find_row(db, task)
    require_owner(actor, task)
    sets = read_contrast(form, files)
    members, left_out = whole_sets(sets.members)
    contrast_plan = replace(
        plan,
        role=Role.CONTRAST.value,
        format="jsonl",
        duplicates="keep",
        keep=("source",),
        description=plan.description or CONTRAST_FORMATS.get(form).about,
    )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"{form}.jsonl"
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in stored_members(members))
        source.write_text("".join(lines), encoding="utf-8")
        version = import_dataset(db, blobs, actor, task, name, source, contrast_plan)
    if repeated := repeated_inputs(members):
        sets.notes.append(f"{repeated} members have the input of another one, and are examples of their own.")
    return version, describe_import(form, sets, left_out)
