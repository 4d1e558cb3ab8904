"""Errors as reports: where a model is weak, what two models disagree on, confidence against people's disagreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quintain.core.errors import BadInput
from quintain.core.records.report import Cell, Chart, Column, Report, ReportFact, ReportSection, Table
from quintain.core.records.study import ErrorSlice, HumanCalibration, ModelPair
from quintain.core.texts import Text
from quintain.core.words import shortened
from quintain.reports.charts import bar_chart, interval_chart
from quintain.reports.line_charts import curve_chart
from quintain.services.plain.reports.errors.reading import AnsweredSet, beliefs
from quintain.stats.bootstrap import FloatArray
from quintain.stats.errors.calibration import calibrate
from quintain.stats.errors.disagree import pair_of, parted_slices
from quintain.stats.errors.slices import candidates, weak_slices
from quintain.stats.workers import wilson_share

SHOWN = 3  # examples of each slice
SNIPPET = 120
SMALLEST = 0.001  # that a p is told as
CHARTED = 12


@dataclass(frozen=True, slots=True)
class Examined:
    """What a study of errors found, and its report."""

    report: Report
    slices: list[ErrorSlice]
    pair: ModelPair | None = None
    calibration: HumanCalibration | None = None


def slices_report(answered: AnsweredSet, model: str, commands: Sequence[str] = ()) -> Examined:
    """Find the slices in which *model* is weak."""
    section, weak = slices_section(answered, model, list(commands))
    return Examined(_report("slices", Text("Where {model} is weak", model=model), answered, [section]), weak)


def slices_section(answered: AnsweredSet, model: str, commands: list[str]) -> tuple[ReportSection, list[ErrorSlice]]:
    """Tell of the slices in which *model* is weak, with examples."""
    right = answered.right(model)
    looked = candidates(answered.sliceable())
    weak = weak_slices(looked, right)
    overall = wilson_share(int(right.sum()), len(right))
    columns = [
        Column(Text("By")),
        Column(Text("Slice")),
        Column(Text("Examples"), "count"),
        Column(Text("Right"), "share"),
        Column(Text("Right elsewhere"), "share"),
        Column(Text("z"), "number"),
    ]
    rows: list[list[Cell]] = [[one.kind, one.name, one.examples, one.accuracy, one.elsewhere, one.z] for one in weak]
    tables = [Table("slices-table", Text("Slices in which it is weak"), columns, rows)] if rows else []
    shown = _examples_of(answered, model, weak, right)
    chart = interval_chart(
        [(f"{part.kind}: {part.name}", "", part.accuracy, part.examples) for part in weak[:CHARTED]],
        row=Text("Slice"),
        series="",
        value=Text("right answers"),
    )
    section = ReportSection(
        "slices",
        Text("Where is {model} weak?", model=model),
        _weak(model, weak, len(looked.name), overall.value or 0.0),
        [Chart("slices-chart", Text("How often is it right in each slice?"), chart)] if weak else [],
        [*tables, *([shown] if shown.rows else [])],
        commands,
        Text(
            "Tags, answers, lengths and words are looked at; a slice is held against all other examples (Fisher’s "
            "exact test). Of those that stand, at most one in twenty is there by chance on average (Benjamini and "
            "Hochberg), and where there is none, one run in twenty shows any; one with nearly the examples of a surer "
            "one is left out."
        ),
    )
    return section, weak


def _weak(model: str, slices: Sequence[ErrorSlice], looked: int, overall: float) -> list[str]:
    if not slices:
        return [
            Text(
                "{model} is right in {overall:.1%}, and in none of {looked} slices less often beyond chance.",
                model=model,
                overall=overall,
                looked=looked,
            )
        ]
    return [
        Text(
            "{model} is right in {value:.1%} (95 % between {low:.1%} and {high:.1%}) of {n} examples with {kind} "
            "“{name}”, elsewhere in {elsewhere:.1%}.",
            model=model,
            value=one.accuracy.value,
            low=one.accuracy.low,
            high=one.accuracy.high,
            n=one.examples,
            kind=one.kind,
            name=one.name,
            elsewhere=one.elsewhere,
        )
        for one in slices[:5]
    ]


def _examples_of(answered: AnsweredSet, model: str, slices: Sequence[ErrorSlice], right: FloatArray) -> Table:
    columns = [Column(Text("Slice")), Column(Text("Example")), Column(Text("Right answer")), Column(Text("Model says"))]
    rows: list[list[Cell]] = []
    for part in slices:
        wrong = [at for at in part.rows if not right[at]]
        rows += [
            [f"{part.kind}: {part.name}", snippet(answered, at), answered.gold[at], answered.said[model][at]]
            for at in wrong[:SHOWN]
        ]
    return Table("slices-examples", Text("Errors in each slice"), columns, rows)


def snippet(answered: AnsweredSet, at: int) -> str:
    """Return an example in short: its last field."""
    texts = list(answered.texts.values())
    line = " ".join((texts[-1][at] if texts else answered.ids[at]).split())
    return shortened(line, SNIPPET)


def disagreement_report(answered: AnsweredSet, commands: Sequence[str] = ()) -> Examined:
    """Return what the two models of *answered* disagree on."""
    section, pair = disagreement_section(answered, list(commands))
    first, second = list(answered.said)
    title = Text("What {first} and {second} disagree on", first=first, second=second)
    return Examined(_report("disagreement", title, answered, [section]), [], pair)


def disagreement_section(answered: AnsweredSet, commands: list[str]) -> tuple[ReportSection, ModelPair]:
    """Tell of two models beside each other."""
    if len(answered.said) != 2:
        raise BadInput("Two models are compared, and there are {n}.", n=len(answered.said), remedy="Name two models.")
    (first, answers), (second, other) = answered.said.items()
    right = [answered.right(first), answered.right(second)]
    same = np.array([left == beside for left, beside in zip(answers, other, strict=True)], dtype=np.float64)
    pair = pair_of(right[0], right[1], same)
    parted = parted_slices(candidates(answered.sliceable()), right[0], right[1])
    counts: dict[str, int] = {
        Text("both right"): pair.both,
        Text("only {model} right", model=first): pair.only_first,
        Text("only {model} right", model=second): pair.only_second,
        Text("both wrong, alike"): pair.wrong_alike,
        Text("both wrong, each in its own way"): pair.wrong_apart,
    }
    columns = [
        Column(Text("By")),
        Column(Text("Slice")),
        Column(Text("Examples"), "count"),
        Column(Text("only {model} right", model=first), "count"),
        Column(Text("only {model} right", model=second), "count"),
        Column("p", "chance"),
    ]
    tables = [Table("parted-table", Text("Slices in which one is better"), columns, [list(row) for row in parted])]
    section = ReportSection(
        "disagreement",
        Text("What do {first} and {second} disagree on?", first=first, second=second),
        [_paired(first, second, pair)],
        [
            Chart(
                "pair-chart",
                Text("Who is right?"),
                bar_chart(counts, category=Text("Who is right?"), value=Text("Examples")),
            )
        ],
        [*(tables if parted else []), _parted_examples(answered, right)],
        commands,
        Text("p is McNemar’s, exact; of the slices that stand, one in twenty is there by chance on average."),
    )
    return section, pair


def _paired(first: str, second: str, pair: ModelPair) -> Text:
    value = pair.difference.value or 0.0
    low, high = pair.difference.low or 0.0, pair.difference.high or 0.0
    return Text(
        "{first} and {second} say the same in {agree:.1%}. {first} alone is right {one} times and {second} alone "
        "{other} times: {points:+.1f} points for {first} (95 % between {low:+.1f} and {high:+.1f}, p {p}).",
        first=first,
        second=second,
        agree=pair.agree.value,
        one=pair.only_first,
        other=pair.only_second,
        points=100 * value,
        low=100 * low,
        high=100 * high,
        p=Text("= {p:.3f}", p=pair.p) if pair.p >= SMALLEST else Text("< 0.001"),
    )


def _parted_examples(answered: AnsweredSet, right: Sequence[FloatArray]) -> Table:
    (first, answers), (second, other) = answered.said.items()
    kinds = {
        Text("only {model} right", model=first): (right[0] > 0) & (right[1] == 0),
        Text("only {model} right", model=second): (right[0] == 0) & (right[1] > 0),
    }
    columns = [Column(Text("Who is right?")), Column(Text("Example")), Column(Text("Right answer"))]
    columns += [Column(first), Column(second)]
    rows: list[list[Cell]] = [
        [kind, snippet(answered, at), answered.gold[at], answers[at], other[at]]
        for kind, mask in kinds.items()
        for at in np.flatnonzero(mask)[: 2 * SHOWN].tolist()
    ]
    return Table("pair-examples", Text("Examples that they disagree on"), columns, rows)


def calibration_report(answered: AnsweredSet, model: str, seed: int = 0, commands: Sequence[str] = ()) -> Examined:
    """Hold the confidence of *model* against people's disagreement."""
    section, calibration = calibration_section(answered, model, seed, list(commands))
    title = Text("Is {model} as unsure as people?", model=model)
    return Examined(_report("calibration", title, answered, [section]), [], calibration=calibration)


def calibration_section(
    answered: AnsweredSet, model: str, seed: int, commands: list[str]
) -> tuple[ReportSection, HumanCalibration]:
    """Tell of a model's probabilities beside people's shares."""
    believed, votes, _rows = beliefs(answered, model)
    calibration = calibrate(believed, votes, seed=seed)
    columns = [Column(Text("Figure")), Column(Text("Value"), "parameter")]
    rows: list[list[Cell]] = [
        [Text("Calibration error against people’s shares"), calibration.error],
        [Text("Correlation of the entropies"), calibration.correlation],
        [Text("Divergence from people (Kullback–Leibler), bits"), calibration.divergence],
        [Text("Total variation from people"), calibration.distance],
        [Text("Total variation of a model that knew people’s true shares"), calibration.floor],
        [Text("People who give the model’s answer"), calibration.people_on_top],
        [Text("Confidence of the model in it"), calibration.confidence],
    ]
    points = [one.believed for one in calibration.bins]
    curves: dict[str, list[float]] = {
        Text("people"): [one.people.value or 0.0 for one in calibration.bins],
        Text("as sure as people"): points,
    }
    chart = curve_chart(
        points,
        curves,
        x=Text("Probability that the model gives"),
        y=Text("Share of people"),
        top=1,
        counts={Text("people"): [part.answers for part in calibration.bins]},
    )
    bins = [
        Column(Text("Probability"), "parameter"),
        Column(Text("Share of people"), "share"),
        Column(Text("Answers"), "count"),
    ]
    section = ReportSection(
        "calibration",
        Text("Is {model} as unsure as people?", model=model),
        _calibrated(model, calibration),
        [Chart("calibration-chart", Text("Do people give an answer as often as the model expects?"), chart)],
        [
            Table("calibration-table", Text("Confidence against people’s disagreement"), columns, rows),
            Table(
                "bins-table",
                Text("By what the model gives"),
                bins,
                [[one.believed, one.people, one.answers] for one in calibration.bins],
            ),
        ],
        commands,
        Text(
            "Intervals resample examples. Votes are few: a model that knew people’s true shares would differ from them,"
            " too."
        ),
    )
    return section, calibration


def _calibrated(model: str, calibration: HumanCalibration) -> list[str]:
    on_top, sure = calibration.people_on_top.value or 0.0, calibration.confidence.value or 0.0
    findings: list[str] = [
        Text(
            "{model} gives its answers {sure:.1%} on average, and {people:.1%} of people give them: it is {more}.",
            model=model,
            sure=sure,
            people=on_top,
            more=Text("too sure") if sure > on_top else Text("not sure enough"),
        )
    ]
    if calibration.correlation.value is not None:
        findings.append(
            Text(
                "Where people disagree more, it is less sure: the entropies correlate at {value:.2f} (95 % between "
                "{low:.2f} and {high:.2f}).",
                value=calibration.correlation.value,
                low=calibration.correlation.low
                if calibration.correlation.low is not None
                else calibration.correlation.value,
                high=calibration.correlation.high
                if calibration.correlation.high is not None
                else calibration.correlation.value,
            )
            if calibration.correlation.value > 0
            else Text(
                "It is not less sure where people disagree more: the entropies correlate at {value:.2f}.",
                value=calibration.correlation.value,
            )
        )
    return findings


def _report(key: str, title: Text, answered: AnsweredSet, sections: list[ReportSection]) -> Report:
    return Report(
        key=key,
        title=title,
        lead=Text("Where errors are, with how sure that is, and examples."),
        facts=[
            ReportFact(Text("Examples"), f"{len(answered):,}"),
            ReportFact(Text("Models"), ", ".join(answered.said)),
        ],
        sections=sections,
        warnings=tuple(answered.warnings) or None,
    )
