"""A worker: fills in missing cells, leases one after another, and computes them until it is told to stop."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading

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
) -> int:
    """Compute cells until *stop* is set or, with *until_empty*, nothing is left; give how many were stored."""
    name = worker_name()
    stored = 0
    while not stop.is_set():
        with sessions() as db:
            lease = evaluate.claim(db, name)
            if lease is None and evaluate.fill(db):
                continue
        if lease is None:
            if until_empty:
                break
            stop.wait(IDLE_SECONDS)
            continue
        log.info("computing cell %s (%s)", lease.cell_id, lease.variant)
        stored += run_leased(sessions, blobs, engine, lease, conditions)
    return stored
