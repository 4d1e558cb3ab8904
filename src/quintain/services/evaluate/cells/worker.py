"""A worker: fills in missing cells, leases one after another, and computes them until it is told to stop.

Nothing but that ends it. What goes wrong around a cell (a database that is away for a moment, a full disk, a fault of
ours) is logged, and tried again after a pause that grows.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from sqlalchemy.orm import Session

from quintain.core.cells import MEASURE, CellState
from quintain.engine.loops import Each, Loop, LoopBook, LoopEnd
from quintain.engine.scratch import sweep
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.lifecycle import CellLease
from quintain.services.evaluate.cells.measure_again import queue_disturbed
from quintain.services.evaluate.cells.run_cell import Engine, Sessions, run_leased
from quintain.services.evaluate.cells.sandbox_wait import hold_back, refused_adapters
from quintain.services.evaluate.cells.unpacked_model import UnpackedModel
from quintain.services.evaluate.submissions import tryouts
from quintain.services.evaluate.training import trainings
from quintain.services.evaluate.training.trainings import Trainer
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate import cells as queries
from quintain.store.queries.evaluate.cells import LastCell
from quintain.store.queries.evaluate.trainings import any_unfinished

IDLE_SECONDS = 2.0
FILL_SECONDS = 10.0  # between two looks for cells that are missing while others are queued
SETTLE_SECONDS = 60.0  # between two looks for measurements that were disturbed
FIRST_PAUSE_S = 1.0
PATIENCE = 8  # failures in a row, after which a worker that is to end by itself does so: about two minutes

log = logging.getLogger("quintain.worker")


def worker_name() -> str:
    """Name this worker so that a person can find its machine and process."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(2)}"


@dataclass(slots=True)
class Work:
    """What a worker is given: see `work`."""

    sessions: Sessions
    blobs: Blobs
    engine: Engine
    conditions: Conditions
    stop: threading.Event
    until_empty: bool = False
    task: str | None = None
    tell: Callable[[str], None] = log.info
    abandon: threading.Event | None = None
    trainer: Trainer | None = None
    name: str = field(default_factory=worker_name)
    last: LastCell | None = None
    variant: str | None = None
    model: UnpackedModel = field(default_factory=UnpackedModel)
    stored: int = 0
    _looked: bool = False
    _fill_at: float = 0.0
    _settle_at: float = 0.0
    _leases: dict[tuple[int, int], datetime | None] = field(default_factory=dict)

    def next_lease(self) -> CellLease | None:
        """Lease the next cell; where there is none, and now and then, add the cells that are missing first.

        New models that only a worker can try are tried before: their cells wait for it.
        """
        if not self._looked:
            self._look_at_sandbox()
        while self._try_next():
            continue
        with self.sessions() as db:
            claim = partial(
                evaluate.claim,
                db,
                self.name,
                task=self.task,
                seconds=self.conditions.lease_seconds,
                last=self.last,
                without=refused_adapters(self.conditions.probe(), self.conditions.sandbox),
                machine=self.conditions.machine or None,
                variant=self.variant,
                alone=self.conditions.is_idle(),
            )
            if time.monotonic() >= self._fill_at:  # what is new may be more urgent than what is queued
                self._fill(db)
            lease = claim()
            if lease is None and self._fill(db):
                lease = claim()
        if lease is None:
            self._look_at_sandbox()
        self.last = lease.last if lease else None
        return lease

    def _fill(self, db: Session) -> int:
        """Add the cells that are missing; later again, although there may always be something queued."""
        added = evaluate.fill(db, self.task)
        self._fill_at = time.monotonic() + FILL_SECONDS
        return added

    def step(self, each: Each) -> float:
        """Do what is next; gives how many seconds to wait for more."""
        try:
            lease = self.next_lease()
            if lease is not None:
                self.tell(f"cell {lease.cell_id}: {lease.title}")
                abandon, model = self.abandon, self.model
                self.stored += run_leased(
                    self.sessions, self.blobs, self.engine, lease, self.conditions, abandon=abandon, model=model
                )
                return 0.0
            if self.train_next():
                self.model.drop()
                return 0.0
            if self.until_empty and self.nothing_left():
                raise LoopEnd
            if not self.until_empty and self._measure_disturbed():
                return 0.0
        except LoopEnd:
            raise
        except Exception:
            self.model.drop()  # it may be what went wrong
            raise
        return IDLE_SECONDS

    def _measure_disturbed(self) -> int:
        """Queue, now and then, what was measured while the machine was disturbed: it may be quieter now."""
        if time.monotonic() < self._settle_at or self.variant not in {None, MEASURE}:
            return 0
        self._settle_at = time.monotonic() + SETTLE_SECONDS
        with self.sessions() as db:
            return queue_disturbed(db, task=self.task, machine=self.conditions.machine or None)

    def train_next(self) -> bool:
        """Train a recipe, where there is one and no cell waits."""
        if self.trainer is None:
            return False
        return trainings.train_next(
            self.sessions, self.blobs, self.trainer, self.name, self.stop, task=self.task, tell=self.tell
        )

    def _try_next(self) -> bool:
        if self.stop.is_set():
            return False
        return tryouts.try_next(
            self.sessions, self.blobs, self.engine, self.conditions, self.name, task=self.task, tell=self.tell
        )

    def _look_at_sandbox(self) -> None:
        """See to it that cells which this machine may not run say so, and that those which it may do not any more."""
        with self.sessions() as db:
            hold_back(db, self.conditions.probe(), self.conditions.sandbox)
        self._looked = True

    def nothing_left(self) -> bool:
        """Whether no cell waits, also for its delay, and none is running that may come back to the queue.

        A cell of another machine's may come back as long as nobody has seen its worker prolong the lease.
        """
        with self.sessions() as db:
            if self.trainer is not None and any_unfinished(db, self.task):
                return False
            unfinished = queries.unfinished(
                db, self.task, machine=self.conditions.machine or None, variant=self.variant
            )
        return not any(self._may_come(*cell) for cell in unfinished)

    def _may_come(
        self, number: int, state: str, worker: str | None, generation: int, lease_until: datetime | None
    ) -> bool:
        process = self.name.rpartition(":")[0]
        if state == CellState.QUEUED or lease_until is None or (worker or "").rpartition(":")[0] == process:
            return True
        first = self._leases.setdefault((number, generation), lease_until)
        return first is None or lease_until <= first


def work(  # noqa: PLR0913 - what a worker works with, and which work it takes
    sessions: Sessions,
    blobs: Blobs,
    engine: Engine,
    conditions: Conditions,
    stop: threading.Event,
    *,
    until_empty: bool = False,
    task: str | None = None,
    variant: str | None = None,
    tell: Callable[[str], None] = log.info,
    abandon: threading.Event | None = None,
    trainer: Trainer | None = None,
    book: LoopBook | None = None,
    number: int = 1,
) -> int:
    """Compute cells until *stop* is set or, with *until_empty*, nothing is left; give how many were stored.

    With *task*, only that task's cells are computed, with *variant* only those of that one. *tell* hears of each. When
    *abandon* is set, the cell in hand is given up and left to others. With *trainer*, recipes are trained where no cell
    waits. How that goes on is written into the *book* of this process, in which this worker has a *number*.
    """
    job = Work(sessions, blobs, engine, conditions, stop, until_empty, task, tell, abandon, trainer, variant=variant)
    loop = Loop(f"cells {number}", job.step, every=FIRST_PAUSE_S, logger=log)
    with UnpackedModel() as job.model, (book or LoopBook()).holding(loop):
        loop.run(stop, patience=PATIENCE if until_empty else None)
    return job.stored


def work_together(
    sessions: Sessions,
    blobs: Blobs,
    engine: Engine,
    conditions: Conditions,
    stop: threading.Event,
    *,
    parallel: int,
    until_empty: bool = False,
    abandon: threading.Event | None = None,
    trainer: Trainer | None = None,
    book: LoopBook | None = None,
) -> int:
    """Run *parallel* workers in this process; give how many cells they stored together."""
    gone = sweep()
    if gone:
        log.info("%d temporary folders of processes that are gone were removed", gone)
    with ThreadPoolExecutor(parallel, thread_name_prefix="worker") as pool:
        running = [
            pool.submit(
                work,
                sessions,
                blobs,
                engine,
                conditions,
                stop,
                until_empty=until_empty,
                abandon=abandon,
                trainer=trainer if number == 0 else None,  # one of them trains, the others go on with cells
                book=book,
                number=number + 1,
            )
            for number in range(parallel)
        ]
        return sum(one.result() for one in running)
