"""The judgements and the labels of a validation as files, written some thousand rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.data.exporting import write_parts
from quintain.data.tables import table_format
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.jobs.exports import ExportKind
from quintain.services.jobs.figures import ReportProgress, quietly
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.quality.final_labels import FinalLabels, final_labels
from quintain.services.validate.quality.judge_figures import Evidence, gather
from quintain.services.validate.quality.validation_figures import VALIDATION
from quintain.services.validate.types import ValidationInfo
from quintain.stats.bootstrap import IntArray
from quintain.stats.judgements import NONE
from quintain.store.database import transaction
from quintain.store.queries.validate import items as item_queries
from quintain.tasks.contract import kind_of

CHUNK = 5000  # rows that are in memory as texts together
JUDGEMENTS: Mapping[str, pl.DataType] = {
    "item": pl.String(),
    "worker": pl.String(),
    "label": pl.String(),
    "kept": pl.Boolean(),
    "late": pl.Boolean(),
    "seconds": pl.Float64(),
    "asked": pl.Int64(),
}
Frames = Iterator[pl.DataFrame]


def export_judgements(db: Session, actor: Actor, ref: str, path: Path, tell: ReportProgress = quietly) -> int:
    """Write all judgements to *path*, judges under numbers, in the format that its suffix names, and count them."""

    def make(validation: ValidationInfo) -> tuple[Frames, Mapping[str, pl.DataType]]:
        return _judgement_frames(db, validation, tell), JUDGEMENTS

    return _write(db, actor, ref, path, "judgements", make)


def export_labels(db: Session, actor: Actor, ref: str, path: Path, tell: ReportProgress = quietly) -> int:
    """Write one row per judged item: its inputs, its label (empty for no majority), who decided, votes by label.

    It also says how many judgements each was to get and, where writers vote, what the writer's vote is. What was
    retracted or withheld is left out.
    """

    def make(validation: ValidationInfo) -> tuple[Frames, Mapping[str, pl.DataType]]:
        final = final_labels(db, validation)
        schema = _label_schema(validation, final)
        return _label_frames(db, validation, final, schema, tell), schema

    return _write(db, actor, ref, path, "labels", make)


def _write(
    db: Session,
    actor: Actor,
    ref: str,
    path: Path,
    what: str,
    make: Callable[[ValidationInfo], tuple[Frames, Mapping[str, pl.DataType]]],
) -> int:
    form, validation = table_format(path), _owned(db, actor, ref)
    rows = write_parts(*make(validation), form, path)
    with transaction(db):
        audit.record(db, actor, "validation.export", ref, what=what, rows=rows, format=form)
    return rows


def _owned(db: Session, actor: Actor, ref: str) -> ValidationInfo:
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    return validation


def _judgement_frames(db: Session, validation: ValidationInfo, tell: ReportProgress) -> Frames:
    """Yield `item, worker, label, kept` and more of all judgements, with judges under numbers, not names.

    Where writers vote, their votes are rows, too, by workers of their own: what is kept makes the labels again.
    """
    evidence = gather(db, validation)
    final = final_labels(db, validation, evidence)
    often = item_queries.asked_often(db, validation.id)
    normal = np.flatnonzero(evidence.table.gold == "")
    is_kept = np.zeros(len(evidence.table), dtype=bool)
    is_kept[evidence.rows[final.kept]] = True
    for start in range(0, len(normal), CHUNK):
        rows = normal[start : start + CHUNK]
        yield _frame(db, validation, evidence.table.item[rows], often, _answer_columns(evidence, rows, is_kept))
        tell(start + len(rows), len(normal))
    voting = np.flatnonzero(final.writer != NONE)
    written = item_queries.writers(db, validation.id) if len(voting) else {}
    authors = sorted({written[item][0] for item in final.items[voting].tolist()})
    number = {author: place + 1 for place, author in enumerate(authors)}
    for start in range(0, len(voting), CHUNK):
        places = voting[start : start + CHUNK]
        mine = final.items[places]
        votes = {
            "worker": [f"writer-{number[written[item][0]]}" for item in mine.tolist()],
            "label": [final.classes[code] for code in final.writer[places].tolist()],
            "kept": [True] * len(mine),
            "late": [False] * len(mine),
            "seconds": [None] * len(mine),
        }
        yield _frame(db, validation, mine, often, votes)


def _answer_columns(evidence: Evidence, rows: IntArray, is_kept: Any) -> dict[str, Any]:
    """Return what judges said at *rows* of the table as columns."""
    table = evidence.table
    codes = np.searchsorted(evidence.users, table.user[rows])
    return {
        "worker": [f"judge-{code + 1}" for code in codes.tolist()],
        "label": table.label[rows].tolist(),
        "kept": is_kept[rows],
        "late": table.late[rows],
        "seconds": table.seconds[rows],
    }


def _frame(
    db: Session, validation: ValidationInfo, items: IntArray, often: Mapping[int, int], columns: Mapping[str, Any]
) -> pl.DataFrame:
    ids = items.tolist()
    hashes = item_queries.hashes(db, sorted(set(ids)))
    asked = [often.get(item, validation.policy.judgements) for item in ids]
    return pl.DataFrame({"item": [hashes[item] for item in ids], **columns, "asked": asked}, schema=dict(JUDGEMENTS))


def _label_schema(validation: ValidationInfo, final: FinalLabels) -> dict[str, pl.DataType]:
    kind = kind_of(validation.task)
    known = kind.schema(validation.task)
    fields = {field.name: known[field.name] for field in kind.fields(validation.task)}
    voted = {f"votes_{name}": pl.Int64() for name in final.classes}
    writer = {"writer": pl.String()} if validation.policy.writer else {}
    decided = {"complete": pl.Boolean(), "by_expert": pl.Boolean(), "asked": pl.Int64()}
    return {"item": pl.String(), **fields, "label": pl.String(), **decided, **writer, **voted}


def _label_frames(
    db: Session, validation: ValidationInfo, final: FinalLabels, schema: Mapping[str, pl.DataType], tell: ReportProgress
) -> Frames:
    stands, known = np.flatnonzero(~final.gone), [*final.classes, None]
    for start in range(0, len(stands), CHUNK):
        places = stands[start : start + CHUNK]
        items = item_queries.contents(db, final.items[places].tolist())
        columns: dict[str, Any] = {
            "item": [key for key, _ in items],
            "label": [known[code] for code in final.label[places].tolist()],
            "complete": final.complete[places],
            "by_expert": final.decided[places],
            "asked": final.asked[places],
            "writer": [known[code] for code in final.writer[places].tolist()],
            **{f"votes_{name}": final.votes[places, code] for code, name in enumerate(final.classes)},
        }
        columns |= {
            field.name: [inputs.get(field.name) for _, inputs in items]
            for field in kind_of(validation.task).fields(validation.task)
        }
        yield pl.DataFrame({name: columns[name] for name in schema}, schema=dict(schema), strict=False)
        tell(start + len(places), len(stands))


def _of(db: Session, actor: Actor, ref: str) -> str:
    return _owned(db, actor, ref).task.name


JUDGEMENTS_FILE = ExportKind(
    "judgements",
    of=_of,
    figure=VALIDATION,
    write=lambda db, _, actor, request, path, tell: export_judgements(db, actor, request.ref, path, tell),
)
LABELS_FILE = ExportKind(
    "labels",
    of=_of,
    figure=VALIDATION,
    write=lambda db, _, actor, request, path, tell: export_labels(db, actor, request.ref, path, tell),
)
