"""What models on paid servers cost: an estimate before the first call, and budgets over all runs together.

A run sets aside the most that it can cost before it starts, and what it did cost takes the place of that when it ends,
however it ends: runs that go on side by side cannot spend the same money twice. There are two budgets: that of the
manifest, for all runs of a model version, and the operator's, for all runs that use a key.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.adapters.contract import Options, Outside
from quintain.adapters.prices import BYTES_PER_TOKEN, prices_of
from quintain.core.cells import CellState
from quintain.core.task import Task
from quintain.engine.runner import RunnableModel
from quintain.engine.sandbox.limits import Outcome, RunEnded
from quintain.services.evaluate.cells import ASKED, EVALUATED, VARIANT_ROWS, CellLease, variants_for
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.evaluate import cells as cell_queries
from quintain.store.queries.evaluate import charges as queries
from quintain.store.queries.evaluate.cells import PLAIN
from quintain.store.queries.tasks.tasks import task_row
from quintain.store.tables import Charge
from quintain.tasks.contract import kind_of

CHAT = "chat"  # the adapter whose calls have a price
SAMPLED = 500  # rows that the length of prompts is guessed from
RETRY_SECONDS = 30.0


class WaitingForBudget(Exception):
    """Other runs have set aside what is left; they may leave some of it."""


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """How many calls runs will make at most, and what they cost: about, with replies of a word, and at most."""

    calls: int
    input_tokens: int
    cost: float
    cost_at_most: float
    budget: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """Say it in a sentence."""
        said = f"up to {self.calls:,} calls with about {self.input_tokens:,} tokens of prompts"
        if self.cost_at_most:
            said += f", which cost about {self.cost:.4g}, and {self.cost_at_most:.4g} at most"
        return said if self.budget is None else f"{said}; the budget is {self.budget:.4g}"


def estimate(
    task: Task,
    adapter: str,
    options: Options,
    outside: Outside,
    tables: Iterable[tuple[int, pl.DataFrame]],
    *,
    perturbed: bool = True,
) -> CostEstimate | None:
    """Estimate the runs on data sets, each by its rows and some of them; None where calls have no price."""
    if adapter != CHAT:
        return None
    prices, most_tokens = prices_of(options, outside), int(options.get("max_tokens", 64))
    wanted = variants_for(task, adapter, options.get("perturbations", "counted"))
    variants = sum(variant != PLAIN for variant in wanted) if perturbed else 0
    calls, size = 0, 0.0
    for rows, sample in tables:
        here = rows + variants * min(rows, VARIANT_ROWS)
        calls += here
        size += here * _bytes(options, task, sample) / max(sample.height, 1)
    tokens = round(size / BYTES_PER_TOKEN)
    budgets = [limit for limit, _ in _limits(options, outside)]
    return CostEstimate(
        calls=calls,
        input_tokens=tokens,
        cost=prices.cost(tokens, min(most_tokens, 4) * calls),
        cost_at_most=prices.cost(size, most_tokens * calls),
        budget=min(budgets, default=None),
    )


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
    limits = _limits(options, outside)
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
        amount = min(left, _most(options, outside, task, inputs))
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


def left_for(options: Options, outside: Outside, spent: float) -> float | None:
    """Give what is left of the budgets after *spent*, outside a workspace; None where there is none."""
    limits = [limit for limit, _ in _limits(options, outside)]
    return max(min(limits) - spent, 0.0) if limits else None


def _limits(options: Options, outside: Outside) -> list[tuple[float, bool]]:
    """List the budgets that hold, and whether each is shared by all models that use the key."""
    secret = outside.secrets.get(str(options.get("secret", "")))
    own = [(float(options["budget"]), False)] if "budget" in options else []
    return own if secret is None or secret.budget is None else [*own, (secret.budget, True)]


def _most(options: Options, outside: Outside, task: Task, inputs: Path) -> float:
    table = pl.read_parquet(inputs)
    return prices_of(options, outside).cost(
        _bytes(options, task, table), int(options.get("max_tokens", 64)) * table.height
    )


def _bytes(options: Options, task: Task, table: pl.DataFrame) -> int:
    """Count the bytes of the prompts that *table* makes: the template for each, and what is filled in."""
    around = len(f"{options.get('system', '')}{options.get('prompt', '')}{', '.join(task.label_names)}".encode())
    names = [item.name for item in kind_of(task).fields(task) if item.name in table.columns]
    texts = [
        table[name].list.eval(pl.element().cast(pl.String)).list.join("\n1. ", ignore_nulls=True)
        if isinstance(table.schema[name], pl.List)
        else table[name].cast(pl.String)
        for name in names
    ]
    return around * table.height + sum(int(text.str.len_bytes().sum() or 0) for text in texts)
