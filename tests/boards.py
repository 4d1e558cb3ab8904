"""A task whose models have been evaluated, without running any: predictions and measurements are put in place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.cells import MEASURE, PLAIN
from quintain.core.people import Actor
from quintain.core.records.tasks import Visibility
from quintain.data.plan import ImportPlan
from quintain.perturbations.contract import names_of
from quintain.services.board.standings import KnownStandings
from quintain.services.data.datasets import VersionInfo, import_dataset
from quintain.services.evaluate.cells.run_cell import variant_of
from quintain.services.evaluate.results.axis_gaps import SHARES
from quintain.services.evaluate.results.variants import variant_name
from quintain.services.models.registry import ModelVersionInfo, register_version
from quintain.services.tasks.definitions import get_task
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.tasks import board_settings
from quintain.store.state import state_of
from quintain.store.tables import Cell, CellEvent, DatasetVersion
from tests.evaluation import CARD, add_task

LABELS = ("negative", "positive")
COUNTED = tuple(name for family in SHARES for name in names_of(family, in_paper=True))
Says = Callable[[Mapping[str, Any]], str]


def sentences(number: int, *, grouped: bool = False) -> list[dict[str, Any]]:
    """Make examples whose text says which label they have and how hard they are."""
    rows = []
    for place in range(number):
        label = LABELS[place % 2]
        row: dict[str, Any] = {
            "text": f"Mary said that it isn't item {place} of level {place * 7 % 100}: {label}.",
            "answer": label,
            "tags": ["even" if place % 4 < 2 else "odd"],
        }
        if grouped:
            row["group"] = f"set {place // 4}"
        rows.append(row)
    return rows


def up_to(level: int) -> Says:
    """Make a model that is right on examples of at most *level* of 100, and wrong on the others."""

    def say(row: Mapping[str, Any]) -> str:
        number = int((re.findall(r"\d+", str(row["text"])) or ["0"])[-1])
        right = "negative" if "negative" in row["text"] else "positive"
        return right if number < level else LABELS[1 - LABELS.index(right)]

    return say


def add_sentences(
    db: Session, blobs: Blobs, owner: Actor, folder: Path, name: str, rows: Sequence[Mapping[str, Any]], **plan: Any
) -> VersionInfo:
    """Add a data set of *rows* to the task."""
    file = folder / f"{name}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = ImportPlan(**{"role": "test", "hidden": True, **plan})
    return import_dataset(db, blobs, owner, "mood", name, file, made, score=made.role in {"test", "contrast"})


def add_version(
    db: Session,
    blobs: Blobs,
    builder: Actor,
    folder: Path,
    name: str,
    *,
    adapter: str = "handler",
    meta: Mapping[str, Any] | None = None,
    visibility: Visibility = "public",
) -> ModelVersionInfo:
    """Register a model that is never run."""
    place = folder / f"model-{name}"
    place.mkdir(exist_ok=True)
    (place / "handler.py").write_text(f"# {name}\n")
    return register_version(
        db, blobs, builder, "mood", name, adapter=adapter, folder=place, card=CARD, meta=meta, visibility=visibility
    )


def evaluated(
    db: Session,
    blobs: Blobs,
    model: ModelVersionInfo,
    says: Says,
    *,
    throughput: float = 100.0,
    memory: float = 1.0,
    perturbed: Sequence[str] = COUNTED,
    broken: Sequence[str] = (),
    measured: bool = True,
    machine: str = "test",
    sureness: float | None = None,
    unevenness: float = 0.04,
    busy: float = 0.0,
    task: str = "mood",
) -> None:
    """Put in place what running *model* on every data set of the task would have left behind.

    *sureness* is the probability that it gives its answer; without it there are no probabilities. The runs on *broken*
    perturbations failed by the model's fault. *unevenness* is half of the interval of throughput, as a share of it, and
    *busy* the share of the machine that others took meanwhile.
    """
    for version, _ in board_settings.evaluated_versions(db, task):
        examples = pl.read_parquet(blobs.path(version.blob))
        _finish(db, blobs, model, version, PLAIN, _answers(examples, says, sureness))
        if measured:
            halves = {"throughput_half": throughput * unevenness, "memory_half": memory / 50}
            measurements = {
                "throughput": throughput,
                "memory": memory,
                "machine": machine,
                "examples": 200,
                "busy": busy,
                **halves,
            }
            _finish(db, blobs, model, version, MEASURE, None, measurements)
        for name in perturbed:
            variant = variant_of(db, blobs, get_task(db, task), version, variant_name(name))
            table = pl.read_parquet(blobs.path(variant.blob))
            if name in broken:
                add_cell(db, model, version, variant_name(name), "failed", reason="crashed: ValueError: odd case")
            else:
                _finish(db, blobs, model, version, variant_name(name), _answers(table, says))


def _answers(table: pl.DataFrame, says: Says, sureness: float | None = None) -> pl.DataFrame:
    said = [says(row) for row in table.iter_rows(named=True)]
    made = pl.DataFrame({"id": table["id"], "prediction": said}, schema={"id": pl.String, "prediction": pl.String})
    if sureness is None:
        return made
    given = [{label: sureness if label == answer else 1 - sureness for label in LABELS} for answer in said]
    return made.with_columns(probabilities=pl.Series(given, dtype=pl.Struct(dict.fromkeys(LABELS, pl.Float64))))


def _finish(
    db: Session,
    blobs: Blobs,
    model: ModelVersionInfo,
    version: DatasetVersion,
    variant: str,
    predictions: pl.DataFrame | None,
    measurements: Mapping[str, Any] | None = None,
) -> None:
    key = None
    if predictions is not None:
        with blobs.scratch(".parquet") as path:
            predictions.write_parquet(path)
            key = blobs.put_file(path)
    add_cell(db, model, version, variant, "done", predictions=key, measurements=dict(measurements or {}))


def add_cell(
    db: Session, model: ModelVersionInfo, version: DatasetVersion, variant: str, state: str, **values: Any
) -> None:
    """Put a cell in place that is in *state*."""
    ends = {"finished_at": now()} if state in {"done", "failed", "cancelled"} else {}
    with transaction(db):
        cell = Cell(
            model_version_id=model.id, dataset_version_id=version.id, variant=variant, state=state, **ends, **values
        )
        db.add(cell)
        db.flush()
        db.add(CellEvent(cell_id=cell.id, kind=state))


def small_board(db: Session, blobs: Blobs, owner: Actor, builder: Actor, folder: Path) -> None:
    """Make a board of three models on two data sets: one accurate and slow, one middling, one small and fast."""
    add_task(db, owner)
    add_sentences(db, blobs, owner, folder, "test", sentences(120))
    add_sentences(db, blobs, owner, folder, "contrast", sentences(60, grouped=True), role="contrast")
    for name, level, throughput, memory in (
        ("large", 90, 20.0, 8.0),
        ("medium", 80, 60.0, 4.0),
        ("small", 55, 900.0, 0.5),
    ):
        model = add_version(db, blobs, builder, folder, name)
        evaluated(db, blobs, model, up_to(level), throughput=throughput, memory=memory)


def wait_for_standings(db: Session, seconds: float = 60.0) -> None:
    """Wait until no standing is being made."""
    shared = state_of(db).part(KnownStandings)
    with shared.lock:
        thread = shared.thread
    if thread is not None:
        thread.join(seconds)
