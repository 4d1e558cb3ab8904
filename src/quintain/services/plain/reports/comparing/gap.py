"""How far models are behind people on each data set: on all items, where at least 4 of 5 agree, and where all do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from quintain.core.records.figures import Estimate
from quintain.core.records.report import Cell, Chart, Column, ReportSection, Table
from quintain.core.texts import Text
from quintain.reports.charts import interval_chart
from quintain.services.plain.reports.gap_findings import gap_finding
from quintain.services.plain.reports.trial_measures import slice_words
from quintain.stats.arms import EVERYTHING, NAMES, ArmSums, SliceFigures, compare, figures, holm
from quintain.stats.comparing.compared import ComparedSet, measured_apart, people_and_models
from quintain.stats.human import SLICES

AGREED = "at_least_4_of_5"
JUDGED = "all"
MOST_FINDINGS = 12


def gap_section(sets: Sequence[ComparedSet], seed: int, commands: list[str]) -> ReportSection | None:
    """Return how people and models do on each data set; None where nothing is known of either."""
    known = [one for one in sets if one.predictions or one.votes is not None]
    if not known:
        return None
    sums = [people_and_models(one, seed=seed) for one in known]
    apart = [measured_apart(one) for one in known]
    by_slice = [{name: _figures(one, name, own, seed) for name in NAMES} for one, own in zip(sums, apart, strict=True)]
    models = list(dict.fromkeys(model for one in by_slice for model in one[EVERYTHING].models))
    voted = any(one.votes is not None for one in known)
    shown = [name for name in NAMES if voted or name == EVERYTHING]
    rows = [
        _row(one.name, name, figure[name], models)
        for name in shown
        for one, figure in zip(sums, by_slice, strict=True)
        if figure[name].items > 0
    ]
    columns = [Column(Text("Data set")), Column(Text("Items where")), Column(Text("Items"), "number")]
    columns += [Column(Text("People"), "share")] if voted else []
    for model in models:
        columns += [Column(model, "share")]
        columns += [Column(Text("gap to {model}", model=model), "share")] if voted else []
    if not voted:
        rows = [[*row[:3], *row[4::2]] for row in rows]
    tables = [Table("gap-table", Text("People, models and the gap between them"), columns, rows)]
    tested = _tested(sums, by_slice, models, seed) if voted else []
    if tested:
        tables.append(_differences(tested))
    measures = [own for one, own in zip(known, apart, strict=True) if one.votes is not None]
    slice_ = EVERYTHING if not voted else AGREED if all(measures) else JUDGED
    return ReportSection(
        "gap",
        Text("How far are models behind people?"),
        [*_gap_findings(sums, by_slice, models, slice_, seed), *_verdicts(tested)][:MOST_FINDINGS],
        _charts(sums, by_slice, slice_),
        tables,
        commands,
        _note(known),
    )


def _figures(sums: ArmSums, slice_: str, apart: bool, seed: int) -> SliceFigures:
    """Return the figures on a slice; of people and gaps none where people are right because the slice says so."""
    figure = figures(sums, slice_, seed=seed)
    if apart or slice_ in (EVERYTHING, JUDGED) or figure.human.value is None or figure.human.value < 1.0:
        return figure
    untold = Estimate(None, reason="people are right here by definition")
    return replace(figure, human=untold, gaps=dict.fromkeys(figure.gaps, untold))


def _row(name: str, slice_: str, figure: SliceFigures, models: Sequence[str]) -> list[Cell]:
    row: list[Cell] = [name, slice_words(slice_), figure.items, figure.human]
    for model in models:
        row += [figure.models.get(model), figure.gaps.get(model)]
    return row


def _charts(sums: Sequence[ArmSums], by_slice: Sequence[dict[str, SliceFigures]], slice_: str) -> list[Chart]:
    points = [
        (one.name, series, figure, round(by[slice_].items))
        for one, by in zip(sums, by_slice, strict=True)
        for series, figure in ((Text("People"), by[slice_].human), *by[slice_].models.items())
        if figure.value is not None
    ]
    chart = interval_chart(points, row=Text("Data set"), series=Text("who"), value=Text("right answers"))
    title = (
        Text("How often are models right?")
        if slice_ == EVERYTHING
        else Text("How far are models behind people, where {which}?", which=slice_words(slice_))
    )
    return [Chart("gap-chart", title, chart)] if points else []


def _gap_findings(
    sums: Sequence[ArmSums], by_slice: Sequence[dict[str, SliceFigures]], models: Sequence[str], slice_: str, seed: int
) -> list[Text]:
    findings = []
    for model in models:
        gaps = [
            (one, gap)
            for one, by in zip(sums, by_slice, strict=True)
            if (gap := by[slice_].gaps.get(model)) is not None
        ]
        findings.append(gap_finding(model, gaps, slice_, slice_words(slice_), seed=seed))
    return [one for one in findings if one is not None]


def _tested(
    sums: Sequence[ArmSums], by_slice: Sequence[dict[str, SliceFigures]], models: Sequence[str], seed: int
) -> list[tuple[str, str, str, str, Estimate, float | None]]:
    """Compare the gaps of each pair of data sets; p holds for all pairs of a model and slice (Holm)."""
    rows = []
    for name, _ in SLICES:
        known = [one for one, by in zip(sums, by_slice, strict=True) if by[name].human.value is not None]
        for model in models:
            tests = [compare(one, other, name, model, seed=seed) for one, other in combinations(known, 2)]
            raised = holm([test.p for test in tests])
            rows += [
                (one.first, one.second, name, model, one.difference, p)
                for one, p in zip(tests, raised, strict=True)
                if one.difference.value is not None
            ]
    return rows


def _differences(tested: Sequence[tuple[str, str, str, str, Estimate, float | None]]) -> Table:
    columns = [
        Column(Text("Data set")),
        Column(Text("beside")),
        Column(Text("Items where")),
        Column(Text("Model")),
        Column(Text("difference of the gaps"), "share"),
        Column("p", "chance"),
    ]
    rows: list[list[Cell]] = [
        [one, other, slice_words(name), model, difference, p] for one, other, name, model, difference, p in tested
    ]
    note = Text("p is of a test that deals contexts or writers out anew, raised for the number of pairs (Holm).")
    return Table("gap-differences", Text("Do the gaps differ?"), columns, rows, note)


def _verdicts(tested: Sequence[tuple[str, str, str, str, Estimate, float | None]]) -> list[str]:
    return [
        Text(
            "{where}: the gap of {model} is {points:.1f} points {more} on {first} than on {second} (p = {p:.3f}).",
            where=slice_words(name),
            model=model,
            points=100 * abs(difference.value or 0.0),
            more=Text("larger") if (difference.value or 0.0) > 0 else Text("smaller"),
            first=first,
            second=second,
            p=p,
        )
        for first, second, name, model, difference, p in tested
        if p is not None and p < 0.05
    ]


def _note(known: Sequence[ComparedSet]) -> Text:
    if any(one.intended is not None for one in known):
        return Text(
            "Labels are the majority of 4 drawn votes and the writer’s, over 100 draws; the votes that are left "
            "measure people. Intervals resample writers or contexts."
        )
    return Text(
        "People are measured by the same votes that say how far they agree: where all agree, they are right by "
        "definition, so that nothing is said of them there. Intervals resample contexts."
    )
