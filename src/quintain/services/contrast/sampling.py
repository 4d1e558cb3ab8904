"""Which examples are edited: drawn by a seed, at random or evenly over tags or labels."""

from __future__ import annotations

import hashlib

import polars as pl

from quintain.core.contrast import ContrastSpec
from quintain.core.errors import Fault
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.services.data.content import has_answer
from quintain.tasks.contract import kind_of

USUAL_PIVOTS = 100  # where nobody says how many: so many, or all where there are fewer


def draw_pivots(spec: ContrastSpec, task: Task, table: pl.DataFrame) -> tuple[pl.DataFrame, list[Fault]]:
    """Draw the examples of a project from those of a data set version, and say what cannot be drawn.

    The same seed draws the same examples in the same order, whatever else is in the table.
    """
    faults = list(_label_faults(spec, task))
    order = pl.Series([_lot(spec.seed, one) for one in table["id"].to_list()], dtype=pl.String)
    mixed = table.with_columns(__order=order).sort("__order")
    parts = [mixed] if spec.pick == "random" else [mixed.filter(_matches(spec, table, name)) for name in spec.picked]
    for name, part in zip(spec.picked, parts, strict=False):
        if part.is_empty() and not faults:
            faults.append(Fault("no example has '{name}'", name=name, field="picked"))
    if faults:
        return mixed.clear(), faults
    pivots = _in_turn(parts, spec.pivots or USUAL_PIVOTS)
    if spec.pivots is not None and pivots.height < spec.pivots:
        reason = Text("there are {found} such examples, not {wanted}", found=pivots.height, wanted=spec.pivots)
        faults = [Fault(reason, field="pivots")]
    return pivots.drop("__order"), faults


def _label_faults(spec: ContrastSpec, task: Task) -> list[Fault]:
    known = task.label_names
    if spec.pick != "label" or not kind_of(task).needs_labels:
        return []
    return [
        Fault("'{label}' is not one of {known}", label=one, known=", ".join(known), field="picked")
        for one in spec.picked
        if one not in known
    ]


def _matches(spec: ContrastSpec, table: pl.DataFrame, name: str) -> pl.Expr:
    if spec.pick == "tag":
        return pl.col("tags").list.contains(name)
    return has_answer("answer", table.schema["answer"], name)


def _in_turn(parts: list[pl.DataFrame], number: int) -> pl.DataFrame:
    """Take one of each part in turn, each example once, until there are *number*."""
    ranked = [
        part.with_columns(__turn=pl.int_range(pl.len()), __part=pl.lit(place)) for place, part in enumerate(parts)
    ]
    every = pl.concat(ranked).sort("__turn", "__part").unique("id", keep="first", maintain_order=True)
    return every.head(number).drop("__turn", "__part")


def _lot(seed: int, example: str) -> str:
    return hashlib.sha256(f"{seed}/{example}".encode()).hexdigest()
