"""What calls to a paid server will cost, before the first of them; nothing here needs a workspace."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from quintain.adapters.contract import ADAPTERS, AskingSize, Options, Outside
from quintain.adapters.prices import BYTES_PER_TOKEN, prices_of
from quintain.core.cells import PLAIN
from quintain.core.records.evaluate import CostEstimate
from quintain.core.task import Task
from quintain.services.evaluate.results.variants import VARIANT_ROWS, variants_for
from quintain.tasks.contract import kind_of


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
    asking = ADAPTERS.get(adapter)().asking_size(task, options)
    if asking is None:
        return None
    prices = prices_of(options, outside)
    names = variants_for(task, adapter, options.get("perturbations", "counted"))
    variants = sum(variant != PLAIN for variant in names) if perturbed else 0
    calls, asked, size = 0, 0, 0.0
    for rows, sample in tables:
        here = rows + variants * min(rows, VARIANT_ROWS)
        calls += here * asking.calls
        asked += here
        size += here * _bytes(asking, task, sample) / max(sample.height, 1)
    tokens = round(size / BYTES_PER_TOKEN)
    budgets = [limit for limit, _ in budgets_of(options, outside)]
    return CostEstimate(
        calls=calls,
        input_tokens=tokens,
        cost=prices.cost(tokens, asking.likely * asked),
        cost_at_most=prices.cost(size, asking.reply_tokens * asked),
        budget=min(budgets, default=None),
    )


def budgets_of(options: Options, outside: Outside) -> list[tuple[float, bool]]:
    """List the budgets that hold, and whether each is shared by all models that use the key."""
    secret = outside.secrets.get(str(options.get("secret", "")))
    own = [(float(options["budget"]), False)] if "budget" in options else []
    return own if secret is None or secret.budget is None else [*own, (secret.budget, True)]


def most_of(asking: AskingSize, options: Options, outside: Outside, task: Task, table: pl.DataFrame) -> float:
    """Return the most that asking about the examples of *table* can cost."""
    return prices_of(options, outside).cost(_bytes(asking, task, table), asking.reply_tokens * table.height)


def _bytes(asking: AskingSize, task: Task, table: pl.DataFrame) -> int:
    """Count the bytes that go out for *table*: what is around each example, and its fields as often as they stand."""
    names = [item.name for item in kind_of(task).fields(task) if item.name in table.columns]
    sizes = [asking.fields.get(name, 0) * int(_as_text(table, name).str.len_bytes().sum() or 0) for name in names]
    return asking.around * table.height + sum(sizes)


def _as_text(table: pl.DataFrame, name: str) -> pl.Series:
    if isinstance(table.schema[name], pl.List):
        items = table[name].list.eval(pl.element().cast(pl.String))
        return items.list.join("\n1000. ", ignore_nulls=True)
    return table[name].cast(pl.String)
