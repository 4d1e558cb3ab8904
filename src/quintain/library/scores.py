"""Scores of predictions, rankings of models, and how a model does on contrast sets and in a contest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from quintain.core.records.base import plain
from quintain.core.records.contest import ContestScore
from quintain.core.records.contrast import ContrastPart, ContrastScore
from quintain.core.task import AnswerType
from quintain.data.in_memory import Source, source_of
from quintain.library.results import Result, spread
from quintain.metrics.evaluate import Evaluation, Slice
from quintain.reports.charts import interval_chart, value_chart
from quintain.services.plain.files.contest import ContestOptions, score_contest_file
from quintain.services.plain.files.contrast import ContrastOptions, score_contrast_files
from quintain.services.plain.files.rank import RankOptions, RankReport, rank_file
from quintain.services.plain.files.score import ScoreReport, score_files
from quintain.services.plain.files.scored_answers import Scoring
from quintain.stats.grading import Grading
from quintain.stats.utility import Choices


@dataclass(frozen=True, slots=True, repr=False)
class ScoresFound(Result):
    """Metrics with their intervals."""

    title = "Scores"
    report: ScoreReport

    @property
    def table(self) -> pl.DataFrame:
        """Each metric with its interval, over all and by slice."""
        whole = self.report.evaluation
        parts: list[tuple[str, Any, Evaluation | Slice]] = [("", "", whole)]
        parts += [(one.by, one.value, one) for one in whole.slices]
        rows = [
            {"by": by, "slice": value, "examples": part.examples, **spread(name, result.estimate)}
            for by, value, part in parts
            for name, result in part.metrics.items()
        ]
        table = pl.DataFrame(rows, infer_schema_length=None).rename({"figure": "metric"})
        return table if self.report.evaluation.slices else table.drop("by", "slice")

    def content(self) -> Mapping[str, Any]:
        """Return all metrics."""
        return self.report.as_dict()

    def chart(self) -> Mapping[str, Any]:
        """Draw the metrics with their intervals, by slice where there are some."""
        whole = self.report.evaluation
        parts: list[tuple[str, Evaluation | Slice]] = [("all", whole), *((str(one.value), one) for one in whole.slices)]
        figures = [
            (name, at, result.estimate, part.examples) for at, part in parts for name, result in part.metrics.items()
        ]
        return interval_chart(figures, row="metric", series="slice", value="score")

    def facts(self) -> Iterator[str]:
        """Return what it rests on."""
        yield f"{self.report.evaluation.examples:,} examples"
        if self.report.missing:
            yield f"{self.report.missing:,} missing predictions counted as wrong"


def score(
    gold: Any,
    predictions: Any,
    metrics: Sequence[str] = (),
    *,
    by: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    answer_type: AnswerType | None = None,
    cluster: str | None = None,
    allow_missing: bool = False,
    allow_unknown: bool = False,
    seed: int = 0,
    resamples: int = 1000,
) -> ScoresFound:
    """Score *predictions* (`id, prediction`) against *gold* (`id, answer`), matched by id, with 95 % intervals.

    Both may be mappings from ids to answers. *by* are columns of the gold table to slice by, *cluster* is one by which
    to resample. A prediction that is missing is refused, unless *allow_missing* counts it as wrong.

    >>> score({"a": "yes", "b": "no"}, {"a": "yes", "b": "yes"}, ["accuracy"]).table["value"].item()
    0.5
    """
    scoring = Scoring(
        metrics, by, columns, answer_type, cluster, allow_missing, allow_unknown, seed=seed, resamples=resamples
    )
    return ScoresFound(score_files(answers_source(gold, "answer"), answers_source(predictions, "prediction"), scoring))


@dataclass(frozen=True, slots=True, repr=False)
class RankingFound(Result):
    """Models from the best."""

    title = "Ranking"
    report: RankReport

    @property
    def table(self) -> pl.DataFrame:
        """A row for each model, from the best: its rank, Dynascore and mean z-score, and whether it is on the front."""
        rows = [
            {name: row[name] for name in ("rank", "model", "dynascore", "zscore", "pareto")}
            for row in self.report.as_dict()["models"]
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def content(self) -> Mapping[str, Any]:
        """Return the models with their figures, and what each metric is worth."""
        return self.report.as_dict()

    @property
    def notes(self) -> Sequence[str]:
        """What was noticed of metrics and of models without a rank."""
        unranked = [f"{name} is unranked: {why}." for name, why in self.report.ranking.unranked.items()]
        return [*(f"{name}: {note}" for name, note in self.report.ranking.notes.items()), *unranked]

    def chart(self) -> Mapping[str, Any]:
        """Draw the Dynascores."""
        scores = {row["model"]: row["dynascore"] for row in self.report.as_dict()["models"]}
        return value_chart(
            {name: value for name, value in scores.items() if value is not None}, category="model", value="Dynascore"
        )

    def facts(self) -> Iterator[str]:
        """Return what it rests on."""
        weights = ", ".join(f"{name} {weight:.2g}" for name, weight in self.report.ranking.weights.items())
        yield f"{len(self.report.table.models)} models by {weights}"


def rank(
    table: Any,
    weights: Mapping[str, float] | None = None,
    *,
    lower: Sequence[str] = (),
    caps: Mapping[str, float] | None = None,
    epsilon: float | None = None,
    perf: str | None = None,
    base: str | None = None,
    amrs: Mapping[str, float] | None = None,
    rate: str = "mean",
    aggregates: Sequence[str] = (),
    skip: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> RankingFound:
    """Rank the models of *table* (`model` and a column per metric) by Dynascore.

    *lower* names metrics of which less is better, *caps* from what such a metric is subtracted; metrics that *weights*
    does not name get 0, and without weights all count alike. *amrs* fixes exchange rates by hand;
    *rate* says what the others are of the rates of neighbours, their mean (as in the paper) or their median.

    >>> rank({"model": ["a", "b"], "perf": [80, 70], "speed": [1, 2]}, {"perf": 1}).table["model"].to_list()
    ['a', 'b']
    """
    choices = Choices(weights=weights, epsilon=epsilon, perf=perf, base=base, amrs=amrs or {}, rate=rate)
    options = RankOptions(lower, caps or {}, choices, aggregates, skip, columns)
    return RankingFound(rank_file(source_of(table), options))


@dataclass(frozen=True, slots=True, repr=False)
class ContrastFound(Result):
    """What a model makes of contrast sets."""

    title = "Contrast sets"
    figures: ContrastScore

    @property
    def table(self) -> pl.DataFrame:
        """The scores on originals and neighbours and the consistency, over all and by tag."""
        names = ("examples", "sets", "original", "contrast", "consistency")
        parts: list[tuple[str, ContrastScore | ContrastPart]] = [("(all)", self.figures), *self.figures.by_tag.items()]
        rows = [{"tag": tag, **{name: part[name] for name in names}} for tag, part in parts]
        return pl.DataFrame(rows, infer_schema_length=None)

    def content(self) -> Mapping[str, Any]:
        """Return all figures."""
        data: Mapping[str, Any] = plain(self.figures)
        return data

    def chart(self) -> Mapping[str, Any]:
        """Draw originals, neighbours and consistency with their intervals, by tag."""
        within = self.figures.intervals
        parts = [("all", within.overall, self.figures.sets)]
        parts += [(tag, part, self.figures.by_tag[tag].sets) for tag, part in within.by_tag.items()]
        figures = [
            (tag, name, getattr(part, name), sets)
            for tag, part, sets in parts
            for name in ("original", "contrast", "consistency")
        ]
        return interval_chart(figures, row="tag", series="figure", value="share")

    def facts(self) -> Iterator[str]:
        """Return what it rests on."""
        yield f"{self.figures.sets:,} sets, {self.figures.examples:,} examples"
        yield f"difference {100 * self.figures.difference:+.1f} points"


def contrast_score(
    examples: Any,
    predictions: Any,
    *,
    metric: str = "accuracy",
    threshold: float = 0.8,
    originals: Any = None,
    labels: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    normalise: str = "case",
    seed: int = 0,
    resamples: int = 1000,
) -> ContrastFound:
    """Score *predictions* on contrast sets: on originals, on their neighbours, and how often a whole set holds.

    *examples* has `id, set, role (original or contrast), gold, tags`; *predictions* `id, prediction`, or is a mapping.
    *metric* is accuracy, exact_match, f1 (right strictly above *threshold*) or set_exact_match.

    >>> sets = [
    ...     {"id": "1", "set": "s", "role": "original", "gold": "yes"},
    ...     {"id": "2", "set": "s", "role": "contrast", "gold": "no"},
    ... ]
    >>> contrast_score(sets, {"1": "yes", "2": "yes"}).figures.consistency
    0.0
    """
    options = ContrastOptions(Grading(metric, threshold, normalise), labels, columns, seed, resamples)
    return ContrastFound(
        score_contrast_files(
            source_of(examples, name="the examples"),
            answers_source(predictions, "prediction"),
            options,
            originals_path=None if originals is None else answers_source(originals, "prediction"),
        )
    )


@dataclass(frozen=True, slots=True, repr=False)
class ContestFound(Result):
    """What came of a contest."""

    title = "Contest"
    figures: ContestScore

    @property
    def table(self) -> pl.DataFrame:
        """A row for each system: its F1, and how many pairs broke it."""
        rows = [{"system": name, **plain(one)} for name, one in self.figures.systems.items()]
        return pl.DataFrame(rows, infer_schema_length=None)

    @property
    def breakers(self) -> pl.DataFrame:
        """A row for each breaker: its pairs and scores."""
        rows = [
            {"breaker": name, "pairs": one.pairs, "score": one.score, "score_per_sentence": one.score_per_sentence}
            for name, one in self.figures.breakers.items()
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def content(self) -> Mapping[str, Any]:
        """Return all figures."""
        data: Mapping[str, Any] = plain(self.figures)
        return data

    def chart(self) -> Mapping[str, Any]:
        """Draw the share of pairs that broke each system."""
        figures = [
            (name, "", system.broken_rate_pairs, self.figures.systems[name].pairs)
            for name, system in self.figures.intervals.systems.items()
        ]
        return interval_chart(figures, row="system", series="", value="pairs that broke it")

    def facts(self) -> Iterator[str]:
        """Return what it rests on."""
        yield f"{len(self.figures.systems)} systems, {len(self.figures.breakers)} breakers"


def contest_score(
    matrix: Any,
    *,
    dev_accuracy: Mapping[str, float] | None = None,
    metric: str = "accuracy",
    threshold: float = 0.8,
    skip: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
    resamples: int = 1000,
) -> ContestFound:
    """Score a contest from its *matrix*: `breaker, pair_id, side, gold` and a column of answers for each system.

    Breakers are scored where the systems' accuracy on the development set is given as *dev_accuracy*.
    """
    options = ContestOptions(Grading(metric, threshold, "squad"), dev_accuracy or {}, skip, columns, seed, resamples)
    return ContestFound(score_contest_file(source_of(matrix, name="the matrix"), options))


def answers_source(value: Any, column: str) -> Source:
    """Return a table of answers by id; a mapping that has no column `id` goes from ids to answers."""
    if isinstance(value, Mapping) and "id" not in value:
        value = [{"id": name, column: answer} for name, answer in value.items()]
    return source_of(value, ("id", column), name="the gold answers" if column == "answer" else "the predictions")
