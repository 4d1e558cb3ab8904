"""What votes between two answers come to: ratings of models, what style does, and how voters vote."""

from __future__ import annotations

from dataclasses import dataclass

from quintain.core.records.base import Record, left_out


@dataclass(frozen=True, slots=True)
class RatedModel(Record):
    """A model's rating in points with its interval, its rank with the best and the worst that it may be, its *votes*.

    The model that ratings are anchored at has its rating for sure.
    """

    model: str
    rating: float
    low: float
    high: float
    rank: int
    rank_low: int
    rank_high: int
    votes: int


@dataclass(frozen=True, slots=True)
class StyleEffect(Record):
    """How many points an answer gains by its looks or its side; *name* is length, lists, headings or position."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class StyleRatings(Record):
    """The same models with what style does taken out, and what it does."""

    models: list[RatedModel]
    effects: list[StyleEffect]


@dataclass(frozen=True, slots=True)
class GroupRatings(Record):
    """Ratings from a part of the votes, such as those in one language; without models, the *reason*."""

    name: str
    models: list[RatedModel]
    votes: int
    ties: int
    reason: str | None = left_out()


@dataclass(frozen=True, slots=True)
class VoterReliability(Record):
    """How somebody votes: how often for *left*, and for the model that is rated higher (*agreement*), ties apart.

    *expected* is how often a voter who follows the ratings would. *one_sided* is who always chose the same side.
    """

    judge: str
    votes: int
    ties: int
    left: float | None
    agreement: float | None
    expected: float | None
    one_sided: bool


@dataclass(frozen=True, slots=True)
class PreferenceStudy(Record):
    """Ratings from votes, strongest model first. *ties* counts those that found both bad, too."""

    models: list[RatedModel]
    votes: int
    ties: int
    both_bad: int
    notes: list[str]
    warnings: list[str]
    style: StyleRatings | None = left_out()
    groups: list[GroupRatings] | None = left_out()
    judges: list[VoterReliability] | None = left_out()
