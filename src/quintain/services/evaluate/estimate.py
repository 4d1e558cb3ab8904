"""What calls to a paid server will cost, before the first of them; nothing here needs a workspace."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from quintain.adapters.contract import Options, Outside
from quintain.adapters.prices import BYTES_PER_TOKEN, prices_of
from quintain.core.cells import PLAIN
from quintain.core.records.evaluate import CostEstimate
from quintain.core.task import Task
from quintain.services.evaluate.variants import VARIANT_ROWS, variants_for
from quintain.tasks.contract import kind_of

CHAT = "chat"  # the adapter whose calls have a price


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
    budgets = [limit for limit, _ in budgets_of(options, outside)]
    return CostEstimate(
        calls=calls,
        input_tokens=tokens,
        cost=prices.cost(tokens, min(most_tokens, 4) * calls),
        cost_at_most=prices.cost(size, most_tokens * calls),
        budget=min(budgets, default=None),
    )


def left_for(options: Options, outside: Outside, spent: float) -> float | None:
    """Give what is left of the budgets after *spent*, outside a workspace; None where there is none."""
    limits = [limit for limit, _ in budgets_of(options, outside)]
    return max(min(limits) - spent, 0.0) if limits else None


def budgets_of(options: Options, outside: Outside) -> list[tuple[float, bool]]:
    """List the budgets that hold, and whether each is shared by all models that use the key."""
    secret = outside.secrets.get(str(options.get("secret", "")))
    own = [(float(options["budget"]), False)] if "budget" in options else []
    return own if secret is None or secret.budget is None else [*own, (secret.budget, True)]


def most_of(options: Options, outside: Outside, task: Task, inputs: Path) -> float:
    """Give the most that a run on the file of *inputs* can cost."""
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
