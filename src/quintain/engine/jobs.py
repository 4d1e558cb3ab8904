"""One cell's work, and the engine that does it on this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from quintain.adapters.contract import ADAPTERS, Outside, Predict
from quintain.core.task import Task
from quintain.engine.asking import FAILURE_LIMIT
from quintain.engine.cutting import process_count, process_rows
from quintain.engine.machine_hold import Hold, MachineHold, NoHold
from quintain.engine.machine_load import machine
from quintain.engine.measuring import OpenRunner, measure
from quintain.engine.pace import Pace
from quintain.engine.predicting import PredictionWriter, prediction_table, write_predictions
from quintain.engine.runner import ModelRunner, RunnableModel, open_runner
from quintain.engine.sandbox.layers import NoSandbox
from quintain.engine.sandbox.limits import Limits, Outcome, RunEnded
from quintain.engine.scored import run_scored
from quintain.engine.sessions import read_session


@dataclass(frozen=True, slots=True)
class CellJob:
    """What a cell's run needs: the model, a Parquet file of `id` and inputs, and where the predictions go.

    *failure_limit* is the share of examples that may fail before there is no figure. A run that is *scored* is timed
    where the model is submitted code. One that is *measured* only times: *known* is what was measured of the scored run
    (what `run_scored` returns), and with *afresh* its times are left aside.
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
    scored: bool = False
    known: Mapping[str, Any] = field(default_factory=dict)
    afresh: bool = False

    @property
    def submitted(self) -> bool:
        """Whether the model is code of somebody else's, which runs in the sandbox."""
        adapter = ADAPTERS.get(self.model.adapter)
        return adapter.place == "sandbox" and not adapter.ours

    @property
    def alone(self) -> bool:
        """Whether it has the machine to itself, at least at first."""
        return self.measured or (self.scored and self.submitted)


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
    hold: Hold | None = None,
) -> CellResult:
    """Run *job* in this process's sandbox; raises RunEnded when the model or the platform fails, or *stop* is set.

    *load* loads models of our own, which need no sandbox; *pace* knows how fast the machine can be, which *hold* holds.
    """
    try:
        return _run(job, progress, stop, load, pace or Pace(), hold or NoHold())
    except NoSandbox as error:
        raise RunEnded(Outcome.NO_SANDBOX, error.message, remedy=error.remedy) from error


def _run(
    job: CellJob,
    progress: Callable[[int], None],
    stop: threading.Event,
    load: Callable[[RunnableModel], Predict] | None,
    pace: Pace,
    hold: Hold,
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
        return _measure(job, open_model, advance, pace, hold)
    if job.alone:
        return _score(job, open_model, advance, pace, hold)
    with open_model() as runner:
        try:
            return _answer(job, runner, advance, pace)
        except RunEnded as error:
            error.facts = dict(runner.facts())
            error.spent = float(error.facts.get("spent", 0.0))
            raise


def _answer(job: CellJob, runner: ModelRunner, advance: Callable[[int], None], pace: Pace) -> CellResult:
    failures = write_predictions(
        runner,
        job.task,
        job.inputs,
        job.out,
        batch_size=job.model.batch_size,
        seed=job.seed,
        progress=advance,
        failure_limit=job.failure_limit,
        pace=pace,
    )
    return CellResult(failures.rows, {**runner.facts(), "failed": failures.count}, runner.printed())


def _score(job: CellJob, open_model: OpenRunner, advance: Callable[[int], None], pace: Pace, hold: Hold) -> CellResult:
    rows: int = pl.scan_parquet(job.inputs).select(pl.len()).collect().item()
    writer = PredictionWriter(
        job.task,
        job.inputs,
        job.out,
        batch_size=job.model.batch_size,
        seed=job.seed,
        progress=advance,
        failure_limit=job.failure_limit,
        shares=process_count(rows, job.model.batch_size),
    )
    measured, printed = run_scored(open_model, writer, hold, pace)
    return CellResult(rows, measured, printed)


def _measure(
    job: CellJob, open_model: OpenRunner, advance: Callable[[int], None], pace: Pace, hold: Hold
) -> CellResult:
    """Measure the model; what it answered meanwhile is kept, to be compared with the answers that are scored."""

    def open_alone() -> AbstractContextManager[ModelRunner]:
        hold.alone()
        return open_model()

    table = pl.read_parquet(job.inputs)
    timing = {} if job.afresh else job.known.get("timing", {})
    here = timing.get("machine") == machine() and timing.get("batch_size") == job.model.batch_size
    measured = measure(
        open_alone,
        job.task,
        table.drop("id").to_dicts(),
        batch_size=job.model.batch_size,
        rows=process_rows(table.height, job.model.batch_size) if job.submitted else None,
        known=[read_session(session) for session in timing["sessions"]] if here else [],
        layers=timing.get("layers"),
        asks_again="asked_again" not in job.known,
        pace=pace,
        progress=lambda _: advance(0),
    )
    advance(table.height)
    if measured is None:
        return CellResult(table.height)
    if measured.answered:
        rows, answers = zip(*measured.answered, strict=True)
        prediction_table(job.task, table["id"][list(rows)], answers).write_parquet(job.out)
    return CellResult(table.height, {**measured.as_dict(), "layers": measured.layers}, measured.printed)


class LocalEngine:
    """Runs cells on this machine. What is timed has its CPUs to itself: the others wait for it, and it for them."""

    def __init__(self, lock_folder: Path) -> None:
        self.lock_folder = lock_folder
        self.pace = Pace()
        self._hand = _Hand()

    def run(self, job: CellJob, progress: Callable[[int], None], stop: threading.Event) -> CellResult:
        """Run *job* when the machine is free for it."""
        hold = MachineHold(self.lock_folder)
        try:
            if not job.alone:  # else it takes the machine where it begins to time
                hold.share()
            return run_job(job, progress, stop, self._load, self.pace, hold)
        except BaseException:
            self._hand.loaded = None
            raise
        finally:
            hold.close()

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


class _Hand(threading.local):
    """What a thread has loaded: a model of our own, by adapter and hash."""

    loaded: tuple[tuple[str, str], Predict] | None = None
