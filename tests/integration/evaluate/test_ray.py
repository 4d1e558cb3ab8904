"""Evaluation on a Ray cluster of two nodes, one of which dies in the middle."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy.orm import Session

from quintain.adapters.contract import Outside
from quintain.compose import Workspace
from quintain.core.people import Actor
from quintain.engine.cluster import RayEngine
from quintain.engine.jobs import CellJob, CellResult
from quintain.engine.sandbox.limits import MIB, Limits, RunEnded
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.worker import work_together
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from tests.evaluation import SENTENCES, add_data, add_model, add_task

ray = pytest.importorskip("ray")

pytestmark = pytest.mark.slow
CONDITIONS = Conditions(Limits(memory_bytes=512 * MIB, wall_seconds=120, call_seconds=60), lease_seconds=10)
SLOW = """
    import time
    def predict(batch):
        time.sleep(0.02 * len(batch))
        return ["positive"] * len(batch)
"""
ROWS = [(f"{text} ({number})", label) for number in range(100) for text, label in SENTENCES]


def free_port() -> int:
    """Find a port that nobody uses."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def node(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start one node of a cluster in a process group of its own, which is ended by its number."""
    command = [str(Path(sys.executable).parent / "ray"), "start", "--block", "--disable-usage-stats", *arguments]
    # On a busy machine a node takes longer to start than Ray waits for it.
    environment = {**os.environ, "RAY_TMPDIR": str(folder), "RAY_raylet_start_wait_time_s": "140"}
    output = folder / f"node-{len(list(folder.glob('node-*')))}.log"
    with output.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
        try:
            wait_for_start(process, output)
            yield process
        finally:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a node and all that it has started, by their numbers, and nothing else."""
    for number in [*family(process.pid), process.pid]:
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()


def family(number: int) -> list[int]:
    """List the processes that descend from process *number*, the youngest generation first."""
    children = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == number:
            children.append(int(path.parent.name))
    return [one for child in children for one in (*family(child), child)]


@contextmanager
def cluster() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start a head and a second node on this machine; give the address and the second node."""
    port, here = free_port(), ray.util.get_node_ip_address()  # Ray puts this for 127.0.0.1
    common = [f"--node-ip-address={here}", "--object-store-memory=80000000"]
    with ExitStack() as stack:
        # Ray's sockets do not fit into pytest's long folders.
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="qray", dir="/tmp", ignore_cleanup_errors=True))
        )
        head = ["--head", f"--port={port}", "--include-dashboard=false", "--num-cpus=1"]
        stack.enter_context(node(folder, *head, *common))
        second = stack.enter_context(node(folder, f"--address={here}:{port}", "--num-cpus=1", *common))
        yield f"ray://{here}:{port}", second


def wait_for_start(process: subprocess.Popen[bytes], output: Path) -> None:
    """Wait until the node says that it runs."""
    until = time.monotonic() + 150
    while "Ray runtime started" not in output.read_text():
        assert process.poll() is None, output.read_text()
        assert time.monotonic() < until, output.read_text()
        time.sleep(0.2)


class Watching:
    """An engine that notes what it hears of the progress of its cells, and when two of them are under way."""

    def __init__(self, engine: RayEngine) -> None:
        self.engine = engine
        self.heard: set[int] = set()
        self.under_way: dict[Path, int] = {}
        self.both = threading.Event()
        self.memory = 0.0
        self.jobs: list[CellJob] = []

    def run(self, job: CellJob, progress: Callable[[int], None], stop: threading.Event) -> CellResult:
        """Run *job* and listen."""
        self.jobs.append(job)

        def hear(done: int) -> None:
            self.heard.add(done)
            self.under_way[job.out] = done
            free = ray.available_resources().get("memory", 0)
            self.memory = max(self.memory, ray.cluster_resources().get("memory", 0) - free)
            if sum(0 < one < len(ROWS) for one in self.under_way.values()) >= 2:
                self.both.set()
            progress(done)

        try:
            return self.engine.run(job, hear, stop)
        finally:
            self.under_way.pop(job.out, None)


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_node_that_dies_costs_time_and_nothing_else(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path
) -> None:
    """One of two nodes is killed in the middle of an evaluation; every cell still completes exactly once."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path, rows=ROWS)
    for number in range(4):
        add_model(db, blobs, builder, tmp_path, name=f"slow-{number}", code=SLOW + f"\n    N = {number}\n")
    evaluate.fill(db)
    with transaction(db):
        for row in queries.rows(db):
            if row.cell.variant != "plain":
                row.cell.state = "cancelled"
    db.commit()
    with cluster() as (address, second):
        engine = Watching(RayEngine(address))
        try:
            until = time.monotonic() + 60
            while sum(one["Alive"] for one in ray.nodes()) < 2 and time.monotonic() < until:
                time.sleep(0.2)
            assert sum(one["Alive"] for one in ray.nodes()) == 2
            stop = threading.Event()
            until = time.monotonic() + 60
            while ray.available_resources().get("CPU", 0) < 2 and time.monotonic() < until:
                time.sleep(0.2)  # what the nodes have is known a little later than that they are there
            killer = threading.Thread(target=kill_when_busy, args=[second, engine.both])
            killer.start()
            stored = 0
            until = time.monotonic() + 180
            while time.monotonic() < until:
                stored += work_together(
                    workspace.session, blobs, engine, CONDITIONS, stop, parallel=2, until_empty=True
                )
                db.rollback()
                db.expire_all()
                if all(row.cell.state == "done" for row in queries.rows(db, variant="plain")):
                    break
                release_retries(db)
            killer.join()
            refused = refuse_what_no_node_has(engine)
        finally:
            ray.shutdown()
    cells = [row.cell for row in queries.rows(db, variant="plain")]
    assert [cell.state for cell in cells] == ["done"] * 4
    assert stored == 4
    assert any(0 < done < len(ROWS) for done in engine.heard), "progress streams while a cell runs"
    assert 512 * MIB <= engine.memory <= 2 * 512 * MIB + MIB, "each cell asks for its model's memory"
    assert "no node of the cluster has more" in refused
    assert all(job.outside == Outside() for job in engine.jobs), "no key travels with a handler"
    events = [[event.kind for event in queries.events(db, cell.id)] for cell in cells]
    assert all(kinds.count("done") == 1 for kinds in events)
    assert sum(kinds.count("retry") for kinds in events) >= 1, events
    lost = [event.text for cell in cells for event in queries.events(db, cell.id) if event.kind == "retry"]
    assert any(re.search("node that ran the cell was lost", text) for text in lost), lost
    for cell in cells:
        assert pl.read_parquet(blobs.path(str(cell.predictions))).height == len(ROWS)


def refuse_what_no_node_has(engine: Watching) -> str:
    """Ask for a model with more memory than the whole cluster; give what is said, at once."""
    job = replace(engine.jobs[0], limits=Limits(memory_bytes=1 << 50))
    with pytest.raises(RunEnded) as caught:
        engine.run(job, lambda done: None, threading.Event())
    return str(caught.value)


def kill_when_busy(second: subprocess.Popen[bytes], both: threading.Event) -> None:
    """Kill the second node while both are at work: each has one CPU, and two cells are half done."""
    both.wait(150)
    end(second)


def release_retries(db: Session) -> None:
    """Let cells that wait for their next attempt be tried at once."""
    with transaction(db):
        for row in queries.rows(db, states=["queued"]):
            row.cell.lease_until = None
