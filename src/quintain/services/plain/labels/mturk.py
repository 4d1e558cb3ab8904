"""Batches of Mechanical Turk, for old studies: its result files become judgements, and judgements its result files.

A result file has a row for each assignment: `HITId`, `AssignmentId`, `WorkerId`, `AssignmentStatus`,
`WorkTimeInSeconds`, `Reward`, a column `Input.…` for each field of the template, and `Answer.…` for each answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.rounds import Money
from quintain.core.texts import Text

NEEDED = ("HITId", "WorkerId")
REJECTED = "Rejected"


@dataclass(frozen=True, slots=True)
class TurkBatch:
    """What a result file holds: judgements as `item,worker,label`, and what the batch paid.

    *rejected* rows are in the judgements as all others: what becomes of work is not for its requester to hide.
    """

    judgements: pl.DataFrame
    assignments: int
    workers: int
    rejected: int
    paid: Money
    median_seconds: float | None
    hourly: Money | None


def read_batch(table: pl.DataFrame, *, label: str = "", item: str = "", file: str = "") -> TurkBatch:
    """Read a result file: *label* is the column of answers, *item* that of items; else the only ones there are."""
    missing = [name for name in NEEDED if name not in table.columns]
    if missing:
        raise BadInput(
            faults=[Fault("has no column '{name}'", name=name, file=file or None) for name in missing],
            remedy="It is a result file of Mechanical Turk, as the requester's site gives it.",
        )
    answers = _one_of(table, label, "Answer.", "--label", file)
    items = _one_of(table, item, "Input.", "--item", file) if item or _starting(table, "Input.") else "HITId"
    judgements = table.select(
        pl.col(items).cast(pl.String).alias("item"),
        pl.col("WorkerId").cast(pl.String).alias("worker"),
        pl.col(answers).cast(pl.String).alias("label"),
    ).filter(pl.col("label").is_not_null() & (pl.col("label") != ""))
    rewards = [_reward(text) for text in _texts(table, "Reward")]
    seconds = [float(text) for text in _texts(table, "WorkTimeInSeconds") if re.fullmatch(r"\d+(\.\d+)?", text)]
    middle = median(seconds) if seconds else None
    each = median(rewards) if rewards else 0
    return TurkBatch(
        judgements,
        table.height,
        judgements["worker"].n_unique(),
        sum(text == REJECTED for text in _texts(table, "AssignmentStatus")),
        Money(sum(rewards), "USD"),
        middle,
        Money(round(each * 3600 / middle), "USD") if middle and each else None,
    )


def write_batch(judgements: pl.DataFrame, *, title: str, reward: Money) -> pl.DataFrame:
    """Write judgements as a result file: one HIT for each item, one assignment for each judgement."""
    numbered = judgements.with_row_index("row")
    return numbered.select(
        pl.col("item").cast(pl.String).alias("HITId"),
        pl.lit(title).alias("Title"),
        pl.lit(f"${reward.amount / 100:.2f}").alias("Reward"),
        pl.format("A{}", pl.col("row") + 1).alias("AssignmentId"),
        pl.col("worker").cast(pl.String).alias("WorkerId"),
        pl.lit("Approved").alias("AssignmentStatus"),
        (pl.col("seconds") if "seconds" in judgements.columns else pl.lit(None)).alias("WorkTimeInSeconds"),
        pl.col("item").cast(pl.String).alias("Input.item"),
        pl.col("label").cast(pl.String).alias("Answer.label"),
    )


def _one_of(table: pl.DataFrame, column: str, start: str, option: str, file: str) -> str:
    known = _starting(table, start)
    name = column if column in table.columns else f"{start}{column}"
    if column and name not in table.columns:
        fault = Fault("has no column '{name}'; there are {known}", name=name, known=", ".join(known), file=file or None)
        raise BadInput(faults=[fault])
    if column or len(known) == 1:
        return name if column else known[0]
    listed = ", ".join(known) or "–"
    fault = Fault("has {n} columns '{start}…': {known}", n=len(known), start=start, known=listed, file=file or None)
    raise BadInput(faults=[fault], remedy=Text("Say which one with {option}.", option=option))


def _starting(table: pl.DataFrame, start: str) -> list[str]:
    return [name for name in table.columns if name.startswith(start)]


def _texts(table: pl.DataFrame, name: str) -> Sequence[str]:
    if name not in table.columns:
        return []
    return [str(value).strip() for value in table[name].to_list() if value is not None]


def _reward(text: str) -> int:
    match = re.fullmatch(r"\$?\s*(\d+)(?:\.(\d{1,2}))?", text)
    if match is None:
        raise BadInput("'{text}' is no reward.", text=text[:40], remedy="It is written as $0.25.")
    return int(match[1]) * 100 + int((match[2] or "0").ljust(2, "0"))
