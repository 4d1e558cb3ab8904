"""The votes on an example as columns that everybody reads: how many said what, who did, and where the text is from.

They stand in `meta` of released examples; people are in it under other names. Where answers are withheld, votes are,
too: the columns are there all the same, and empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from quintain.core.task import Task

PUBLISHED = "votes"  # what a version says of itself where its votes are for everybody
DISTRIBUTION, NUMBER, JUDGES = "label_distribution", "votes", "judges"
WRITER, PROMPT, ORIGIN = "written_by", "written_from", "provenance"
MEANING: Mapping[str, str] = {
    DISTRIBUTION: "How many people gave each label; there is no answer where none has a majority that scores.",
    NUMBER: "How many people judged it.",
    JUDGES: "Who gave which label, under other names.",
    WRITER: "Who wrote it, under another name.",
    PROMPT: "The text that it was written from.",
    ORIGIN: "Where it, or the text that it was written from, comes from, as JSON.",
}


def votes_schema(task: Task) -> dict[str, Any]:
    """Return the columns that votes have, with their types."""
    text = pl.String()
    return {
        DISTRIBUTION: pl.Struct(dict.fromkeys(task.judgement_labels, pl.Int64())),
        NUMBER: pl.Int64(),
        JUDGES: pl.List(pl.Struct({"judge": text, "label": text})),
        WRITER: text,
        PROMPT: text,
        ORIGIN: text,
    }


def with_votes(table: pl.LazyFrame, task: Task) -> pl.LazyFrame:
    """Add the columns of the votes: from the examples' `meta` or, without it, empty ones."""
    schema = votes_schema(task)
    if "meta" not in table.collect_schema():
        return table.with_columns(pl.lit(None, dtype=dtype).alias(name) for name, dtype in schema.items())
    names = pl.Struct(dict.fromkeys(task.judgement_labels, pl.List(pl.String())))
    known = {DISTRIBUTION: schema[DISTRIBUTION], JUDGES: names, "writer": pl.String()}
    facts = pl.col("meta").str.json_decode(pl.Struct(known))
    judges, counts = facts.struct.field(JUDGES), facts.struct.field(DISTRIBUTION)
    return table.with_columns(
        counts.alias(DISTRIBUTION),
        pl.sum_horizontal(*(counts.struct.field(label).fill_null(0) for label in task.judgement_labels)).alias(NUMBER),
        pl.concat_list(*(_by_label(judges, label) for label in task.judgement_labels)).alias(JUDGES),
        facts.struct.field("writer").alias(WRITER),
        pl.coalesce(_at("$.prompt.text"), _at("$.prompt.sentence"), _at("$.prompt")).alias(PROMPT),
        _at("$.source").alias(ORIGIN),
    )


def _at(path: str) -> pl.Expr:
    return pl.col("meta").str.json_path_match(path)


def _by_label(judges: pl.Expr, label: str) -> pl.Expr:
    """Return those who voted for *label*, each with it."""
    vote = pl.struct(pl.element().alias("judge"), pl.lit(label, dtype=pl.String()).alias("label"))
    return judges.struct.field(label).fill_null([]).list.eval(vote)
