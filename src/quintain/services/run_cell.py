"""Compute one leased cell: get the model and the inputs ready, run it, keep what came out.

The inputs are cut from the data set before the model's process is started: what lies in its reach has no answers, no
tags and no ids of ours.
"""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import polars as pl
from sqlalchemy.orm import Session

from quintain.adapters.contract import Outside
from quintain.adapters.manifest import read_manifest
from quintain.core.errors import BadInput, QuintainError
from quintain.core.task import Task
from quintain.engine.jobs import CellJob, CellResult
from quintain.engine.runner import RunnableModel
from quintain.engine.sandbox.limits import Limits, Outcome, RunEnded
from quintain.models import artefact
from quintain.perturb.contract import perturbation
from quintain.perturb.tables import perturb_table
from quintain.services import evaluate
from quintain.services.environments import Environments
from quintain.services.evaluate import VARIANT_ROWS, VARIANT_SEED, Lease
from quintain.services.machines import class_of
from quintain.services.tasks import get_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries import cells as queries
from quintain.store.queries.cells import MEASURE, PLAIN, CellRow
from quintain.store.tables import DatasetVersion, Variant
from quintain.tasks.contract import kind_of

BEATS_PER_LEASE = 6
ABANDON_SECONDS = 0.25
MEASURED_EXAMPLES = 200
LOG_CHARACTERS = 20_000

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
    lease: Lease
    abandon: threading.Event
    done: int = 0
    lost: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread = field(init=False)

    def __enter__(self) -> Beat:
        """Start beating."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop beating."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._wait(self.lease.seconds / BEATS_PER_LEASE):
            with self.sessions() as db:
                if not evaluate.heartbeat(db, self.lease, done=self.done):
                    self.lost.set()
                    return

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


@dataclass(frozen=True, slots=True)
class Conditions:
    """The same for every model: limits, how strong the sandbox must be, what may be reached and installed.

    *machine* names the class of the machine that models are run on, where it is known before they are.
    """

    limits: Limits = field(default_factory=Limits)
    sandbox: str = "full"
    outside: Outside = field(default_factory=Outside)
    environments: Environments | None = None
    lease_seconds: float = evaluate.LEASE_SECONDS
    machine: str = ""


def run_leased(
    sessions: Sessions,
    blobs: Blobs,
    engine: Engine,
    lease: Lease,
    conditions: Conditions,
    *,
    abandon: threading.Event | None = None,
) -> bool:
    """Compute the leased cell and record how it went; True when a result was stored.

    *abandon* says, when it is set, that the run must be given up and the cell left to another worker.
    """
    abandon = abandon or threading.Event()
    try:
        with Beat(sessions, lease, abandon) as beat, tempfile.TemporaryDirectory(prefix="quintain-cell-") as name:
            with sessions() as db:
                job = _prepare(db, blobs, lease, Path(name), conditions)
            result = engine.run(job, lambda done: setattr(beat, "done", done), beat.lost)
            predictions = None if job.measured else blobs.put_file(job.out)
        with sessions() as db:
            return evaluate.complete(
                db,
                lease,
                predictions=predictions,
                measurements=_measurements(job, result, conditions),
                rows=result.rows,
                log=result.printed[-LOG_CHARACTERS:],
            )
    except RunEnded as error:
        ours = error.outcome in {Outcome.PLATFORM, Outcome.CANCELLED}
        with sessions() as db:
            if error.outcome is Outcome.CANCELLED and abandon.is_set():
                evaluate.release(db, lease)
                return False
            evaluate.fail(db, lease, f"{error.outcome}: {error}", log=error.log[-LOG_CHARACTERS:], ours=ours)
    except (QuintainError, OSError) as error:
        # Nothing that the model did: a full disk, a missing blob, a machine without a sandbox.
        with sessions() as db:
            evaluate.fail(db, lease, f"{Outcome.PLATFORM}: {error}", ours=True)
    except Exception as error:
        # A fault in code of ours: the cell says so, and the worker goes on with the next one.
        log.exception("cell %s", lease.cell_id)
        with sessions() as db:
            evaluate.fail(db, lease, f"{Outcome.PLATFORM}: {type(error).__name__}: {error}", ours=True)
    return False


def _measurements(job: CellJob, result: CellResult, conditions: Conditions) -> Mapping[str, Any]:
    """Give what was measured, with the class of machine that it was measured on."""
    if not job.measured or not result.measurements:
        return result.measurements
    machine = conditions.machine or class_of(result.measurements)
    return {**result.measurements, "machine_class": machine}


def _prepare(db: Session, blobs: Blobs, lease: Lease, folder: Path, conditions: Conditions) -> CellJob:
    row = queries.row(db, lease.cell_id)
    if row is None or row.model_version.blob is None:
        raise RunEnded(Outcome.PLATFORM, f"Cell {lease.cell_id} or its model's artefact is gone.")
    task = get_task(db, row.task.name)
    model_folder = folder / "model"
    artefact.unpack(blobs.path(row.model_version.blob), model_folder)
    inputs = folder / "inputs.parquet"
    _write_inputs(db, blobs, task, row, inputs)
    return CellJob(
        task=task,
        model=runnable(row.model_version.adapter, model_folder, conditions),
        inputs=inputs,
        out=folder / "predictions.parquet",
        measured=lease.variant == MEASURE,
        seed=int(row.dataset_version.hash[:12], 16),
        limits=conditions.limits,
        sandbox=conditions.sandbox,
        outside=conditions.outside,
    )


def runnable(adapter: str, folder: Path, conditions: Conditions) -> RunnableModel:
    """Say how the unpacked model in *folder* is run, with its own packages at hand."""
    try:
        manifest = read_manifest(folder)
        packages = conditions.environments.packages(folder) if conditions.environments else ()
    except BadInput as error:
        raise RunEnded(Outcome.CRASHED, error.message, remedy=error.remedy) from error
    return RunnableModel(
        folder=folder, adapter=adapter, options=manifest.options, packages=packages, batch_size=manifest.batch_size
    )


def _write_inputs(db: Session, blobs: Blobs, task: Task, row: CellRow, target: Path) -> None:
    columns = ["id", *(item.name for item in kind_of(task).fields(task))]
    version = row.dataset_version
    if row.cell.variant in {PLAIN, MEASURE}:
        source = pl.scan_parquet(blobs.path(version.blob))
        if row.cell.variant == MEASURE:
            source = source.sort("id").head(MEASURED_EXAMPLES)  # ids are hashes: a sample that is the same for all
    else:
        source = pl.scan_parquet(blobs.path(variant_of(db, blobs, task, version, row.cell.variant).blob))
    source.select(columns).sink_parquet(target)


def variant_of(db: Session, blobs: Blobs, task: Task, version: DatasetVersion, name: str) -> Variant:
    """Give the variant *name* of a data set version, made now if nobody has yet: the same for every model."""
    found = queries.variant(db, version.id, name)
    if found is not None:
        return found
    if evaluate.outdated(name):
        raise RunEnded(Outcome.PLATFORM, f"{name} can no longer be made: the perturbation has a newer version.")
    source = pl.scan_parquet(blobs.path(version.blob)).sort("id").head(VARIANT_ROWS).collect()
    table = perturb_table(task, source, perturbation(name.rpartition(".v")[0]), seed=VARIANT_SEED)
    with blobs.scratch(".parquet") as path:
        table.write_parquet(path)
        key = blobs.put_file(path)
    with transaction(db):
        made = queries.variant(db, version.id, name)
        if made is None:
            made = Variant(dataset_version_id=version.id, name=name, hash=key, blob=key, rows=table.height)
            db.add(made)
            db.flush()
        return made
