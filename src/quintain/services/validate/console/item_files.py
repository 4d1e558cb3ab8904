"""Items and gold items from files and data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.editing import ANYHOW, EditOrigin
from quintain.core.errors import BadInput, Fault
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.people import Actor
from quintain.core.records.validate import ItemsAdded
from quintain.core.task import Task
from quintain.data.further import META, ORIGIN, PAPERS_TYPES, REVIEWS, further_facts, with_our_names
from quintain.data.images import path_rules
from quintain.data.shaping import shape
from quintain.data.tables import FAULT_LIMIT, read_table, row_number
from quintain.services.access.permissions import require_owner
from quintain.services.data import content as dataset_content
from quintain.services.tasks.definitions import get_task
from quintain.services.validate.console.manage import find_validation, open_validation, take_rows
from quintain.services.validate.labels import shows_answer
from quintain.services.validate.quality import gold
from quintain.store.blobs import Blobs
from quintain.tasks.contract import kind_of
from quintain.tasks.rules import find_faults

HARVESTED = ("model", "predicted", *ORIGIN, *REVIEWS, META)
TAKEN = ("model", "predicted", "probability", *ORIGIN, "answer", "tags", "id")  # kept elsewhere, or the model's


def open_with_items(  # noqa: PLR0913 - what is opened, what is added, and how
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    policy_toml: str | None = None,
    *,
    seed: int = 0,
    file: str | None = None,
    items: Path | None = None,
    columns: Mapping[str, str] | None = None,
    dataset: str | None = None,
    edit: EditOrigin = ANYHOW,
) -> None:
    """Open a validation and add the items of a file, of a data set or of both.

    All of it is read and checked before anything is opened. Where adding was interrupted, the same once more adds the
    rest.
    """
    tables = []
    if name := ref.rpartition("/")[0]:
        require_owner(actor, name)
        task = get_task(db, name)
        tables += [item_rows(task, items, columns)] if items is not None else []
        tables += [dataset_rows(db, blobs, actor, task, dataset)] if dataset is not None else []
    open_validation(db, actor, ref, policy_toml, seed=seed, file=file, edit=edit)
    for rows in tables:
        take_rows(db, actor, ref, rows)


def add_items_from_file(
    db: Session, actor: Actor, ref: str, path: Path, columns: Mapping[str, str] | None = None
) -> ItemsAdded:
    """Add the rows of a CSV, JSONL or Parquet file as items: its columns are the task's fields and, if there, `answer`.

    An answer is what judges are shown where they judge answers, and the label aimed at elsewhere. What a model said
    stands in the columns `model` and `predicted`, and the review that a sentence is from in `rating`, `group` (its
    id; also `review` or `review_id`), `start` and `end` (where in its text), as in a harvest or as DynaSent's files
    call them. Any further columns are kept with the items.
    """
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    return take_rows(db, actor, ref, item_rows(validation.task, path, columns))


def item_rows(task: Task, path: Path, columns: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """Read the items in a file, each checked against *task*, as `take_rows` takes them."""
    rows = _rows(task, path, columns, optional=HARVESTED, further=True)
    return [{**row, "predictions": _predictions(row)} for row in rows]


def _predictions(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what the model said, with its hash and its probabilities where a harvest has kept them."""
    model, answer = row.get("model"), row.get("predicted")
    if model in (None, "") or answer in (None, ""):
        return []
    harvested = _meta(row.get(META))
    shares = harvested.get("probabilities")
    more = {
        "hash": harvested["model"] if isinstance(harvested.get("model"), str) else None,
        "probabilities": dict(shares) if isinstance(shares, Mapping) else None,
    }
    return [{"model": str(model), "answer": answer, **{name: one for name, one in more.items() if one}}]


def _meta(stored: Any) -> Mapping[str, Any]:
    try:
        meta = parse_json(stored) if isinstance(stored, str) and stored else stored
    except NotJson:
        return {}
    return meta if isinstance(meta, Mapping) else {}


def add_items_from_dataset(db: Session, blobs: Blobs, actor: Actor, ref: str, dataset: str) -> ItemsAdded:
    """Add the examples of a data set version, such as `task/name@2`, as items; their gold answers are the aims."""
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    return take_rows(db, actor, ref, dataset_rows(db, blobs, actor, validation.task, dataset))


def dataset_rows(db: Session, blobs: Blobs, actor: Actor, task: Task, dataset: str) -> list[dict[str, Any]]:
    """Read the examples of a data set version as `take_rows` takes them."""
    names = [item.name for item in kind_of(task).fields(task)]
    table = dataset_content.scan(db, blobs, actor, dataset, answers=True).select(*names, "answer").collect()
    return [_row(row, names) for row in table.iter_rows(named=True)]


def add_gold_from_file(
    db: Session, actor: Actor, ref: str, path: Path, columns: Mapping[str, str] | None = None
) -> int:
    """Add gold items from a file with the task's fields, `label` and, if wished, `answer` and `note`."""
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    rows = _rows(validation.task, path, columns, required=("label",), optional=("note",))
    return gold.add_gold(db, actor, ref, rows, file=path.name, first=row_number(path, 0))


def _rows(
    task: Task,
    path: Path,
    columns: Mapping[str, str] | None,
    *,
    required: Sequence[str] = (),
    optional: Sequence[str] = (),
    further: bool = False,
) -> list[dict[str, Any]]:
    """Read a file of examples, each row checked against the task; faults are named with their rows.

    With *further*, any other columns are each row's `about`, and those that a harvest was told to keep.
    """
    kind = kind_of(task)
    fields = {item.name: item for item in kind.fields(task)}
    required_fields = [name for name, item in fields.items() if item.required]
    more = [name for name in fields if name not in required_fields]
    needed = ["answer"] if shows_answer(task) else []
    maybe = [] if needed else ["answer"]
    frame = read_table(
        path,
        required=[*required_fields, *needed, *required],
        optional=[*more, *maybe, *optional],
        columns=columns,
        types={
            **{name: dtype for name, dtype in ORIGIN.items() if name in optional},
            **(PAPERS_TYPES if further else {}),
        },
    )
    if further:
        frame = with_our_names(frame)
    faults: list[Fault] = []
    shaped = []
    for name, dtype in kind.schema(task).items():
        values = frame[name] if name in frame.columns else pl.Series(name, [None] * frame.height, dtype=dtype)
        series, misfits = shape(values.replace("", None) if values.dtype == pl.String() else values, dtype)
        shaped.append(
            (kind.answers.normalise_labels(series, task.label_names) if name == "answer" else series).alias(name)
        )
        faults += [Fault(reason, file=path.name, row=row_number(path, row), field=name) for row, reason in misfits]
    examples = pl.DataFrame(shaped)
    if not faults:
        mismatches = kind.check_table(task, examples) + find_faults(examples, path_rules(task, examples.columns))
        faults = [
            Fault(misfit.reason, file=path.name, row=row_number(path, misfit.row), field=misfit.field)
            for misfit in mismatches
        ]
    facts = further_facts(frame, [*fields, *TAKEN], path) if further else None
    faults += facts.faults if facts else []
    if faults:
        raise BadInput(faults=faults[:FAULT_LIMIT], total=len(faults))
    whole = examples.hstack(frame.select(name for name in (*required, *optional) if name in frame.columns))
    extra = [name for name in whole.columns if name not in examples.columns]
    rows = [_row(row, list(fields)) | {name: row[name] for name in extra} for row in whole.iter_rows(named=True)]
    if facts is None:
        return rows
    known = zip(rows, facts.about, facts.reviews, strict=True)
    return [row | {"about": about, "review": review or None} for row, about, review in known]


def _row(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {"inputs": {name: row[name] for name in names if row[name] is not None}, "answer": row["answer"]}
