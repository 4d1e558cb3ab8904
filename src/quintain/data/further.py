"""What a table says of its rows besides what we ask for: which review they are from, and columns that nobody names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from quintain.core.errors import Fault
from quintain.core.jsontext import NotJson, parse_json
from quintain.data.in_memory import Source
from quintain.data.tables import row_number

META = "meta"  # of a harvest: what the model said of a sentence, and the columns that it was told to keep
REVIEWS = ("review", "review_id", "group")  # columns that name the review: ours, the paper's, a harvest's
ORIGIN: Mapping[str, pl.DataType] = {"rating": pl.Float64(), "start": pl.Int64(), "end": pl.Int64()}
PAPERS_RATING, PAPERS_PLACE = "review_rating", "indices_into_review_text"  # the same as DynaSent's files call them
PAPERS_TYPES: Mapping[str, pl.DataType] = {PAPERS_RATING: pl.Float64()}
MOST = 10_000  # letters that may be known of a row besides
LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class FurtherFacts:
    """What else is known of each row of a table, and which review it is from, where that is said."""

    about: list[dict[str, Any]]
    reviews: list[str]
    faults: list[Fault]


def with_our_names(table: pl.DataFrame) -> pl.DataFrame:
    """Return *table* with a sentence's rating and place as we call them, where it has them as the paper does."""
    if PAPERS_RATING in table.columns and "rating" not in table.columns:
        table = table.rename({PAPERS_RATING: "rating"})
    if PAPERS_PLACE not in table.columns or {"start", "end"} & {*table.columns}:
        return table
    places = [_place(value) for value in table[PAPERS_PLACE].to_list()]
    if None in places:
        return table
    starts, ends = zip(*(place or (None, None) for place in places), strict=True)
    return table.drop(PAPERS_PLACE).with_columns(
        pl.Series("start", starts, dtype=pl.Int64()), pl.Series("end", ends, dtype=pl.Int64())
    )


def _place(value: Any) -> tuple[int | None, int | None] | None:
    """Return where a sentence begins and ends, nowhere if that is not said; None where it cannot be read.

    >>> _place([0, 6]), _place("[0, 6]"), _place(None), _place("all")
    ((0, 6), (0, 6), (None, None), None)
    """
    if value in (None, ""):
        return None, None
    try:
        ends = parse_json(value) if isinstance(value, str) else value
    except NotJson:
        return None
    whole = isinstance(ends, list) and [type(end) for end in ends] == [int, int]
    return (ends[0], ends[1]) if whole else None


def further_facts(table: pl.DataFrame, known: Collection[str], source: Source) -> FurtherFacts:
    """Read what stands in columns that are not *known*."""
    others = table.select(name for name in table.columns if name not in known)
    about, reviews, faults = [], [], []
    for at, row in enumerate(others.to_dicts() if others.width else [{}] * table.height):
        facts, review = _facts(row)
        about.append(facts)
        reviews.append(review)
        if facts and is_too_much(facts):
            number = row_number(source, at)
            faults.append(
                Fault("has more than {most} letters in further columns", most=MOST, file=source.name, row=number)
            )
    return FurtherFacts(about, reviews, faults)


def _facts(row: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    facts = {name: value for name, value in row.items() if name != META and value not in (None, "")}
    name = next((name for name in REVIEWS if name in facts), None)
    review = review_name(facts[name]) if name else ""
    if name and len(str(facts[name])) <= LONGEST_NAME:  # a whole review is worth keeping
        del facts[name]
    return {**kept_columns(row.get(META)), **facts}, review


def review_name(value: Any) -> str:
    """Name a review by what a table calls it; where that is its whole text, by a hash.

    >>> review_name(17), len(review_name("So so. " * 100))
    ('17', 32)
    """
    text = "" if value is None else str(value)
    return text if len(text) <= LONGEST_NAME else hashlib.sha256(text.encode()).hexdigest()[:32]


def is_too_much(facts: Mapping[str, Any]) -> bool:
    """Whether more is said of a row than is kept."""
    return len(json.dumps(facts, ensure_ascii=False, default=str)) > MOST


def kept_columns(meta: Any) -> dict[str, Any]:
    """Return the columns that a harvest was to keep, from what it wrote beside a sentence.

    >>> kept_columns('{"model": "ab", "corpus": {"city": "Graz"}}')
    {'city': 'Graz'}
    """
    try:
        facts = parse_json(meta) if isinstance(meta, str) and meta else meta
    except NotJson:
        return {}
    columns = facts.get("corpus") if isinstance(facts, Mapping) else None
    return dict(columns) if isinstance(columns, Mapping) else {}
