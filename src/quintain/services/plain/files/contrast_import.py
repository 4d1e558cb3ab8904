"""Published contrast sets as plain examples: no workspace, no account, no server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from quintain.core.errors import OutOfOrder
from quintain.core.records.contrast import ContrastCounts, ContrastImport
from quintain.data.contrast.contract import (
    CONTRAST_FORMATS,
    ContrastFiles,
    ContrastSets,
    plain_members,
    read_contrast,
    without_broken_sets,
)


def write_contrast_examples(name: str, files: ContrastFiles, target: Path) -> ContrastImport:
    """Read a contrast set in the format *name* and write its members as JSON lines that `contrast score` reads."""
    sets = read_contrast(name, files)
    members, broken = without_broken_sets(sets.members)
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in plain_members(members)]
    try:
        target.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise OutOfOrder(
            "{path} cannot be written: {strerror}.", path=target, strerror=error.strerror, remedy="Name another file."
        ) from error
    return describe_import(name, sets, broken, len(members))


def describe_import(
    name: str, sets: ContrastSets, more: Mapping[str, int] | None = None, examples: int | None = None
) -> ContrastImport:
    """Return what was read; *more* was left out afterwards, and so many *examples* were taken."""
    usable = ContrastCounts(sets.contrasts, sets.sets)
    listed = ContrastCounts(*sets.in_file) if sets.in_file else usable
    return ContrastImport(
        name,
        listed,
        usable,
        len(sets.members) if examples is None else examples,
        {**sets.left_out, **(more or {})},
        tuple(sets.notes),
        CONTRAST_FORMATS.get(name).metric,
    )
