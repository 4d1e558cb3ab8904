"""Errors of models: where they are, what two models disagree on, and confidence against people's disagreement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from quintain.core.records.base import plain
from quintain.core.records.report import Report
from quintain.core.records.study import ErrorSlice, HumanCalibration, ModelPair
from quintain.data.in_memory import Source, source_of
from quintain.library.reported import ReportedResult
from quintain.library.results import spread
from quintain.reports.charts import bar_chart
from quintain.services.plain.reports.errors.reading import ErrorColumns, read_answered
from quintain.services.plain.reports.errors.report import calibration_report, disagreement_report, slices_report

MODEL = "the model"


class _Examined(ReportedResult):
    """What was found of models on examples."""

    def facts(self) -> Iterator[str]:
        """Return what it rests on."""
        yield f"{self.report.facts[0].value} examples, {self.report.facts[1].value}"


@dataclass(frozen=True, slots=True, repr=False)
class SlicesFound(_Examined):
    """Where a model is weak."""

    title = "Weak slices"
    report: Report
    slices: list[ErrorSlice]

    @property
    def table(self) -> pl.DataFrame:
        """The slices, the surest first: how often the model is right there, and elsewhere."""
        rows = [
            {
                "by": str(one.kind),
                "slice": one.name,
                "examples": one.examples,
                "accuracy": one.accuracy.value,
                "low": one.accuracy.low,
                "high": one.accuracy.high,
                "elsewhere": one.elsewhere,
                "z": one.z,
            }
            for one in self.slices
        ]
        text, number = pl.String(), pl.Float64()
        numbers = dict.fromkeys(("accuracy", "low", "high", "elsewhere", "z"), number)
        return pl.DataFrame(rows, schema={"by": text, "slice": text, "examples": pl.Int64(), **numbers})

    def content(self) -> Mapping[str, Any]:
        """Return the slices with the places of their examples, and the report."""
        return {**plain(self.report), "slices": self.slices}

    def chart(self) -> Mapping[str, Any]:
        """Draw how often the model is right in each slice."""
        charts = self.report.sections[0].charts
        nothing = bar_chart({str(self.findings[0]): 0}, category="slice", value="examples")
        return charts[0].spec if charts else nothing


def slices(
    gold: Any,
    predictions: Any,
    fields: Sequence[str] = ("text",),
    *,
    label: str = "label",
    id: str = "id",  # noqa: A002 - the column is called so
    tags: str = "",
    by: Sequence[str] = (),
    model: str = MODEL,
    commands: Sequence[str] = (),
) -> SlicesFound:
    """Find slices in which a model is weak, among tags, answers, lengths and words, with multiplicity controlled.

    *gold* has the columns `id`, `label` and *fields*, and maybe *tags* and others to cut *by*; *predictions* has `id`
    and `prediction`. Tests are exact: of the slices that are given, at most one in twenty is there by chance on
    average, and where no slice is weak, at most one run in twenty gives any.

    >>> gold = [{"id": at, "text": "not bad" if at < 20 else "good", "label": "yes"} for at in range(60)]
    >>> said = [{"id": at, "prediction": "no" if at < 15 else "yes"} for at in range(60)]
    >>> slices(gold, said).table["slice"][0]
    'bad'
    """
    columns = ErrorColumns(list(fields), label, id, tags, list(by))
    answered = read_answered(_gold(gold), {model: _predictions(predictions)}, columns)
    analysis = slices_report(answered, model, commands)
    return SlicesFound(analysis.report, analysis.slices)


@dataclass(frozen=True, slots=True, repr=False)
class DisagreementFound(_Examined):
    """What two models disagree on."""

    title = "Disagreement of two models"
    report: Report
    pair: ModelPair

    @property
    def table(self) -> pl.DataFrame:
        """How many examples both, one or none of the models got right."""
        names = ("both", "only_first", "only_second", "wrong_alike", "wrong_apart")
        return pl.DataFrame({"who": list(names), "examples": [getattr(self.pair, name) for name in names]})

    def content(self) -> Mapping[str, Any]:
        """Return the counts, the test and the report."""
        return {**plain(self.report), "pair": self.pair}

    def chart(self) -> Mapping[str, Any]:
        """Draw who is right how often."""
        return self.report.sections[0].charts[0].spec


def disagreement(
    gold: Any,
    first: Any,
    second: Any,
    fields: Sequence[str] = ("text",),
    *,
    label: str = "label",
    id: str = "id",  # noqa: A002 - the column is called so
    tags: str = "",
    by: Sequence[str] = (),
    models: tuple[str, str] = ("first", "second"),
    commands: Sequence[str] = (),
) -> DisagreementFound:
    """Return what two models disagree on: who is right how often, whether by chance, where one is better.

    *gold* is as in `slices`; *first* and *second* are predictions (`id`, `prediction`), and *models* names them.
    """
    columns = ErrorColumns(list(fields), label, id, tags, list(by))
    predictions = dict(zip(models, (_predictions(first), _predictions(second)), strict=True))
    analysis = disagreement_report(read_answered(_gold(gold), predictions, columns), commands)
    if analysis.pair is None:
        raise ValueError("a report on two models has counts")
    return DisagreementFound(analysis.report, analysis.pair)


@dataclass(frozen=True, slots=True, repr=False)
class CalibrationFound(_Examined):
    """Confidence against people's disagreement."""

    title = "Calibration to people"
    report: Report
    calibration: HumanCalibration

    @property
    def table(self) -> pl.DataFrame:
        """Each figure with its interval."""
        names = ("error", "correlation", "divergence", "distance", "people_on_top", "confidence")
        return pl.DataFrame([spread(name, getattr(self.calibration, name)) for name in names])

    def content(self) -> Mapping[str, Any]:
        """Return the figures and the report."""
        return {**plain(self.report), "calibration": self.calibration}

    def chart(self) -> Mapping[str, Any]:
        """Draw people's shares against the model's probabilities."""
        return self.report.sections[0].charts[0].spec


def calibration(
    gold: Any,
    predictions: Any,
    *,
    votes: str = "votes",
    label: str = "label",
    id: str = "id",  # noqa: A002 - the column is called so
    model: str = MODEL,
    seed: int = 0,
    commands: Sequence[str] = (),
) -> CalibrationFound:
    """Hold a model's confidence against people's disagreement: whether it is as unsure, and about the same examples.

    *gold* has `id`, `label` and a column of *votes* (a list of answers, or counts by answer); *predictions* has `id`,
    `prediction` and `probabilities` (an object), or one column `prob_LABEL` for each label.
    """
    columns = ErrorColumns((), label, id, votes=votes)
    answered = read_answered(_gold(gold), {model: _predictions(predictions)}, columns)
    analysis = calibration_report(answered, model, seed, commands)
    if analysis.calibration is None:
        raise ValueError("a report on confidence has figures")
    return CalibrationFound(analysis.report, analysis.calibration)


def _gold(value: Any) -> Source:
    return source_of(value, name="the gold answers")


def _predictions(value: Any) -> Source:
    if isinstance(value, Mapping) and not {"id", "prediction"} <= set(value):
        value = {"id": list(value), "prediction": list(value.values())}
    return source_of(value, ("id", "prediction"), name="the predictions")
