"""Answers as a file gives them, mapped to those of the task: by value, or by ranges of a score."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import reduce

import polars as pl

from quintain.core.texts import Text
from quintain.data.numbers import plain_numbers
from quintain.data.plan import ImportPlan, Range
from quintain.data.shaping import Misfit

UNMAPPED = "not in the label map"
DROPPED = "dropped by their answer"


@dataclass(frozen=True, slots=True)
class MappedAnswers:
    """Answers; *keep* says which rows stay (None for all of them)."""

    values: pl.Series
    keep: pl.Series | None = None
    misfits: tuple[Misfit, ...] = ()
    dropped: Counter[str] = field(default_factory=Counter)


def map_answers(values: pl.Series, plan: ImportPlan) -> MappedAnswers:
    """Map *values* as the plan's labels or ranges say."""
    if not plan.labels and not plan.ranges and not plan.drop:
        return MappedAnswers(values)
    if values.dtype.is_nested():
        return MappedAnswers(values)
    texts = values.cast(pl.String()).str.strip_chars()
    unwanted = texts.fill_null("").is_in(list(plan.drop))
    if plan.ranges:
        return _by_range(texts, unwanted, plan)
    return _by_value(texts, unwanted, plan)


def _by_value(texts: pl.Series, unwanted: pl.Series, plan: ImportPlan) -> MappedAnswers:
    keys = list(plan.labels)
    # A star that is 4 in one file is 4.0 in another.
    plain = texts.str.replace(r"^(-?\d+)\.0+$", "$1")
    mapped = pl.select(pl.when(texts.is_in(keys)).then(texts).otherwise(plain)).to_series()
    known = mapped.is_in(keys)
    values = mapped.replace(dict(plan.labels))
    values = pl.select(pl.when(known).then(values).otherwise(texts)).to_series()
    unmapped = ~known.fill_null(False) if plan.unmapped == "drop" and keys else _none(texts)
    return _result(values, unwanted, unmapped, ())


def _by_range(texts: pl.Series, unwanted: pl.Series, plan: ImportPlan) -> MappedAnswers:
    numbers = plain_numbers(texts).cast(pl.Float64(), strict=False)
    inside = [_inside(numbers, one) for one in plan.ranges]
    nothing = pl.Series([None], dtype=pl.String()).new_from_index(0, len(texts))
    values = nothing
    for label_range, here in zip(reversed(plan.ranges), reversed(inside), strict=True):
        values = pl.select(
            pl.when(here).then(pl.lit(label_range.label, dtype=pl.String())).otherwise(values)
        ).to_series()
    nowhere = ~reduce(lambda left, right: left | right, inside)
    band = values.is_null() & ~nowhere
    if plan.unmapped == "drop":
        return _result(values, unwanted | band, nowhere, ())
    misfits = tuple(
        (
            at,
            Text(
                "'{given}' is not a number" if numbers[at] is None else "{given} is in none of the ranges",
                given=texts[at],
            ),
        )
        for at in (nowhere & ~unwanted & texts.is_not_null() & (texts != "")).arg_true().to_list()
    )
    return _result(values, unwanted | band, _none(texts), misfits)


def _none(values: pl.Series) -> pl.Series:
    return pl.Series([False]).new_from_index(0, len(values))


def _inside(numbers: pl.Series, label_range: Range) -> pl.Series:
    here = numbers.is_not_null() & numbers.is_not_nan().fill_null(False)
    if label_range.low is not None:
        here = here & (numbers >= label_range.low).fill_null(False)
    if label_range.high is not None:
        here = here & (numbers < label_range.high).fill_null(False)
    return here


def _result(values: pl.Series, unwanted: pl.Series, unmapped: pl.Series, misfits: tuple[Misfit, ...]) -> MappedAnswers:
    dropped = Counter({DROPPED: int(unwanted.sum()), UNMAPPED: int((unmapped & ~unwanted).sum())})
    return MappedAnswers(values, ~(unwanted | unmapped), misfits, +dropped)
