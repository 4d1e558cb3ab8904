"""Cells on many machines, through Ray.

Ray only carries a job to a node and its result back. On the node the job starts the same sandbox as everywhere: no
submitted code runs in a Ray worker itself. What is leased and what is done stays in the database, so a node that dies
costs time and nothing else.
"""

from __future__ import annotations

import logging
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from quintain.core.errors import OutOfOrder, Unavailable
from quintain.engine.jobs import CellJob, CellResult, LocalEngine
from quintain.engine.runner import RunnableModel
from quintain.engine.sandbox.limits import GIB, Outcome, RunEnded
from quintain.engine.scratch import scratch, sweep
from quintain.models import artefact

POLL_SECONDS = 0.5
REPORT_SECONDS = 1.0
KEPT_MODELS = 4  # in the store of the cluster; a cell that still needs an older one keeps it there

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PackedModel:
    """A model's files and its packages, so that they can travel: once for all of its jobs."""

    model: bytes
    packages: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class PackedJob:
    """A job with its inputs inside, so that it can travel. Keys of other servers are in it only where it needs them."""

    job: CellJob
    inputs: bytes


@dataclass(frozen=True, slots=True)
class PackedResult:
    """A result that can travel: what came out, or how it ended."""

    rows: int = 0
    measurements: Mapping[str, Any] | None = None
    predictions: bytes | None = None
    outcome: str | None = None
    message: str = ""
    log: str = ""
    spent: float = 0.0
    remedy: str | None = None


def pack_model(model: RunnableModel) -> PackedModel:
    """Put the model's folder and its packages into one object."""
    with scratch("pack") as folder_for_archives:

        def packed(folder: Path) -> bytes:
            archive = folder_for_archives / "folder.tar"
            artefact.pack(folder, archive)
            return archive.read_bytes()

        return PackedModel(packed(model.folder), tuple(packed(folder) for folder in model.packages))


class ProgressBoard:
    """How far the cells on the cluster have come; one process of the cluster keeps it for all of them."""

    def __init__(self) -> None:
        self._done: dict[str, int] = {}

    def report(self, key: str, done: int) -> None:
        """Note how many examples of a cell are done."""
        self._done[key] = done

    def last(self, key: str) -> int:
        """Return what was noted last."""
        return self._done.get(key, 0)

    def forget(self, key: str) -> None:
        """Drop a cell that has ended."""
        self._done.pop(key, None)


def run_packed(packed: PackedJob, model: PackedModel, report: Callable[[int], None]) -> PackedResult:
    """Run a job on the machine that it has reached; *report* is told, now and then, how many examples are done."""
    next_report = 0.0

    def progress(done: int) -> None:
        nonlocal next_report
        if time.monotonic() >= next_report:
            next_report = time.monotonic() + REPORT_SECONDS
            report(done)

    sweep()
    with scratch("cell") as folder:
        (folder / "inputs.parquet").write_bytes(packed.inputs)
        packages = tuple(_unpack(data, folder / f"packages-{position}") for position, data in enumerate(model.packages))
        job = replace(
            packed.job,
            model=replace(packed.job.model, folder=_unpack(model.model, folder / "model"), packages=packages),
            inputs=folder / "inputs.parquet",
            out=folder / "predictions.parquet",
        )
        engine = LocalEngine(Path(tempfile.gettempdir()) / "quintain-locks")
        try:
            result = engine.run(job, progress, threading.Event())
        except RunEnded as error:
            return PackedResult(
                outcome=error.outcome.value,
                message=error.message,
                remedy=error.remedy,
                log=error.log,
                spent=error.spent,
            )
        predictions = job.out.read_bytes() if job.out.exists() else None
        return PackedResult(result.rows, result.measurements, predictions, log=result.printed)


def _unpack(data: bytes, folder: Path) -> Path:
    archive = folder.with_suffix(".tar")
    archive.write_bytes(data)
    artefact.unpack(archive, folder)
    archive.unlink()
    return folder


class RayEngine:
    """Runs cells on the nodes of a Ray cluster. *address* is `ray://host:port` or `host:port` of its head."""

    def __init__(self, address: str) -> None:
        try:
            import ray
        except ImportError as error:
            raise Unavailable(
                "The engine is set to Ray, which is not installed.",
                remedy="Install it with: pip install 'quintain[ray]'.",
            ) from error
        self._ray: Any = ray
        if not ray.is_initialized():
            try:
                ray.init(address=_target(address), log_to_driver=False, logging_level=logging.WARNING)
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise OutOfOrder(
                    "There is no Ray cluster at {address} ({error}).",
                    address=address,
                    error=error,
                    remedy="Start it, or unset QUINTAIN_ENGINE. From a machine that is no node of the cluster, Ray is "
                    "reached with its client: pip install 'ray[client]'.",
                ) from error
        # Wherever it runs, it is started again elsewhere when its node is lost; what it knew is told again.
        self._board: Any = ray.remote(ProgressBoard).options(num_cpus=0, max_restarts=-1).remote()
        self._remote = ray.remote(_run_reporting)
        self._models: dict[str, Any] = {}
        self._putting = threading.Lock()

    def run(self, job: CellJob, progress: Callable[[int], None], stop: threading.Event) -> CellResult:
        """Send *job* to a node that has a processor and the model's memory to spare, and wait for what comes back."""
        self._require_room(job.limits.memory_bytes)
        key = secrets.token_hex(8)
        remote_run = self._remote.options(num_cpus=1, memory=job.limits.memory_bytes, max_retries=0)
        packed = PackedJob(job, job.inputs.read_bytes())
        task = remote_run.remote(packed, self._model(job.model), self._board, key)
        try:
            self._wait_for(task, key, progress, stop)
        finally:
            self._board.forget.remote(key)
        try:
            result: PackedResult = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            self._models.pop(job.model.key, None)  # it may have been lost with the node
            first = str(error).strip().splitlines()[0]
            raise RunEnded(Outcome.PLATFORM, "The node that ran the cell was lost ({first}).", first=first) from error
        if result.outcome is not None:
            ended = RunEnded(Outcome(result.outcome), result.message, log=result.log, remedy=result.remedy)
            ended.spent = result.spent
            raise ended
        if result.predictions is not None:
            job.out.write_bytes(result.predictions)
        progress(result.rows)
        return CellResult(result.rows, result.measurements or {}, result.log)

    def _model(self, model: RunnableModel) -> Any:
        """Return a reference to the model in the cluster's store, where it is put once for all of its cells."""
        with self._putting:
            reference = self._models.get(model.key) or self._ray.put(pack_model(model))
            if model.key:
                self._models[model.key] = reference
            while len(self._models) > KEPT_MODELS:
                self._models.pop(next(iter(self._models)))
            return reference

    def _require_room(self, memory: int) -> None:
        """Refuse what would wait for ever: a model that may use more memory than any node has."""
        most = max((node["Resources"].get("memory", 0) for node in self._ray.nodes() if node["Alive"]), default=0)
        if memory > most:
            raise RunEnded(
                Outcome.PLATFORM,
                "A model may use {wanted:.3g} GiB, and no node of the cluster has more than {most:.3g}.",
                wanted=memory / GIB,
                most=most / GIB,
                remedy="Lower QUINTAIN_MODEL_MEMORY, or start a node with more: ray start --memory=BYTES.",
            )

    def _wait_for(self, task: Any, key: str, progress: Callable[[int], None], stop: threading.Event) -> None:
        """Wait until *task* has ended, and pass its progress on meanwhile."""
        asked = self._board.last.remote(key)
        while not self._ray.wait([task], timeout=POLL_SECONDS)[0]:
            if stop.is_set():
                self._ray.cancel(task, force=True)
                raise RunEnded(Outcome.CANCELLED, "The run was cancelled, or another worker has taken it over.")
            if self._ray.wait([asked], timeout=0)[0]:
                try:
                    progress(self._ray.get(asked))
                except self._ray.exceptions.RayError as error:
                    # Only what is shown is lost with the board's node; the cell itself may well go on.
                    _log.info("The progress of a cell is not known: %s", str(error).strip().splitlines()[0])
                asked = self._board.last.remote(key)


def _run_reporting(packed: PackedJob, model: PackedModel, board: Any, key: str) -> PackedResult:
    """Run a job on a node of the cluster, its progress told to *board*."""
    return run_packed(packed, model, lambda done: board.report.remote(key, done))


def _target(address: str) -> str:
    """Return the address to connect to: Ray's client where it is installed, else the head, from one of its nodes."""
    return address if find_spec("grpc") else address.removeprefix("ray://")
