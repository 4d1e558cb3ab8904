"""What models on paid servers cost: an estimate before the first call, and budgets over all runs together.

A run reserves the most that it can cost before it starts, and what it did cost takes the place of that when it ends,
however it ends: runs that go on side by side cannot spend the same money twice. There are two budgets: that of the
manifest, for all runs of a model version, and the operator's, for all that uses a key: runs, trials of what is
submitted, and people who talk to a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.adapters.contract import ADAPTERS, Options, Outside
from quintain.adapters.ledger import OverBudget
from quintain.adapters.reply_store import spent_by
from quintain.core.cells import CellState
from quintain.core.records.evaluate import CostEstimate
from quintain.core.task import Task
from quintain.engine.runner import RunnableModel
from quintain.engine.sandbox.limits import Outcome, RunEnded
from quintain.services.evaluate.cells.estimate import budgets_of, estimate, most_of
from quintain.services.evaluate.cells.lifecycle import ASKED, EVALUATED, CellLease
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
    """Other runs have reserved what is left; they may leave some of it."""


@dataclass(frozen=True, slots=True)
class _Payer:
    """Whose budgets a run draws on: those of a model version, where there is one, and of the operator's key."""

    version: int | None
    secret: str | None
    limits: list[tuple[float, bool]]

    def left(self, db: Session) -> float:
        """Return what is left of the tightest budget."""
        return min(
            limit
            - (
                queries.charged(db, secret=self.secret)
                if shared
                else queries.charged(db, model_version_id=self.version)
            )
            for limit, shared in self.limits
        )

    def others_pending(self, db: Session) -> bool:
        """Whether another run that draws on the same budgets is under way."""
        return queries.pending(db, model_version_id=self.version, secret=self.secret)


def estimate_of_task(
    db: Session, blobs: Blobs, task: Task, adapter: str, options: Options, outside: Outside
) -> CostEstimate | None:
    """Estimate the runs of a model on all data sets of its task."""
    row = task_row(db, task.name)
    if row is None or ADAPTERS.get(adapter)().asking_size(task, options) is None:
        return None
    versions = cell_queries.newest_dataset_versions(db, row.id, EVALUATED)
    run = [version for version in versions if version.meta.get("models") != ASKED]
    tables = ((version.rows, pl.scan_parquet(blobs.path(version.blob)).head(SAMPLED).collect()) for version in run)
    return estimate(task, adapter, options, outside, tables)


def allow(db: Session, lease: CellLease, model: RunnableModel, outside: Outside, task: Task, inputs: Path) -> Outside:
    """Reserve what the leased run may cost and give *outside* with that as its budget.

    Raises RunEnded where nothing is left, and WaitingForBudget where others have reserved it.
    """
    asking = ADAPTERS.get(model.adapter)().asking_size(task, model.options)
    limits = budgets_of(model.options, outside)
    if asking is None:
        return outside
    outside = replace(outside, run=_run_name(lease.cell_id, lease.generation))
    if not limits:
        return outside
    most = most_of(asking, model.options, outside, task, pl.read_parquet(inputs))
    with transaction(db):
        lock(db, "charges")
        row = cell_queries.row(db, lease.cell_id)
        if row is None:
            return outside
        payer = _Payer(row.model_version.id, _secret_of(model.options), limits)
        _settle_killed(db, lease.cell_id, outside)
        left = payer.left(db)
        if left <= 0 and payer.others_pending(db):
            raise WaitingForBudget
        if left <= 0:
            raise RunEnded(
                Outcome.OVER_BUDGET,
                "The budget of its earlier runs is spent.",
                remedy="The builder raises `budget` in a new version, the operator that of the key; then try it again.",
            )
        amount = min(left, most)
        db.add(
            Charge(
                model_version_id=payer.version,
                cell_id=lease.cell_id,
                generation=lease.generation,
                secret=payer.secret,
                amount=amount,
            )
        )
    return replace(outside, budget=amount)


def record_spending(db: Session, lease: CellLease, spent: float) -> None:
    """Record what the leased run has cost."""
    with transaction(db):
        queries.settle_charge(db, lease.cell_id, lease.generation, spent)


def settle_short(
    db: Session, *, lease: CellLease, options: Options, outside: Outside, reserved: float, spent: float
) -> bool:
    """Record what a run has cost that its share of the budget did not cover; True where another attempt may be covered.

    That is so where others are still under way, or have left more than this run had.
    """
    with transaction(db):
        lock(db, "charges")
        queries.settle_charge(db, lease.cell_id, lease.generation, spent)
        row = cell_queries.row(db, lease.cell_id)
        if row is None:
            return False
        payer = _Payer(row.model_version.id, _secret_of(options), budgets_of(options, outside))
        return payer.others_pending(db) or payer.left(db) > (reserved - spent) * (1 + 1e-9)


@dataclass(slots=True)
class CallCharge:
    """What one call outside of a run may cost, None where nothing limits it, and what it did cost."""

    budget: float | None
    spent: float = 0.0


@contextmanager
def charged_call(
    sessions: Callable[[], AbstractContextManager[Session]],
    version: int | None,
    task: Task,
    model: RunnableModel,
    outside: Outside,
    inputs: Sequence[Mapping[str, Any]],
) -> Iterator[CallCharge]:
    """Reserve, while the block asks *model* about *inputs* outside of a run, what that may cost; then record it.

    *version* is the model's, where it is registered; of one that is not, only the budget of its key is known. Raises
    OverBudget where what is left does not cover the call.
    """
    asking = ADAPTERS.get(model.adapter)().asking_size(task, model.options)
    limits = [limit for limit in budgets_of(model.options, outside) if limit[1] or version is not None]
    if asking is None or not limits:
        yield CallCharge(None)
        return
    table = pl.DataFrame([dict(example) for example in inputs], infer_schema_length=None)
    most = most_of(asking, model.options, outside, task, table)
    payer = _Payer(version, _secret_of(model.options), limits)
    with sessions() as db, transaction(db):
        lock(db, "charges")
        if payer.left(db) < most:
            raise OverBudget(
                "What is left of its budget does not cover the call.",
                remedy="The builder raises `budget` in a new version, the operator that of the key.",
                page="Its builder, or the operator, can raise the budget.",
            )
        charge = Charge(model_version_id=version, generation=0, secret=payer.secret, amount=most)
        db.add(charge)
        db.flush()
        number = charge.id
    call = CallCharge(most)
    try:
        yield call
    finally:
        with sessions() as db, transaction(db):
            queries.settle_call_charge(db, number, call.spent)


def _settle_killed(db: Session, cell_id: int, outside: Outside) -> None:
    """Record what runs of a cell had spent that were killed: as they kept it, else all that they had reserved."""
    for charge in queries.pending_of_cell(db, cell_id):
        spent = spent_by(outside.cache, _run_name(cell_id, charge.generation))
        queries.settle_charge(db, cell_id, charge.generation, charge.amount if spent is None else spent)


def _run_name(cell_id: int, generation: int) -> str:
    return f"cell {cell_id}, run {generation}"


def _secret_of(options: Options) -> str | None:
    return str(options["secret"]) if "secret" in options else None


def wait(db: Session, lease: CellLease) -> None:
    """Put the cell back until other runs have left something of the budget, or spent it; that is no attempt."""
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
