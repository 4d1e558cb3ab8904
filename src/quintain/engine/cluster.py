"""Cells on many machines, through Ray.

Ray only carries a job to a node and its result back. On the node the job starts the same sandbox as everywhere: no
submitted code runs in a Ray worker itself. What is leased and what is done stays in the database, so a node that dies
costs time and nothing else.
"""

from __future__ import annotations

import logging
import tempfile
import threading
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


def run_packed(packed: PackedJob) -> PackedResult:
    """Run a job on the machine that it has reached."""
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
            result = engine.run(job, lambda done: None, threading.Event())
        except RunEnded as error:
            return PackedResult(outcome=error.outcome.value, message=str(error), log=error.log)
        predictions = None if job.measured else job.out.read_bytes()
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
                    f"There is no Ray cluster at {address} ({error}).", remedy="Start it, or unset QUINTAIN_ENGINE."
                ) from error
        self._remote = ray.remote(run_packed)

    def run(self, job: CellJob, progress: Callable[[int], None], stop: threading.Event) -> CellResult:
        """Send *job* to a node and wait for what comes back."""
        task = self._remote.options(num_cpus=1, max_retries=0).remote(pack(job))
        while True:
            ready, _ = self._ray.wait([task], timeout=POLL_SECONDS)
            if ready:
                break
            if stop.is_set():
                self._ray.cancel(task, force=True)
                raise RunEnded(Outcome.CANCELLED, "The run was cancelled, or another worker has taken it over.")
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


def _target(address: str) -> str:
    """Give the address to connect to: Ray's client where it is installed, else the head, from one of its nodes."""
    return address if find_spec("grpc") else address.removeprefix("ray://")
