"""Asking a model, live: inputs in, predictions out, and never a label on the way.

Who runs a model is decided by its adapter. Built-in baselines are ours, so they run inside this process; everything
else needs a runner that keeps it apart, which is handed in as *runners*.
"""

from __future__ import annotations

import tempfile
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Unavailable
from quintain.core.example import Inputs, Prediction
from quintain.core.people import Actor
from quintain.core.task import Task
from quintain.models import artefact
from quintain.models.contract import Baseline, Batch, load
from quintain.services.access import throttle
from quintain.services.models.registry import ModelVersionInfo, get_model
from quintain.services.plain.files.predictions import check_inputs, parse
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs

BUILTIN = "builtin"
MAX_INPUTS = 256
MAX_CHARACTERS = 1_000_000
SECONDS = 10.0
KEPT = 16


class AdapterRunner(Protocol):
    """A way to run the models of one adapter."""

    def __call__(self, version: ModelVersionInfo, blobs: Blobs, batch: Batch) -> list[Any]:
        """Return the raw answers of *version* to *batch*."""


class LoadedBaselines:
    """The built-in baselines of a workspace that were used last, loaded, and the threads that ask models.

    They stay for as long as the workspace is open. Versions are immutable, so a loaded one is never stale. Several
    threads may ask at once: each version is loaded by one of them while the others wait for it.
    """

    def __init__(self, limit: int = KEPT) -> None:
        self.threads = ThreadPoolExecutor(max_workers=8, thread_name_prefix="predict")
        self._kept = limit
        self._models: OrderedDict[str, Baseline] = OrderedDict()
        self._loading: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Let the threads end."""
        self.threads.shutdown(wait=False, cancel_futures=True)

    def model(self, version: ModelVersionInfo, blobs: Blobs) -> Baseline:
        """Return the loaded model of *version*."""
        with self._lock:
            loading = self._loading.setdefault(version.hash, threading.Lock())
        with loading:
            with self._lock:
                if version.hash in self._models:
                    self._models.move_to_end(version.hash)
                    return self._models[version.hash]
            model = _load(version, blobs)
            with self._lock:
                self._models[version.hash] = model
                while len(self._models) > self._kept:
                    self._loading.pop(self._models.popitem(last=False)[0], None)
            return model


class InProcess:
    """Runs built-in baselines in this process; predicting needs no lock."""

    def __call__(self, version: ModelVersionInfo, blobs: Blobs, batch: Batch) -> list[Any]:
        """Return the raw answers of *version* to *batch*."""
        return self.model(version, blobs).predict(batch)

    def model(self, version: ModelVersionInfo, blobs: Blobs) -> Baseline:
        """Return the loaded model of *version*: for those who call it many times, as harvesting does."""
        return blobs.state.part(LoadedBaselines).model(version, blobs)


TOOK_TOO_LONG = "model_took_too_long"
IN_PROCESS = InProcess()
RUNNERS: Mapping[str, AdapterRunner] = {BUILTIN: IN_PROCESS}


def predict(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    inputs: Sequence[Inputs],
    *,
    runners: Mapping[str, AdapterRunner] = RUNNERS,
    seconds: float = SECONDS,
) -> list[Prediction]:
    """Ask the model that *ref* means about *inputs*, and give one prediction for each.

    Every input is checked first, and a field that the task does not have (such as the answer) is refused. The call is
    given up after *seconds*.
    """
    version = get_model(db, actor, ref).version
    task = get_task(db, version.task)
    check_size(inputs)
    check_inputs(task, inputs)
    return ask(blobs, version, task, inputs, runners=runners, seconds=seconds)


def ask(
    blobs: Blobs,
    version: ModelVersionInfo,
    task: Task,
    inputs: Sequence[Inputs],
    *,
    runners: Mapping[str, AdapterRunner] = RUNNERS,
    seconds: float = SECONDS,
) -> list[Prediction]:
    """Ask *version* about *inputs* that have been checked. It touches no database: a model may take its time."""
    if version.withdrawn_at is not None:
        raise Conflict(
            "Model '{ref}' was withdrawn.", ref=version.ref, remedy="Ask another version.", code="model_withdrawn"
        )
    runner = runners.get(version.adapter)
    if runner is None:
        raise Unavailable(
            "Model '{ref}' runs through the adapter '{adapter}', which this server cannot run live.",
            ref=version.ref,
            adapter=version.adapter,
            remedy="Ask a model that is built in.",
            code="model_not_live",
        )
    batch = [dict(one) for one in inputs]
    return parse(task, batch, _run(runner, version, blobs, batch, seconds), version.ref)


def _run(runner: AdapterRunner, version: ModelVersionInfo, blobs: Blobs, batch: Batch, seconds: float) -> Sequence[Any]:
    if isinstance(runner, InProcess) and len(batch) == 1:
        # One text takes a baseline of ours a millisecond; under load, two changes of threads take longer than that.
        return runner(version, blobs, batch)
    work = blobs.state.part(LoadedBaselines).threads.submit(runner, version, blobs, batch)
    try:
        return work.result(timeout=seconds)
    except TimeoutError:
        work.cancel()
        raise Unavailable(
            "Model '{ref}' took longer than {seconds:g} seconds.",
            ref=version.ref,
            seconds=seconds,
            remedy="Send fewer or shorter inputs.",
            code=TOOK_TOO_LONG,
        ) from None


def limit_calls(db: Session, actor: Actor, address: str, limit: int) -> None:
    """Count one call of a model for this person, or this *address*; raise TooMany past *limit* in a minute."""
    who = f"user:{actor.user_id}" if actor.user_id is not None else f"address:{address}"
    throttle.hit(db, f"predict:{who}", limit, 60)


def check_size(inputs: Sequence[Inputs]) -> None:
    """Refuse live calls that are too large."""
    if len(inputs) > MAX_INPUTS:
        raise BadInput(
            "There are {n} inputs; a live call takes at most {most}.",
            n=len(inputs),
            most=MAX_INPUTS,
            remedy="Send them in parts.",
        )
    size = sum(len(str(value)) for one in inputs for value in one.values())
    if size > MAX_CHARACTERS:
        raise BadInput(
            "The inputs have {size:,} characters; a live call takes at most {most:,}.",
            size=size,
            most=MAX_CHARACTERS,
            remedy="Send fewer or shorter ones.",
        )


def _load(version: ModelVersionInfo, blobs: Blobs) -> Baseline:
    if version.blob is None:
        raise Unavailable("Model '{ref}' has no artefact.", ref=version.ref, remedy="Train it again.")
    with tempfile.TemporaryDirectory(prefix="quintain-model-") as folder:
        artefact.unpack(blobs.path(version.blob), Path(folder))
        return load(Path(folder))
