"""Ratings of models from votes between two answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.records.base import plain
from quintain.core.records.figures import Estimate
from quintain.core.records.preference import PreferenceStudy, RatedModel
from quintain.data.in_memory import source_of
from quintain.library.results import Result
from quintain.reports.charts import place_chart
from quintain.services.plain.reports.preference import Rating, rate_models
from quintain.services.plain.reports.votes import COLUMNS, VoteReading


@dataclass(frozen=True, slots=True, repr=False)
class PreferenceFound(Result):
    """How models rank by votes."""

    title = "Ratings by votes"
    record: PreferenceStudy

    @property
    def table(self) -> pl.DataFrame:
        """A row for each model: rating with interval, rank with the best and worst that it may be, and votes."""
        return _models(self.record.models)

    @property
    def styled(self) -> pl.DataFrame:
        """The same with what style does taken out; BadInput where style was not measured."""
        if self.record.style is None:
            raise BadInput("Style was not measured.", remedy="Give left_text and right_text, or style=True.")
        return _models(self.record.style.models)

    def content(self) -> Mapping[str, Any]:
        """Return all figures."""
        shape: Mapping[str, Any] = plain(self.record)
        return shape

    def chart(self) -> Mapping[str, Any]:
        """Draw the ratings with their intervals."""
        rows = [(row.model, Estimate(row.rating, row.low, row.high), row.votes) for row in self.record.models]
        return place_chart(rows, row="model", value="rating")

    def facts(self) -> Iterator[str]:
        """Return what it rests on."""
        yield f"{len(self.record.models):,} models"
        yield f"{self.record.votes:,} votes"
        yield f"{self.record.ties:,} ties"


def _models(models: list[RatedModel]) -> pl.DataFrame:
    return pl.DataFrame([plain(model) for model in models])


def preference(
    votes: Any,
    *,
    anchor: str | Mapping[str, float] | None = None,
    by: str | None = None,
    style: bool | None = None,
    without_one_sided: bool = False,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
) -> PreferenceFound:
    """Rate models from votes between two answers: Bradley–Terry with ties (Davidson), intervals of ratings and ranks.

    *votes* is a table `left, right, winner`; the winner is left, right, tie or both_bad. With a column `judge`
    intervals count each judge's votes together; `weight` weighs votes. Ratings are in points of 400 / ln 10 a logit and
    1000 on average, unless *anchor* is a model with its rating, `{"model": 1000}` or `"model=1000"`. *by* rates the
    votes of each value of a column by themselves. With `left_text` and `right_text`, or *style*, ratings are shown
    with what length, lists, headings and position do taken out, too. *without_one_sided* leaves out judges who always
    chose the same side. *seed* is that of the draws behind ranks.

    >>> votes = [("a", "b", "left")] * 6 + [("a", "b", "right")] * 2 + [("b", "c", "tie"), ("c", "b", "left")]
    >>> preference(votes).table["model"].to_list()
    ['a', 'c', 'b']
    """
    reading = VoteReading(columns or {}, by, style)
    rating = Rating(_anchor(anchor), without_one_sided, seed, reading)
    return PreferenceFound(rate_models(source_of(votes, COLUMNS, name="the votes"), rating))


def _anchor(value: str | Mapping[str, float] | None) -> tuple[str, float] | None:
    """Read `model=1000`; a model whose name has an equals sign keeps it."""
    if value is None:
        return None
    parts = list(value.items()) if isinstance(value, Mapping) else [_parted(value)] if isinstance(value, str) else []
    try:
        ((name, points),) = parts
        return str(name), float(points)
    except (TypeError, ValueError) as error:
        raise BadInput(
            "The anchor '{anchor}' is not a model with its rating.", anchor=value, remedy="Write it as MODEL=1000."
        ) from error


def _parted(text: str) -> tuple[str, str]:
    name, _, points = text.rpartition("=")
    return name, points
