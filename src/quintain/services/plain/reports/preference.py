"""Ratings of models from votes between two answers: with intervals, by style, in parts, and how voters vote."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from quintain.core.errors import BadInput
from quintain.core.records.preference import (
    GroupRatings,
    PreferenceStudy,
    RatedModel,
    StyleEffect,
    StyleRatings,
    VoterReliability,
)
from quintain.core.texts import Text
from quintain.data.in_memory import Source
from quintain.services.plain.reports.voters import ONE_SIDED, drop_one_sided, reliability
from quintain.services.plain.reports.votes import VoteReading, VoteTable, read_votes
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.paired_comparisons import Comparisons, Strengths, fit_strengths
from quintain.stats.rating_intervals import StrengthErrors, rank_intervals, ranks, spread_of

POINTS = 400 / math.log(10)  # of one logit
MIDDLE = 1000.0
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Rating:
    """How to rate: the model that ratings are anchored at with its points, and whose votes are left out.

    Without an *anchor* the mean of the ratings is 1000. *seed* is that of the draws behind intervals of ranks.
    """

    anchor: tuple[str, float] | None = None
    without_one_sided: bool = False
    seed: int = 0
    reading: VoteReading = field(default_factory=VoteReading)


@dataclass(frozen=True, slots=True)
class _Fitted:
    """Estimates of the models that are *present*, and the names of those that only added votes hold."""

    strengths: Strengths
    spread: StrengthErrors
    present: IntArray
    held: list[str]


def rate_models(path: Source, rating: Rating) -> PreferenceStudy:
    """Return ratings from a table of votes `left, right, winner`, in points of 400 / ln 10 a logit.

    Refused: an empty table, votes of which none has a winner, models that no chain of votes joins, an anchor that
    nobody voted on. Where one model won or lost all of its votes, half a vote each way holds it, and a warning says so.
    """
    table = read_votes(path, rating.reading)
    notes, warnings = list(table.notes), list[str]()
    if rating.without_one_sided:
        table, text = drop_one_sided(table)
        notes.append(text)
    votes, present = table.comparisons()
    problem = _problem(table, votes, present)
    if problem is not None:
        raise BadInput(problem, remedy="Bring votes that have a winner and join all models, or take --by to part them.")
    fitted = _fit(votes, present, table)
    models = _rated(table, fitted, rating)
    notes.append(Text("Votes join all {n} models.", n=len(models)))
    warnings += _held(fitted.held)
    judges = reliability(table, fitted.strengths) if table.judges else None
    warnings += _one_sided(judges or [])
    both_bad = int(table.rows.filter("both_bad")["times"].sum())
    style = _style(table, rating, notes) if table.styles else None
    groups = _groups(table, rating) if rating.reading.by else None
    return PreferenceStudy(models, table.votes, table.ties, both_bad, notes, warnings, style, groups, judges)


def _problem(table: VoteTable, votes: Comparisons, present: IntArray) -> Text | None:
    """Return why there can be no ratings, if so."""
    if not (votes.outcome != 0).any():
        return Text("No vote has a winner: nothing tells the models apart.")
    parts = votes.components()
    if not parts.any():
        return None
    names = [
        [table.models[present[at]] for at in np.flatnonzero(parts == part)] for part in range(int(parts.max()) + 1)
    ]
    names.sort(key=len)
    return Text(
        "No vote joins {few} with {others}: their ratings cannot be compared. The models fall into {n} parts.",
        few=_some(names[0]),
        others=_some(names[-1]),
        n=len(names),
    )


def _some(names: list[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:SHOWN])
    return f"{shown}, …" if len(names) > SHOWN else shown


def _fit(votes: Comparisons, present: IntArray, table: VoteTable) -> _Fitted:
    parts = votes.components(strong=True)
    held: list[str] = []
    if parts.any():
        sizes = np.bincount(parts)
        held = [table.models[present[at]] for at in np.flatnonzero(parts != int(sizes.argmax()))]
        votes = votes.held(parts)
    strengths = fit_strengths(votes)
    return _Fitted(strengths, spread_of(strengths, table.votes, held=bool(held)), present, held)


def _rated(table: VoteTable, fitted: _Fitted, rating: Rating) -> list[RatedModel]:
    """Return the models with their ratings, strongest first."""
    n = len(fitted.present)
    names = [table.models[at] for at in fitted.present]
    strengths = fitted.strengths.values[:n]
    points, errors = _anchored(names, strengths, fitted.spread, rating)
    wide = fitted.spread.factor(0.95) * errors * POINTS
    rank = ranks(strengths)
    low, high = rank_intervals(strengths, fitted.spread, np.random.default_rng(rating.seed))
    counts = table.votes_of()[fitted.present]
    return [
        RatedModel(
            names[at],
            float(points[at]),
            float(points[at] - wide[at]),
            float(points[at] + wide[at]),
            int(rank[at]),
            int(low[at]),
            int(high[at]),
            int(counts[at]),
        )
        for at in np.lexsort((np.arange(n), rank))
    ]


def _anchored(
    names: list[str], strengths: FloatArray, spread: StrengthErrors, rating: Rating
) -> tuple[FloatArray, FloatArray]:
    """Return the ratings in points, and the standard errors in logits: of the distance to the anchor, where one is."""
    if rating.anchor is None:
        return MIDDLE + POINTS * strengths, spread.errors()[: len(names)]
    name, points = rating.anchor
    if name not in names:
        raise BadInput(
            "There is no vote on the anchor '{name}'.",
            name=name,
            known=_some(names),
            remedy="Anchor at a model of the table: {known}.",
        )
    at = names.index(name)
    return points + POINTS * (strengths - strengths[at]), spread.errors_apart(len(names))[at]


def _held(names: list[str]) -> list[str]:
    if not names:
        return []
    return [
        Text(
            "Against all others, {names} won every vote or lost every vote: half a vote each way holds their ratings.",
            names=_some(names),
        )
    ]


def _one_sided(judges: list[VoterReliability]) -> list[str]:
    sided = [judge for judge in judges if judge.one_sided]
    if not sided:
        return []
    return [
        Text(
            "Always for the same side, in {least} votes or more: {names} ({votes:,} votes). "
            "--without-one-sided leaves these out.",
            least=ONE_SIDED,
            names=_some([judge.judge for judge in sided]),
            votes=sum(judge.votes for judge in sided),
        )
    ]


def _style(table: VoteTable, rating: Rating, notes: list[str]) -> StyleRatings:
    """Return ratings with what style does taken out; what cannot be told from the models is left out, with a note."""
    votes, present = table.comparisons(styles=True)
    known = votes.identified()
    names = [name for name, told in zip(table.styles, known, strict=True) if told]
    unknown = [name for name, told in zip(table.styles, known, strict=True) if not told]
    if unknown:
        notes.append(Text("What these do cannot be told from the votes: {names}.", names=", ".join(unknown)))
    fitted = _fit(votes.with_covariates(known), present, table)
    n = len(present)
    values, errors = fitted.strengths.values, fitted.spread.errors()
    factor = fitted.spread.factor(0.95)
    effects = [
        StyleEffect(
            name,
            *(float(POINTS * (values[n + at] + side * factor * errors[n + at])) for side in (0, -1, 1)),
        )
        for at, name in enumerate(names)
    ]
    return StyleRatings(_rated(table, fitted, rating), effects)


def _groups(table: VoteTable, rating: Rating) -> list[GroupRatings]:
    """Rate each part by itself; one that cannot be rated says why."""
    groups = []
    sizes = table.rows.group_by("group").agg(pl.col("times").sum()).sort("times", "group", descending=[True, False])
    for name in sizes["group"].to_list():
        part = table.part(name)
        votes, present = part.comparisons()
        problem = _problem(part, votes, present)
        if problem is None and rating.anchor and rating.anchor[0] not in [part.models[at] for at in present]:
            problem = Text("There is no vote on the anchor '{name}'.", name=rating.anchor[0])
        models = [] if problem is not None else _rated(part, _fit(votes, present, part), rating)
        groups.append(GroupRatings(name, models, part.votes, part.ties, problem))
    return groups
