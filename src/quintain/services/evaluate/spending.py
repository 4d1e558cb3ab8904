"""What models on paid servers cost: an estimate before the first call, and budgets over all runs together.

A run sets aside the most that it can cost before it starts, and what it did cost takes the place of that when it ends,
however it ends: runs that go on side by side cannot spend the same money twice. There are two budgets: that of the
manifest, for all runs of a model version, and the operator's, for all runs that use a key.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import polars as pl
from sqlalchemy.orm import Session

from quintain.adapters.contract import Options, Outside
from quintain.core.cells import CellState
from quintain.core.records.evaluate import CostEstimate
from quintain.core.task import Task
from quintain.engine.runner import RunnableModel
from quintain.engine.sandbox.limits import Outcome, RunEnded
from quintain.services.evaluate.cells import ASKED, EVALUATED, CellLease
from quintain.services.evaluate.estimate import CHAT, budgets_of, estimate, most_of
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.evaluate import cells as cell_queries
from quintain.store.queries.evaluate import charges as queries
from quintain.store.queries.tasks.tasks import task_row
from quintain.store.tables import Charge

SAMPLED = 500  # rows that the length of prompts is guessed from
RETRY_SECONDS = 30.0


class WaitingForBudget(Exception):
    """Other runs have set aside what is left; they may leave some of it."""


def estimate_of_task(
    db: Session, blobs: Blobs, task: Task, adapter: str, options: Options, outside: Outside
) -> CostEstimate | None:
    """Estimate the runs of a model on all data sets of its task."""
    row = task_row(db, task.name)
    if adapter != CHAT or row is None:
        return None
    versions = cell_queries.newest_dataset_versions(db, row.id, EVALUATED)
    run = [one for one in versions if one.meta.get("models") != ASKED]
    tables = ((one.rows, pl.scan_parquet(blobs.path(one.blob)).head(SAMPLED).collect()) for one in run)
    return estimate(task, adapter, options, outside, tables)


def allow(db: Session, lease: CellLease, model: RunnableModel, outside: Outside, task: Task, inputs: Path) -> Outside:
    """Set aside what the leased run may cost and give *outside* with that as its budget.

    Raises RunEnded where nothing is left, and Waiting where others have set it aside.
    """
    options = model.options
    limits = budgets_of(options, outside)
    if model.adapter != CHAT or not limits:
        return outside
    secret = options.get("secret")
    with transaction(db):
        lock(db, "charges")
        row = cell_queries.row(db, lease.cell_id)
        if row is None:
            return outside
        version = row.model_version.id
        queries.drop_pending(db, lease.cell_id)
        left = min(
            limit
            - (queries.charged(db, secret=str(secret)) if shared else queries.charged(db, model_version_id=version))
            for limit, shared in limits
        )
        if left <= 0 and queries.pending(db, model_version_id=version, secret=secret):
            raise WaitingForBudget
        if left <= 0:
            raise RunEnded(
                Outcome.OVER_BUDGET,
                "The budget of its earlier runs is spent.",
                remedy="The builder raises `budget` in a new version, the operator that of the key; then try it again.",
            )
        amount = min(left, most_of(options, outside, task, inputs))
        charge = Charge(model_version_id=version, cell_id=lease.cell_id, generation=lease.generation, secret=secret)
        charge.amount = amount
        db.add(charge)
    return replace(outside, budget=amount)


def settle(db: Session, lease: CellLease, spent: float) -> None:
    """Record what the leased run has cost."""
    with transaction(db):
        queries.settle(db, lease.cell_id, lease.generation, spent)


def wait(db: Session, lease: CellLease) -> None:
    """Give the cell back until other runs have left something of the budget, or spent it; that is no attempt."""
    with transaction(db):
        row = cell_queries.row(db, lease.cell_id)
        if row is not None and cell_queries.update_held(
            db,
            lease.cell_id,
            lease.generation,
            state=CellState.QUEUED.value,
            attempts=max(0, row.cell.attempts - 1),
            lease_until=now() + timedelta(seconds=RETRY_SECONDS),
            done=0,
        ):
            cell_queries.note(db, lease.cell_id, "queued", "again, because other runs draw on the same budget")
