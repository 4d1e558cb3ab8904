"""Submitted models on a machine whose sandbox does not do: their cells are left alone, wait, and say for what.

Nothing is tried and nothing fails for lack of a sandbox. A worker that can give one takes the cells as they are.
"""

from __future__ import annotations

import socket
from collections.abc import Collection
from datetime import timedelta

from sqlalchemy.orm import Session

from quintain.adapters.contract import ADAPTERS
from quintain.core.cells import CellState
from quintain.engine.sandbox.layers import SandboxReport, refusal
from quintain.engine.sandbox.limits import Outcome
from quintain.services.evaluate.cells.lifecycle import CellLease
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries

SANDBOX = "sandbox"
RETRY_SECONDS = 300.0


def refused_adapters(report: SandboxReport | None, policy: str) -> Collection[str]:
    """List the adapters whose models may not run under *report*; without one, machines look for themselves."""
    if report is None or not report.lacking(policy):
        return ()
    members = {name: ADAPTERS.get(name) for name in ADAPTERS.names()}
    return [name for name, one in members.items() if one.place == "sandbox" and not one.ours]


def hold_back(db: Session, report: SandboxReport | None, policy: str) -> int:
    """Write on the cells that this machine cannot take what they wait for, or take that from them where it can.

    Workers call it when they start and whenever there is nothing for them to do. Gives how many cells were touched.
    """
    if report is None:
        return 0
    adapters = refused_adapters(report, policy)
    with transaction(db):
        if not adapters:
            return queries.let_go(db, SANDBOX)
        why = refusal(report, policy)
        reason = f"{Outcome.NO_SANDBOX}: The worker on {socket.gethostname()} does not take it. {why}"
        return queries.hold_back(db, adapters, waits_for=SANDBOX, reason=reason)


def put_back(db: Session, lease: CellLease, reason: str) -> None:
    """Return a cell that has met a machine without the sandbox it needs to the queue; that is no attempt."""
    with transaction(db):
        row = queries.row(db, lease.cell_id)
        if row is not None and queries.update_held(
            db,
            lease.cell_id,
            lease.generation,
            state=CellState.QUEUED.value,
            waits_for=SANDBOX,
            reason=f"{Outcome.NO_SANDBOX}: {reason}",
            attempts=max(0, row.cell.attempts - 1),
            lease_until=now() + timedelta(seconds=RETRY_SECONDS),
            done=0,
        ):
            queries.note(db, lease.cell_id, "queued", "again, because its worker has no sandbox for it")
