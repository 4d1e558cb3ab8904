"""Variants that were written elsewhere: a table of them, taken whole or not at all.

A row names its *original* by its id in the data set or by one of its texts, and has the fields that were changed, the
new `answer`, and if they are there `tags`, `rationale` and `reason`. What is larger than the limit needs its reason,
as on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.contrast import PivotState, VariantState
from quintain.core.errors import BadInput, Fault
from quintain.core.people import Actor
from quintain.core.records.contrasting import VariantsAdded
from quintain.data.rows import read_rows
from quintain.data.tables import FAULT_LIMIT
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.contrast.authoring import Edit, made_variant
from quintain.services.contrast.measuring import text_of
from quintain.services.contrast.projects import find_project
from quintain.services.tasks.definitions import get_task
from quintain.store.database import lock, transaction
from quintain.store.queries.contrast import projects as queries
from quintain.store.tables import ContrastPivot
from quintain.tasks.contract import kind_of

SAID = ("answer", "tags", "rationale", "reason")


def add_variants_file(db: Session, actor: Actor, ref: str, path: Path, *, checked: bool = False) -> VariantsAdded:
    """Add the variants of a JSONL, CSV or TSV file to a project, as `add_variants` does. For owners."""
    info = find_project(db, ref)
    require_owner(actor, info.task)
    task = get_task(db, info.task)
    fields = [item.name for item in kind_of(task).fields(task) if not item.fixed]
    rows = read_rows(path, required=("original", "answer"), optional=(*fields, *SAID[1:]))
    values = [{name: value for name, value in row.values.items() if value is not None} for row in rows]
    numbers = [row.number for row in rows]
    return _add(db, actor, ref, values, numbers, file=path.name, checked=checked)


def add_variants(
    db: Session, actor: Actor, ref: str, rows: Sequence[Mapping[str, Any]], *, checked: bool = False
) -> VariantsAdded:
    """Add variants to a project: all of them, or none and every fault. For owners.

    With *checked* they count at once; otherwise others check them, as they do what is written on the page.
    """
    return _add(db, actor, ref, rows, range(1, len(rows) + 1), file=None, checked=checked)


def _add(
    db: Session,
    actor: Actor,
    ref: str,
    rows: Sequence[Mapping[str, Any]],
    numbers: Sequence[int],
    *,
    file: str | None,
    checked: bool,
) -> VariantsAdded:
    faults: list[Fault] = []
    with transaction(db):
        info = find_project(db, ref)
        require_owner(actor, info.task)
        lock(db, f"contrast {ref}")
        task = get_task(db, info.task)
        known = _by_name(queries.all_pivots(db, info.id))
        used = set()
        for number, row in zip(numbers, rows, strict=True):
            pivot, fault = _pivot_of(known, row)
            if pivot is None:
                faults.append(fault.at(row=number, file=file))
                continue
            try:
                variant = made_variant(db, info, task, pivot, _edit(row))
            except BadInput as error:
                faults += [fault.at(row=number, file=file) for fault in error.faults]
                continue
            if checked:
                variant.state = VariantState.ACCEPTED.value
            variant.author_id = actor.user_id
            pivot.state = PivotState.DONE.value
            used.add(pivot.id)
            db.add(variant)
            db.flush()
        if faults:
            raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults))
        audit.record(db, actor, "contrast.add", ref, variants=len(rows), checked=checked)
    return VariantsAdded(len(rows), len(used))


def _edit(row: Mapping[str, Any]) -> Edit:
    inputs = {name: value for name, value in row.items() if name not in {"original", *SAID}}
    tags = row.get("tags") or ()
    tags = [tag.strip() for tag in tags.split(";")] if isinstance(tags, str) else [str(tag) for tag in tags]
    answer = row.get("answer")
    return Edit(
        inputs,
        answer,
        [tag for tag in tags if tag],
        str(row.get("rationale") or ""),
        str(row.get("reason") or ""),
        keeps_label=None,
    )


def _by_name(pivots: Sequence[ContrastPivot]) -> dict[str, list[ContrastPivot]]:
    """Return pivots by their ids and by their texts; a text may be that of several."""
    by_name: dict[str, list[ContrastPivot]] = {}
    for pivot in pivots:
        for name in {pivot.example, *(text_of(value) for value in pivot.inputs.values())}:
            by_name.setdefault(name, []).append(pivot)
    return by_name


def _pivot_of(known: Mapping[str, list[ContrastPivot]], row: Mapping[str, Any]) -> tuple[ContrastPivot | None, Fault]:
    name = text_of(row.get("original"))
    matches = known.get(name, [])
    if len(matches) == 1:
        return matches[0], Fault("")
    shown = name[:80]
    if matches:
        return None, Fault("'{name}' is the text of several examples; name one by its id", name=shown, field="original")
    return None, Fault("'{name}' is no example of this project", name=shown, field="original")
