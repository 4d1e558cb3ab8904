"""A worker: fills in missing cells, leases one after another, and computes them until it is told to stop."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from quintain.services import evaluate
from quintain.services.run_cell import Conditions, Engine, Sessions, run_leased
from quintain.store.blobs import Blobs

IDLE_SECONDS = 2.0

log = logging.getLogger("quintain.worker")


def worker_name() -> str:
    """Name this worker so that a person can find its machine and process."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(2)}"


def work(
    sessions: Sessions,
    blobs: Blobs,
    engine: Engine,
    conditions: Conditions,
    stop: threading.Event,
    *,
    until_empty: bool = False,
    task: str | None = None,
    tell: Callable[[str], None] = log.info,
    abandon: threading.Event | None = None,
) -> int:
    """Compute cells until *stop* is set or, with *until_empty*, nothing is left; give how many were stored.

    With *task*, only that task's cells are computed. *tell* hears of each. When *abandon* is set, the cell in hand is
    given up and left to others.
    """
    name = worker_name()
    stored = 0
    while not stop.is_set():
        with sessions() as db:
            machine = conditions.machine or None
            lease = evaluate.claim(db, name, task=task, seconds=conditions.lease_seconds, machine=machine)
            if lease is None and evaluate.fill(db, task):
                continue
        if lease is None:
            if until_empty:
                break
            stop.wait(IDLE_SECONDS)
            continue
        tell(f"cell {lease.cell_id}: {lease.title}")
        stored += run_leased(sessions, blobs, engine, lease, conditions, abandon=abandon)
    return stored


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
) -> int:
    """Run *parallel* workers in this process; give how many cells they stored together."""
    with ThreadPoolExecutor(parallel, thread_name_prefix="worker") as pool:
        running = [
            pool.submit(work, sessions, blobs, engine, conditions, stop, until_empty=until_empty, abandon=abandon)
            for _ in range(parallel)
        ]
        return sum(one.result() for one in running)
