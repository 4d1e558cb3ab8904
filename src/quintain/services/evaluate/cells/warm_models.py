"""Talking to submitted models: a few of them are kept warm, each in its own sandbox, and closed when nobody asks.

A process that has died is started again by the next call. Calls of one model wait for each other; different models
answer side by side.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from quintain.adapters.contract import ADAPTERS, is_ours
from quintain.core.errors import Conflict, Unavailable
from quintain.core.task import Task
from quintain.engine.loops import Each, Loop, LoopBook, LoopEnd, straight
from quintain.engine.runner import CallRunner, ModelRunner, RunnableModel, open_runner
from quintain.engine.sandbox.limits import RunEnded
from quintain.engine.scratch import scratch
from quintain.models import artefact
from quintain.models.contract import Batch
from quintain.services.evaluate.cells.conditions import Conditions, runnable
from quintain.services.evaluate.cells.run_cell import Sessions
from quintain.services.evaluate.cells.spending import charged_call
from quintain.services.models.ask import IN_PROCESS
from quintain.services.models.ask import AdapterRunner as Asking
from quintain.services.models.registry import ModelVersionInfo
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs

WARM = 4
IDLE_SECONDS = 300.0
CALL_SECONDS = 10.0
LIFE_SECONDS = 24 * 3600.0
TIDY_SECONDS = 30.0


@dataclass(slots=True)
class WarmModel:
    """One model that is loaded. *lock* lets one call in at a time."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    runner: ModelRunner | None = None
    stack: ExitStack = field(default_factory=ExitStack)
    used: float = field(default_factory=time.monotonic)
    model: RunnableModel | None = None
    task: Task | None = None

    def close(self) -> None:
        """End the process, if there is one."""
        self.runner = None
        self.stack.close()
        self.stack = ExitStack()


class LiveModels:
    """Runs submitted models for people who type. It is one runner for every adapter but the built-in."""

    def __init__(
        self,
        sessions: Sessions,
        conditions: Conditions,
        *,
        warm: int = WARM,
        idle_seconds: float = IDLE_SECONDS,
        book: LoopBook | None = None,
    ) -> None:
        # A live model waits for people most of its life, so it is the call that is limited, not the whole run.
        limits = replace(conditions.limits, call_seconds=CALL_SECONDS, wall_seconds=LIFE_SECONDS)
        self._conditions = replace(conditions, limits=limits)
        self._sessions = sessions
        self._kept = warm
        self._book = book or LoopBook()
        self._idle_seconds = idle_seconds
        self._warm: dict[str, WarmModel] = {}
        self._lock = threading.Lock()
        self._loop: Loop | None = None
        self._tidying: threading.Thread | None = None
        self._closed = threading.Event()

    def __call__(self, version: ModelVersionInfo, blobs: Blobs, batch: Batch) -> list[Any]:
        """Return the raw answers of *version* to *batch*; a model that has died since is started once more."""
        with self._hold(version.hash) as warm:
            if warm.runner is not None:
                try:
                    return self._ask(warm, version, batch)
                except RunEnded:
                    warm.close()
            try:
                self._start(warm, version, blobs)
                self._make_room(version.hash)
                return self._ask(warm, version, batch)
            except BaseException as error:
                warm.close()
                if not isinstance(error, RunEnded):
                    raise
                raise Unavailable(
                    "Model '{ref}' gave no answer: {message}",
                    ref=version.ref,
                    message=error.message,
                    remedy="Its builder can see its logs.",
                    code="model_failed",
                ) from error

    def _ask(self, warm: WarmModel, version: ModelVersionInfo, batch: Batch) -> list[Any]:
        """Ask a loaded model; where that costs money, within the budgets, and recorded with what runs have cost."""
        runner, model, task = warm.runner, warm.model, warm.task
        if runner is None or model is None or task is None:
            raise Conflict("Model '{ref}' is not loaded.", ref=version.ref)
        if not isinstance(runner, CallRunner):
            return runner.predict(batch).answers
        with charged_call(self._sessions, version.id, task, model, self._conditions.outside, batch) as call:
            before = float(runner.facts().get("spent", 0.0))
            runner.grant(call.budget)
            try:
                return runner.predict(batch).answers
            finally:
                call.spent = float(runner.facts().get("spent", 0.0)) - before

    @contextmanager
    def _hold(self, key: str) -> Iterator[WarmModel]:
        """Have the place of one model to oneself; it may have been given up while one waited for it."""
        while True:
            with self._lock:
                warm = self._warm.setdefault(key, WarmModel())
                warm.used = time.monotonic()
                self._plan_tidying()
            with warm.lock:
                if self._warm.get(key) is warm:
                    yield warm
                    return

    def tidy(self, each: Each = straight) -> None:
        """Close what nobody has asked for a while, and the oldest where there are too many."""
        with self._lock:
            moment = time.monotonic()
            by_age = sorted(self._warm, key=lambda key: self._warm[key].used)
            surplus = set(by_age[: max(0, len(by_age) - self._kept)])
            stale = {key for key in by_age if moment - self._warm[key].used > self._idle_seconds}
            # One that is answering is left for the next time.
            free = [key for key in surplus | stale if self._warm[key].lock.acquire(blocking=False)]
            closing = [self._warm.pop(key) for key in free]
        each(closing, _let_go, name=lambda warm: f"model {id(warm):x}")

    def close(self) -> None:
        """End every model."""
        with self._lock:
            closing, self._warm = list(self._warm.values()), {}
            self._closed.set()
            self._closed = threading.Event()
            self._tidying = None
        for warm in closing:
            with warm.lock:
                warm.close()

    @property
    def running(self) -> int:
        """How many models are loaded now."""
        return sum(warm.runner is not None for warm in list(self._warm.values()))

    def _plan_tidying(self) -> None:
        if self._tidying is None:
            every = min(self._idle_seconds, TIDY_SECONDS)
            self._loop = self._book.add(Loop("live models", self._tidy_on, every=every))
            self._tidying = self._loop.start(self._closed, after=every)

    def _tidy_on(self, each: Each) -> None:
        """Tidy; for the last time where no model is left."""
        self.tidy(each)
        with self._lock:
            if not self._warm:
                self._tidying = None
                if self._loop is not None:
                    self._book.remove(self._loop)
                raise LoopEnd

    def _start(self, warm: WarmModel, version: ModelVersionInfo, blobs: Blobs) -> None:
        if version.blob is None:
            raise Unavailable("Model '{ref}' has no artefact.", ref=version.ref, remedy="Submit it again.")
        with self._sessions() as db:
            task = get_task(db, version.task)
        folder = warm.stack.enter_context(scratch("live"))
        artefact.unpack(blobs.path(version.blob), folder)
        model = runnable(version.adapter, folder, self._conditions)
        conditions = self._conditions
        warm.runner = warm.stack.enter_context(
            open_runner(model, task, limits=conditions.limits, sandbox=conditions.sandbox, outside=conditions.outside)
        )
        warm.model, warm.task = model, task

    def _make_room(self, but: str) -> None:
        """Close the model that was not asked for the longest time, where one too many is loaded."""
        with self._lock:
            loaded = [key for key, warm in self._warm.items() if warm.runner is not None and key != but]
            closing = None
            for key in sorted(loaded, key=lambda name: self._warm[name].used):
                if len(loaded) >= self._kept and self._warm[key].lock.acquire(blocking=False):
                    closing = self._warm.pop(key)
                    break
        if closing is not None:
            _let_go(closing)


def _let_go(warm: WarmModel) -> None:
    """Close a model that is held, and let those in who wait for it: they start it anew."""
    try:
        warm.close()
    finally:
        warm.lock.release()


class LiveRunners(Mapping[str, Asking]):
    """Who runs which adapter: built-in baselines in this process, everything else in *models*."""

    def __init__(self, models: LiveModels) -> None:
        self.models = models

    def __getitem__(self, adapter: str) -> Asking:
        if is_ours(adapter):
            return IN_PROCESS
        if adapter in ADAPTERS and ADAPTERS.get(adapter).place != "file":
            return self.models
        raise KeyError(adapter)

    def __iter__(self) -> Iterator[str]:
        return (name for name, adapter in ADAPTERS.items() if adapter.place != "file")

    def __len__(self) -> int:
        return sum(1 for _ in self)
