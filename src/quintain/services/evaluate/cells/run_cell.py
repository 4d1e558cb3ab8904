"""Compute one leased cell: get the model and the inputs ready, run it, keep what came out.

The inputs are cut from the data set before the model's process is started: what lies in its reach has no answers, no
tags and no ids of ours.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import polars as pl
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from quintain.core.cells import MEASURE, PLAIN, CellState
from quintain.core.errors import BadInput, QuintainError, Unavailable, reason_of
from quintain.core.task import Task
from quintain.engine.cutting import MEASURED_ROWS
from quintain.engine.jobs import CellJob, CellResult
from quintain.engine.loops import Each, Loop, LoopEnd
from quintain.engine.runner import RunnableModel
from quintain.engine.sandbox.layers import NoSandbox
from quintain.engine.sandbox.limits import Outcome, RunEnded
from quintain.engine.scratch import scratch
from quintain.services.access.installation_keys import installation_key
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells import spending
from quintain.services.evaluate.cells.conditions import Conditions, runnable
from quintain.services.evaluate.cells.lifecycle import CellLease
from quintain.services.evaluate.cells.sandbox_wait import put_back
from quintain.services.evaluate.cells.unpacked_model import UnpackedModel
from quintain.services.evaluate.results.compute import compute_figures
from quintain.services.evaluate.results.measurement_gaps import keeps_known
from quintain.services.evaluate.results.variants import VARIANT_ROWS, outdated, perturbed
from quintain.services.evaluate.submissions.few_shot_draw import refuse_shown
from quintain.services.events import ServiceEvent, announce
from quintain.services.models.outside import share_of
from quintain.services.tasks.board_settings import board_spec
from quintain.services.tasks.definitions import get_task
from quintain.services.tasks.machines import class_of
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.queries.evaluate.cells import CellRow
from quintain.store.tables import DatasetVersion, Variant
from quintain.tasks.contract import kind_of

BEATS_PER_LEASE = 6
ABANDON_SECONDS = 0.25
NOISIER = "Measured again, and too unevenly to rank: what was known stands."
FIRST_PAUSE_S = 0.5
LOG_CHARACTERS = 20_000
PERTURBATIONS_KEY = "perturbations"

Recorded = TypeVar("Recorded")
Sessions = Callable[[], AbstractContextManager[Session]]
log = logging.getLogger("quintain.worker")


class Engine(Protocol):
    """Where a cell's model runs: here, or on another machine."""

    def run(self, job: CellJob, progress: Callable[[int], None], stop: threading.Event) -> CellResult:
        """Run *job* and give what came out; raises RunEnded."""


@dataclass(slots=True)
class Beat:
    """Keeps a lease alive in the background, and hears when it is lost."""

    sessions: Sessions
    lease: CellLease
    abandon: threading.Event
    done: int = 0
    lost: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread = field(init=False)

    def __enter__(self) -> Beat:
        """Start beating."""
        # A lease lasts for several beats: after one that failed, the next may be heard. A step waits by itself.
        beat = Loop(f"lease of cell {self.lease.cell_id}", self._beat, every=0.0, longest=0.0, logger=log)
        self._thread = beat.start(self._ended)
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop beating."""
        self._ended.set()
        self._thread.join()

    def _beat(self, each: Each) -> float:
        """Wait until it is time for a sign of life, and give one."""
        if self._wait(self.lease.seconds / BEATS_PER_LEASE):
            raise LoopEnd
        with self.sessions() as db:
            held = evaluate.heartbeat(db, self.lease, done=self.done)
        if not held:
            self.lost.set()
            raise LoopEnd
        return 0.0

    def _wait(self, seconds: float) -> bool:
        """Wait for the next beat; True when the run has ended or must be given up."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self._ended.wait(min(left, ABANDON_SECONDS)):
                return True
            if self.abandon.is_set():
                self.lost.set()
                return True
        return False


def run_leased(
    sessions: Sessions,
    blobs: Blobs,
    engine: Engine,
    lease: CellLease,
    conditions: Conditions,
    *,
    abandon: threading.Event | None = None,
    model: UnpackedModel | None = None,
) -> bool:
    """Compute the leased cell and record how it went; True when a result was stored.

    *abandon* says, when it is set, that the run must be given up and the cell left to another worker. *model* is what
    the worker has unpacked already.
    """
    if model is None:
        with UnpackedModel() as own:
            return run_leased(sessions, blobs, engine, lease, conditions, abandon=abandon, model=own)
    abandon = abandon or threading.Event()

    def fail(reason: str, *, printed: str = "", ours: bool = True) -> None:
        _record(sessions, lease, lambda db: evaluate.fail(db, lease, reason, log=printed, ours=ours))

    def back(error: QuintainError) -> None:
        _record(sessions, lease, lambda db: put_back(db, lease, reason_of(error)))

    try:
        with Beat(sessions, lease, abandon) as beat, scratch("cell") as folder:
            with sessions() as db:
                job = _prepare(db, blobs, lease, folder, conditions, model)
            result = _run(engine, job, sessions, lease, beat)
            predictions = blobs.put_file(job.out) if job.out.exists() else None
            measured = _measurements(job, result, conditions)
            stored = _record(sessions, lease, lambda db: _complete(db, lease, predictions, measured, result))
        if stored:
            keep_figures(sessions, blobs, lease)
        return stored
    except RunEnded as error:
        if error.outcome is Outcome.CANCELLED and abandon.is_set():
            _record(sessions, lease, lambda db: evaluate.release(db, lease))
            return False
        ours = error.outcome in {Outcome.PLATFORM, Outcome.CANCELLED}
        if error.outcome is Outcome.NO_SANDBOX:
            back(error)
            return False
        fail(f"{error.outcome}: {error}", printed=error.log[-LOG_CHARACTERS:], ours=ours)
    except NoSandbox as error:
        back(error)
    except spending.WaitingForBudget:
        _record(sessions, lease, lambda db: spending.wait(db, lease))
    except (QuintainError, OSError) as error:
        # Nothing that the model did: a full disk, a missing blob.
        fail(f"{Outcome.PLATFORM}: {error}")
    except Exception as error:
        # A fault in code of ours: the cell says so, and the worker goes on with the next one.
        log.exception("cell %s", lease.cell_id)
        fail(f"{Outcome.PLATFORM}: {type(error).__name__}: {error}")
    return False


def keep_figures(sessions: Sessions, blobs: Blobs, lease: CellLease) -> None:
    """Compute what a finished cell says, so that nobody who looks has to: who does would compute what failed here."""
    try:
        with sessions() as db:
            row = queries.row(db, lease.cell_id)
            if row is not None:
                task = row.task.name
                compute_figures(db, blobs, get_task(db, task), row)
                announce(db, ServiceEvent.CELL_DONE, task)
    except Exception:  # the cell itself is done
        log.exception("figures of cell %s", lease.cell_id)


def _run(engine: Engine, job: CellJob, sessions: Sessions, lease: CellLease, beat: Beat) -> CellResult:
    """Run *job*; what it cost is recorded, however it ended.

    A run that its share of a budget did not cover waits where others have left something since, or still may.
    """
    try:
        result = engine.run(job, lambda done: setattr(beat, "done", done), beat.lost)
    except RunEnded as error:
        if job.outside.budget is None:
            raise
        if error.outcome is not Outcome.OVER_BUDGET:
            _record_spending(sessions, lease, error.spent)
            raise
        settle_short = partial(
            spending.settle_short,
            lease=lease,
            options=job.model.options,
            outside=job.outside,
            reserved=job.outside.budget,
            spent=error.spent,
        )
        if _record(sessions, lease, settle_short):
            raise spending.WaitingForBudget from error
        raise
    if job.outside.budget is not None:
        _record_spending(sessions, lease, float(result.measurements.get("spent", 0.0)))
    return result


def _record_spending(sessions: Sessions, lease: CellLease, spent: float) -> None:
    _record(sessions, lease, lambda db: spending.record_spending(db, lease, spent))


def _measurements(job: CellJob, result: CellResult, conditions: Conditions) -> Mapping[str, Any]:
    """Return what was measured, with the class of machine that it was measured on."""
    if not job.measured or not result.measurements:
        return result.measurements
    machine = conditions.machine or class_of(result.measurements)
    return {**result.measurements, "machine_class": machine}


def _complete(
    db: Session, lease: CellLease, predictions: str | None, measured: Mapping[str, Any], result: CellResult
) -> bool:
    """Store what came out; of a cell that was measured before, the known figures where the new ones are noisier."""
    row, printed = queries.row(db, lease.cell_id), result.printed[-LOG_CHARACTERS:]
    known = (row.cell.measurements or {}) if row is not None and row.cell.variant == MEASURE else {}
    if row is not None and keeps_known(known, measured):
        measured, predictions = known, row.cell.predictions
        printed = f"{NOISIER}\n{printed}".strip()
    return evaluate.complete(db, lease, predictions=predictions, measurements=measured, rows=result.rows, log=printed)


def _record(sessions: Sessions, lease: CellLease, write: Callable[[Session], Recorded]) -> Recorded:
    """Let *write* record how a run went; while the database is away, again, until the lease would have lapsed."""
    until = time.monotonic() + lease.seconds
    pause = FIRST_PAUSE_S
    while True:
        try:
            with sessions() as db:
                return write(db)
        except (SQLAlchemyError, Unavailable) as error:
            if time.monotonic() + pause > until:
                raise
            log.warning("cell %s: what became of it is written again in %g s: %s", lease.cell_id, pause, error)
            time.sleep(pause)
            pause *= 2


def _prepare(
    db: Session, blobs: Blobs, lease: CellLease, folder: Path, conditions: Conditions, unpacked: UnpackedModel
) -> CellJob:
    row = queries.row(db, lease.cell_id)
    if row is None or row.model_version.blob is None:
        raise RunEnded(Outcome.PLATFORM, "Cell {cell} or its model's artefact is gone.", cell=lease.cell_id)
    task = get_task(db, row.task.name)
    blob = row.model_version.blob
    if conditions.sandbox == "off":
        unpacked.drop()  # without its walls, a model could leave notes in its folder for its next run
    model = runnable(row.model_version.adapter, unpacked.folder(blob, blobs.path(blob)), conditions)
    inputs = folder / "inputs.parquet"
    _write_inputs(db, blobs, task, row, inputs)
    if row.cell.variant == PLAIN:
        _refuse_shown(task, model, inputs)
    return CellJob(
        task=task,
        model=replace(model, key=blob),
        inputs=inputs,
        out=folder / "predictions.parquet",
        measured=lease.variant == MEASURE,
        scored=lease.variant == PLAIN,
        known=_scored(db, row) if lease.variant == MEASURE else {},
        afresh=bool(row.cell.measurements),
        seed=int(row.dataset_version.hash[:12], 16),
        limits=conditions.limits,
        sandbox=conditions.sandbox,
        outside=spending.allow(
            db, lease, model, share_of(conditions.outside, model.adapter, model.options), task, inputs
        ),
        failure_limit=board_spec(db, row.task.name).failure_limit,
    )


def _refuse_shown(task: Task, model: RunnableModel, inputs: Path) -> None:
    """End a run on examples that the model is shown before it is asked."""
    if "few_shot" not in model.options:
        return
    try:
        refuse_shown(task, model.folder, model.options, pl.read_parquet(inputs))
    except BadInput as error:
        raise RunEnded(Outcome.MANIFEST, error.message, remedy=error.remedy) from error


def _scored(db: Session, row: CellRow) -> Mapping[str, Any]:
    """Return what was measured of the model's scored run on the same data; nothing while it is not over."""
    rows = queries.rows(
        db, model_version_id=row.model_version.id, dataset_version_id=row.dataset_version.id, states=[CellState.DONE]
    )
    return next((plain.cell.measurements or {} for plain in rows if plain.cell.variant == PLAIN), {})


def _write_inputs(db: Session, blobs: Blobs, task: Task, row: CellRow, target: Path) -> None:
    columns = ["id", *(item.name for item in kind_of(task).fields(task))]
    version = row.dataset_version
    if row.cell.variant in {PLAIN, MEASURE}:
        source = pl.scan_parquet(blobs.path(version.blob))
        if row.cell.variant == MEASURE:
            source = source.sort("id").head(MEASURED_ROWS)  # ids are hashes: a sample that is the same for all
    else:
        source = pl.scan_parquet(blobs.path(variant_of(db, blobs, task, version, row.cell.variant).blob))
    source.select(columns).sink_parquet(target)


def variant_of(db: Session, blobs: Blobs, task: Task, version: DatasetVersion, name: str) -> Variant:
    """Return the variant *name* of a data set version, made now if nobody has yet: the same for every model.

    Its seed is a secret of the workspace, so that nobody makes the same texts from published inputs.
    """
    stored = queries.variant(db, version.id, name)
    if stored is not None:
        return stored
    if outdated(name):
        raise RunEnded(
            Outcome.PLATFORM, "{name} can no longer be made: the perturbation has a newer version.", name=name
        )
    source = pl.scan_parquet(blobs.path(version.blob)).sort("id").head(VARIANT_ROWS).collect()
    seed = _seed(db, version, name)
    table = perturbed(task, source, name.rpartition(".v")[0], seed=seed, language=version.language or task.language)
    with blobs.scratch(".parquet") as path:
        table.write_parquet(path)
        key = blobs.put_file(path)
    with transaction(db):
        lock(db, f"variant {version.id}/{name}")
        variant = queries.variant(db, version.id, name)
        if variant is None:
            variant = Variant(
                dataset_version_id=version.id, name=name, hash=key, blob=key, rows=table.height, secret=True
            )
            db.add(variant)
            db.flush()
        return variant


def _seed(db: Session, version: DatasetVersion, name: str) -> int:
    """Return the seed of a variant: the same whenever it is made in this workspace, and nowhere else."""
    key = installation_key(db, PERTURBATIONS_KEY)
    digest = hmac.new(key, f"{version.hash}/{name}".encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:8]) >> 1  # a signed column holds it
