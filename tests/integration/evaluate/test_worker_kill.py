"""Workers that die, stop or are left alone: no cell is lost, and none is computed twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx2
import polars as pl
import pytest
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import Actor
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.settings import settings_environment
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.tables import Cell
from tests.evaluation import SENTENCES, add_data, add_model, add_task

pytestmark = pytest.mark.slow
SLOW = """
    import time
    def predict(batch):
        time.sleep(0.005 * len(batch))
        return ["positive"] * len(batch)
"""
ROWS = [(f"{text} ({number})", label) for number in range(130) for text, label in SENTENCES]


@pytest.fixture
def one_cell(db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path) -> int:
    """One slow cell that waits; all others are cancelled."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path, rows=ROWS)
    add_model(db, blobs, builder, tmp_path, name="slow", code=SLOW)
    evaluate.fill(db)
    with transaction(db):
        for row in queries.rows(db):
            if row.cell.variant != "plain":
                row.cell.state = "cancelled"
    db.commit()
    return next(row.cell.id for row in queries.rows(db, variant="plain"))


def environment_of(workspace: Workspace) -> dict[str, str]:
    """Give the environment of a worker whose leases lapse after two seconds."""
    return settings_environment(replace(workspace.settings, lease_seconds=2))


def wait_for(db: Session, number: int, wanted: Callable[[Cell], bool], seconds: float = 60) -> Cell:
    """Wait until the cell is as wanted."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        db.rollback()
        db.expire_all()
        row = queries.row(db, number)
        assert row
        if wanted(row.cell):
            return row.cell
        time.sleep(0.1)
    raise AssertionError(f"cell {number} is still {row.cell.state}, {row.cell.done} of {row.cell.total}")


def test_a_killed_worker_loses_nothing(workspace: Workspace, db: Session, blobs: Blobs, one_cell: int) -> None:
    """A worker is killed in the middle of a cell; the next one takes it over and completes it exactly once."""
    command = [sys.executable, "-m", "quintain", "worker"]
    first = subprocess.Popen(command, env=environment_of(workspace), stderr=subprocess.DEVNULL)
    try:
        wait_for(db, one_cell, lambda cell: cell.state == "running" and cell.done > 0)
    finally:
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
    killed = wait_for(db, one_cell, lambda cell: True)
    assert killed.state == "running"
    assert killed.done < killed.total
    done = subprocess.run(
        [*command, "--until-empty"], env=environment_of(workspace), capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    cell = wait_for(db, one_cell, lambda cell: True)
    assert cell.state == "done", "it waited for the lease of the killed one to lapse"
    assert (cell.attempts, cell.lost, cell.generation) == (1, 1, 2)
    kinds = [event.kind for event in queries.events(db, one_cell)]
    assert kinds.count("done") == 1
    assert kinds.count("leased") == 2
    found = pl.read_parquet(blobs.path(str(cell.predictions)))
    assert found["id"].n_unique() == found.height == len(ROWS)


def test_killed_workers_leave_nothing_behind(
    workspace: Workspace, db: Session, one_cell: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five workers are killed in the middle of a cell, which costs it no attempt; the next sweeps what they left."""
    place = tmp_path / "t"
    place.mkdir()
    environment = {**environment_of(workspace), "TMPDIR": str(place)}
    command = [sys.executable, "-m", "quintain", "worker"]
    for number in range(1, 6):
        worker = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        try:
            wait_for(db, one_cell, lambda cell, n=number: cell.generation == n and cell.done > 0)
        finally:
            os.kill(worker.pid, signal.SIGKILL)
            worker.wait()
    assert list(place.glob("quintain-*")), "a killed worker cannot tidy up"
    done = subprocess.run([*command, "--until-empty"], env=environment, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    cell = wait_for(db, one_cell, lambda cell: True)
    assert (cell.state, cell.attempts, cell.lost) == ("done", 1, 5)
    assert list(place.glob("*quintain-*")) == []


def test_a_worker_beside_a_server_stops_with_it(workspace: Workspace, db: Session, blobs: Blobs, one_cell: int) -> None:
    """Its input ends when the server goes: it gives the cell back, which costs no attempt, and leaves."""
    command = [sys.executable, "-m", "quintain", "worker", "--attached"]
    worker = subprocess.Popen(command, env=environment_of(workspace), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        wait_for(db, one_cell, lambda cell: cell.state == "running" and cell.done > 0)
        assert worker.stdin
        worker.stdin.close()
        assert worker.wait(20) == 0
    finally:
        if worker.poll() is None:
            os.kill(worker.pid, signal.SIGKILL)
            worker.wait()
    cell = wait_for(db, one_cell, lambda cell: cell.state == "queued", seconds=5)
    assert cell.attempts == 0


def test_serve_computes_cells_beside_its_pages(workspace: Workspace, db: Session, one_cell: int) -> None:
    """`quintain serve` starts a worker of its own, and both stop on one signal."""
    environment = environment_of(workspace)
    command = [sys.executable, "-m", "quintain", "serve", "--port", "0", "--json"]
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout
        lines = "".join(iter(server.stdout.readline, "}\n"))
        address = next(part for part in lines.split('"') if part.startswith("http://"))
        cell = wait_for(db, one_cell, lambda cell: cell.state == "running" and cell.worker is not None)
        worker = int(str(cell.worker).split(":")[1])
        assert worker != server.pid
        assert httpx2.get(f"{address}/runs/{one_cell}").status_code == 200
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) is not None
        until = time.monotonic() + 10
        while Path(f"/proc/{worker}").exists() and time.monotonic() < until:
            time.sleep(0.1)
        assert not Path(f"/proc/{worker}").exists()
    finally:
        if server.poll() is None:
            os.kill(server.pid, signal.SIGKILL)
            server.wait()
