"""One cell's work, and the engine that does it on this machine."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from quintain.adapters.contract import ADAPTERS, Outside, Predict
from quintain.core.task import Task
from quintain.engine.asking import FAILURE_LIMIT
from quintain.engine.measuring import OpenRunner, measure
from quintain.engine.pace import Pace
from quintain.engine.predicting import prediction_table, write_predictions
from quintain.engine.runner import ModelRunner, RunnableModel, open_runner
from quintain.engine.sandbox.layers import NoSandbox
from quintain.engine.sandbox.limits import Limits, Outcome, RunEnded

TAKEN = "taken.lock"


@dataclass(frozen=True, slots=True)
class CellJob:
    """What a cell's run needs: the model, a Parquet file of `id` and inputs, and where the predictions go.

    *failure_limit* is the share of examples that may fail before there is no figure.
    """

    task: Task
    model: RunnableModel
    inputs: Path
    out: Path
    measured: bool
    seed: int
    limits: Limits
    sandbox: str = "full"
    outside: Outside = field(default_factory=Outside)
    failure_limit: float = FAILURE_LIMIT


@dataclass(frozen=True, slots=True)
class CellResult:
    """What came out, beside the predictions in the job's file; a measurement has those of what it timed."""

    rows: int
    measurements: Mapping[str, Any] = field(default_factory=dict)
    printed: str = ""


def run_job(
    job: CellJob,
    progress: Callable[[int], None],
    stop: threading.Event,
    load: Callable[[RunnableModel], Predict] | None = None,
    pace: Pace | None = None,
) -> CellResult:
    """Run *job* in this process's sandbox; raises RunEnded when the model or the platform fails, or *stop* is set.

    *load* loads models of our own, which need no sandbox; *pace* knows how fast the machine can be.
    """
    try:
        return _run(job, progress, stop, load, pace)
    except NoSandbox as error:
        raise RunEnded(Outcome.NO_SANDBOX, error.message, remedy=error.remedy) from error


def _run(
    job: CellJob,
    progress: Callable[[int], None],
    stop: threading.Event,
    load: Callable[[RunnableModel], Predict] | None,
    pace: Pace | None,
) -> CellResult:
    def advance(done: int) -> None:
        if stop.is_set():
            raise RunEnded(Outcome.CANCELLED, "The run was cancelled, or another worker has taken it over.")
        progress(done)

    def open_model() -> AbstractContextManager[ModelRunner]:
        return open_runner(
            job.model,
            job.task,
            limits=job.limits,
            sandbox=job.sandbox,
            outside=job.outside,
            measured=job.measured,
            load=load,
        )

    if job.measured:
        return _measure(job, open_model, advance, pace)
    with open_model() as runner:
        try:
            return _answer(job, runner, advance)
        except RunEnded as error:
            error.facts = dict(runner.facts())
            error.spent = float(error.facts.get("spent", 0.0))
            raise


def _answer(job: CellJob, runner: ModelRunner, advance: Callable[[int], None]) -> CellResult:
    failures = write_predictions(
        runner,
        job.task,
        job.inputs,
        job.out,
        batch_size=job.model.batch_size,
        seed=job.seed,
        progress=advance,
        failure_limit=job.failure_limit,
    )
    return CellResult(failures.rows, {**runner.facts(), "failed": failures.count}, runner.printed())


def _measure(job: CellJob, open_model: OpenRunner, advance: Callable[[int], None], pace: Pace | None) -> CellResult:
    """Measure the model; what it answered meanwhile is kept, to be compared with the answers that are scored."""
    table = pl.read_parquet(job.inputs)
    inputs = table.drop("id").to_dicts()
    measured = measure(
        open_model, job.task, inputs, batch_size=job.model.batch_size, pace=pace, progress=lambda _: advance(0)
    )
    advance(table.height)
    if measured is None:
        return CellResult(table.height)
    rows, answers = zip(*measured.answered, strict=True)
    prediction_table(job.task, table["id"][list(rows)], answers).write_parquet(job.out)
    return CellResult(table.height, {**measured.as_dict(), "layers": measured.layers}, measured.printed)


class LocalEngine:
    """Runs cells on this machine. A measurement has its CPUs to itself: the others wait for it, and it for them."""

    def __init__(self, lock_folder: Path) -> None:
        self.lock_folder = lock_folder
        self.pace = Pace()
        self._hand = _Hand()

    def run(self, job: CellJob, progress: Callable[[int], None], stop: threading.Event) -> CellResult:
        """Run *job* when the machine is free for it."""
        with self._machine(alone=job.measured):
            try:
                return run_job(job, progress, stop, self._load, self.pace)
            except BaseException:
                self._hand.loaded = None
                raise

    def _load(self, model: RunnableModel) -> Predict:
        """Load a model that is our own code, or give it as this thread loaded it for the run before.

        Submitted code gets a process of its own for every run, however long it takes to load: one that has seen the
        plain texts could remember them, and answer their perturbed twins with what it said before.
        """
        key = (model.adapter, model.key)
        if model.key and self._hand.loaded and self._hand.loaded[0] == key:
            return self._hand.loaded[1]
        self._hand.loaded = None
        predict = ADAPTERS.get(model.adapter)().load(model.folder)
        self._hand.loaded = (key, predict)
        return predict

    @contextmanager
    def _machine(self, *, alone: bool) -> Iterator[None]:
        """Hold the machine, shared or alone, across all workers on it.

        The gate is passed by everybody and kept shut by a measurement that waits, so that a stream of short runs
        cannot keep it waiting for ever.
        """
        self.lock_folder.mkdir(parents=True, exist_ok=True)
        with _locked(self.lock_folder / "gate.lock", fcntl.LOCK_EX) as gate:
            machine = os.open(self.lock_folder / "machine.lock", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(machine, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
                fcntl.flock(gate, fcntl.LOCK_UN)
                yield
            finally:
                os.close(machine)


@contextmanager
def machine_taken(lock_folder: Path) -> Iterator[None]:
    """Mark the machine as taken for as long as the block runs: nothing can be measured on it."""
    lock_folder.mkdir(parents=True, exist_ok=True)
    with _locked(lock_folder / TAKEN, fcntl.LOCK_SH):
        yield


def is_machine_free(lock_folder: Path) -> bool:
    """Whether nobody has taken the machine for something else than cells."""
    try:
        with _locked(lock_folder / TAKEN, fcntl.LOCK_EX | fcntl.LOCK_NB):
            return True
    except FileNotFoundError:
        return True
    except BlockingIOError:
        return False


class _Hand(threading.local):
    """What a thread has loaded: a model of our own, by adapter and hash."""

    loaded: tuple[tuple[str, str], Predict] | None = None


@contextmanager
def _locked(path: Path, how: int) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, how)
        yield descriptor
    finally:
        os.close(descriptor)
