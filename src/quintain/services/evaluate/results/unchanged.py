"""How many answers stay the same when examples are perturbed: what robustness and fairness are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from quintain.core.task import Task
from quintain.metrics.flips import Unchanged, kept_answers, unchanged_share
from quintain.perturbations.contract import PERTURBATIONS
from quintain.perturbations.tables import lineage
from quintain.services.evaluate.results.variants import VARIANT_ROWS, counts_for
from quintain.tasks.contract import kind_of

BROKEN = "broken"  # stands for the predictions of a variant that the model broke
NOTHING_CHANGED: Mapping[str, Any] = {
    "share": {"value": None, "low": None, "high": None},
    "rows": 0,
    "examples": 0,
    "kinds": 0,
    "flips": 0,
    "families": {},
}


def perturbed_ids(plain: pl.DataFrame) -> pl.Series:
    """Return the ids of the examples that perturbations are made of, from the answers to all examples."""
    return plain["id"].sort().head(VARIANT_ROWS)


def unchanged_figures(task: Task, table: pl.DataFrame, examples: pl.Series) -> dict[str, Any]:
    """Return the share of unchanged answers of a table with `parent`, `family`, `group`, `before` and `after`.

    *examples* are the ids of all that were perturbed: an answer to one that did not change is unchanged.
    """
    if table.is_empty():
        return dict(NOTHING_CHANGED)
    return unchanged_shape(measure_unchanged(task, table, examples), table)


def unchanged_shape(unchanged: Unchanged, table: pl.DataFrame) -> dict[str, Any]:
    """Return the figures as plain data, with the perturbations on which the model broke its run."""
    broken = table.filter(BROKEN)["family"].unique().sort().to_list() if BROKEN in table.columns else []
    return unchanged.as_dict() | {BROKEN: broken}


def measure_unchanged(task: Task, table: pl.DataFrame, examples: pl.Series) -> Unchanged:
    """Measure the share; the figure is of the perturbations that count for *task*, and the others stand beside it."""
    same = kept_answers(kind_of(task).answer_type, table["before"], table["after"], task.language)
    if BROKEN in table.columns:
        same &= ~table[BROKEN].to_numpy()
    every = pl.DataFrame({"parent": examples}).join(table.select("family").unique(), how="cross")
    left = every.join(table, on=["parent", "family"], how="anti").sort("family", "parent")
    rows = pl.concat([table.select("parent", "family", "group"), left], how="diagonal")
    return unchanged_share(
        np.concatenate([same, np.ones(left.height, dtype=bool)]),
        rows["family"].to_list(),
        changed=np.arange(rows.height) < table.height,
        groups=rows["group"].to_list(),
        clusters=rows["parent"].rank("dense").cast(pl.Int64).to_numpy() - 1,
        beside=[name for name in PERTURBATIONS.names() if not counts_for(task, name)],
    )


def side_by_side(
    family: str, changed: pl.DataFrame, plain: pl.DataFrame, perturbed: pl.DataFrame | None
) -> pl.DataFrame:
    """Join the *changed* examples of a perturbation with what was answered to them and to their parents.

    Where the model broke the run there is nothing *perturbed*: all of its rows are `broken`, which counts as changed.
    """
    origin = lineage(changed).select("parent", pl.col("group").cast(pl.String))
    named = changed.select("id").hstack(origin).with_columns(family=pl.lit(family))
    before = plain.select(pl.col("id").alias("parent"), pl.col("prediction").alias("before"))
    joined = named.join(before, on="parent", how="left", maintain_order="left")
    if perturbed is None:
        nothing = pl.lit(None, dtype=plain.schema["prediction"])
        return joined.with_columns(nothing.alias("after"), pl.lit(value=True).alias(BROKEN))
    after = perturbed.select("id", pl.col("prediction").alias("after"))
    answered = joined.join(after, on="id", how="left", maintain_order="left")
    return answered.with_columns(pl.lit(value=False).alias(BROKEN))
