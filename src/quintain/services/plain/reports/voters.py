"""How voters vote: with the ratings or against them, and always for the same side."""

from __future__ import annotations

import numpy as np
import polars as pl

from quintain.core.records.preference import VoterReliability
from quintain.core.texts import Text
from quintain.services.plain.reports.votes import VoteTable
from quintain.stats.paired_comparisons import Strengths

ONE_SIDED = 10  # votes for one side and none for the other, which chance makes once in five hundred


def _sides(table: VoteTable) -> pl.DataFrame:
    """Count each judge's votes, ties and choices of the left."""
    times, outcome = pl.col("times").cast(pl.Int64), pl.col("outcome")
    return (
        table.rows.group_by("judge")
        .agg(
            votes=times.sum(),
            ties=times.filter(outcome == 0).sum(),
            left=times.filter(outcome == 1).sum(),
        )
        .with_columns(decided=pl.col("votes") - pl.col("ties"))
        .with_columns(
            one_sided=(pl.col("decided") >= ONE_SIDED) & ((pl.col("left") == 0) | (pl.col("left") == pl.col("decided")))
        )
        .sort("judge")
    )


def drop_one_sided(table: VoteTable) -> tuple[VoteTable, Text]:
    """Leave out the votes of judges who always chose the same side, and say how many."""
    if not table.judges:
        return table, Text("Nobody is left out: the table has no column judge.")
    sided = _sides(table).filter("one_sided")
    rows = table.rows.filter(~pl.col("judge").is_in(sided["judge"].implode()))
    left_out = Text(
        "Votes of {judges} judges who always chose the same side, left out: {n:,}.",
        judges=len(sided),
        n=int(sided["votes"].sum()),
    )
    return VoteTable(rows, table.models, table.judges, table.styles, table.notes), left_out


def reliability(table: VoteTable, strengths: Strengths) -> list[VoterReliability]:
    """Return how each judge votes, who votes most first."""
    chances, votes = strengths.chances, strengths.votes
    if votes.judges is None:
        return []
    decided = (votes.outcome != 0).astype(np.float64)
    lead = np.sign(chances.lead)
    agrees = decided * np.where(lead == 0, 0.5, votes.outcome == lead)
    higher = decided * np.maximum(chances.left, chances.right) / (chances.left + chances.right)
    counted, agreed, expected = (votes.judges @ values for values in (decided, agrees, higher))
    rows = []
    for at, (judge, count, ties, left, decisions, one_sided) in enumerate(_sides(table).iter_rows()):
        parts = (left / decisions, agreed[at] / counted[at], expected[at] / counted[at]) if decisions else ()
        shares: list[float | None] = [float(part) for part in parts] if parts else [None, None, None]
        row = VoterReliability(table.judges[judge], count, ties, shares[0], shares[1], shares[2], one_sided)
        rows.append(row)
    return sorted(rows, key=lambda row: (-row.votes, row.judge))
