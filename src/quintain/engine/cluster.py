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

from quintain.core.errors import Unavailable
from quintain.engine.jobs import CellJob, CellResult, LocalEngine
from quintain.engine.sandbox.limits import Outcome, RunEnded
from quintain.models import artefact

POLL_SECONDS = 0.5
REPORT_SECONDS = 1.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PackedJob:
    """A job with its files inside, so that it can travel."""

    job: CellJob
    model: bytes
    inputs: bytes
    packages: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class PackedResult:
    """A result that can travel: what came out, or how it ended."""

    rows: int = 0
    measurements: Mapping[str, Any] | None = None
    predictions: bytes | None = None
    outcome: str | None = None
    message: str = ""
    log: str = ""


def pack(job: CellJob) -> PackedJob:
    """Put the model's folder, its packages and the inputs into the job itself."""
    with tempfile.TemporaryDirectory() as name:

        def packed(folder: Path) -> bytes:
            archive = Path(name) / "folder.tar"
            artefact.pack(folder, archive)
            return archive.read_bytes()

        packages = tuple(packed(folder) for folder in job.model.packages)
        return PackedJob(job, packed(job.model.folder), job.inputs.read_bytes(), packages)


class Board:
    """How far the cells on the cluster have come; one process of the cluster keeps it for all of them."""

    def __init__(self) -> None:
        self._done: dict[str, int] = {}

    def report(self, key: str, done: int) -> None:
        """Note how many examples of a cell are done."""
        self._done[key] = done

    def last(self, key: str) -> int:
        """Give what was noted last."""
        return self._done.get(key, 0)

    def forget(self, key: str) -> None:
        """Drop a cell that has ended."""
        self._done.pop(key, None)


def run_packed(packed: PackedJob, report: Callable[[int], None]) -> PackedResult:
    """Run a job on the machine that it has reached; *report* is told, now and then, how many examples are done."""
    next_report = 0.0

    def progress(done: int) -> None:
        nonlocal next_report
        if time.monotonic() >= next_report:
            next_report = time.monotonic() + REPORT_SECONDS
            report(done)

    with tempfile.TemporaryDirectory(prefix="quintain-cell-") as name:
        folder = Path(name)
        (folder / "model.tar").write_bytes(packed.model)
        (folder / "inputs.parquet").write_bytes(packed.inputs)
        artefact.unpack(folder / "model.tar", folder / "model")
        packages = []
        for position, data in enumerate(packed.packages):
            (folder / "packages.tar").write_bytes(data)
            artefact.unpack(folder / "packages.tar", folder / f"packages-{position}")
            packages.append(folder / f"packages-{position}")
        job = replace(
            packed.job,
            model=replace(packed.job.model, folder=folder / "model", packages=tuple(packages)),
            inputs=folder / "inputs.parquet",
            out=folder / "predictions.parquet",
        )
        engine = LocalEngine(Path(tempfile.gettempdir()) / "quintain-locks")
        try:
            result = engine.run(job, progress, threading.Event())
        except RunEnded as error:
            return PackedResult(outcome=error.outcome.value, message=str(error), log=error.log)
        predictions = job.out.read_bytes() if job.out.exists() else None
        return PackedResult(result.rows, result.measurements, predictions, log=result.printed)


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
        self._ray = ray
        if not ray.is_initialized():
            try:
                ray.init(address=_target(address), log_to_driver=False, logging_level=logging.WARNING)
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise Unavailable(
                    f"There is no Ray cluster at {address} ({error}).",
                    remedy="Start it, or unset QUINTAIN_ENGINE. From a machine that is no node of the cluster, Ray is "
                    "reached with its client: pip install 'ray[client]'.",
                ) from error
        # Wherever it runs, it is started again elsewhere when its node is lost; what it knew is told again.
        self._board: Any = ray.remote(Board).options(num_cpus=0, max_restarts=-1).remote()
        self._remote = ray.remote(_run_reporting)

    def run(self, job: CellJob, progress: Callable[[int], None], stop: threading.Event) -> CellResult:
        """Send *job* to a node and wait for what comes back."""
        key = secrets.token_hex(8)
        task = self._remote.options(num_cpus=1, max_retries=0).remote(pack(job), self._board, key)
        try:
            self._wait_for(task, key, progress, stop)
        finally:
            self._board.forget.remote(key)
        try:
            result: PackedResult = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            first = str(error).strip().splitlines()[0]
            raise RunEnded(Outcome.PLATFORM, f"The node that ran the cell was lost ({first}).") from error
        if result.outcome is not None:
            raise RunEnded(Outcome(result.outcome), result.message, log=result.log)
        if result.predictions is not None:
            job.out.write_bytes(result.predictions)
        progress(result.rows)
        return CellResult(result.rows, result.measurements or {}, result.log)

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


def _run_reporting(packed: PackedJob, board: Any, key: str) -> PackedResult:
    """Run a job on a node of the cluster, its progress told to *board*."""
    return run_packed(packed, lambda done: board.report.remote(key, done))


def _target(address: str) -> str:
    """Give the address to connect to: Ray's client where it is installed, else the head, from one of its nodes."""
    return address if find_spec("grpc") else address.removeprefix("ray://")
