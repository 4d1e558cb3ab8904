"""The tests between the arms of a trial: whether models are further behind people on one than on another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from quintain.core.records.figures import Estimate
from quintain.core.records.report import Cell, Column, ReportSection, Table
from quintain.core.texts import Text
from quintain.services.plain.reports.trial_measures import MeasuredArm, ReportOptions, slice_words, votes_of
from quintain.stats.arms import compare, holm
from quintain.stats.human import SLICES


def differences_section(measured: Sequence[MeasuredArm], options: ReportOptions) -> ReportSection | None:
    """Test whether the gap between people and each model differs from arm to arm; None of a single arm."""
    if len(measured) < 2:
        return None
    models = list(dict.fromkeys(model for one in measured for model in one.slices["all"].models))
    if not models:
        nothing = Text("No model has answered these items, so nobody can say on which arm models are further behind.")
        return ReportSection("differences", Text("Do arms differ?"), [nothing])
    votes = votes_of([one.arm for one in measured], options)
    rows: list[list[Cell]] = []
    for name, _ in SLICES:
        for model in models:
            tests = [
                compare(first.sums, second.sums, name, model, seed=options.seed, resamples=options.resamples)
                for first, second in combinations(measured, 2)
            ]
            for test, p in zip(tests, holm([test.p for test in tests]), strict=True):
                rows.append([test.first, test.second, slice_words(name, votes), model, test.difference, p])
    columns = [
        Column(Text("Arm")),
        Column(Text("beside")),
        Column(Text("Items where")),
        Column(Text("Model")),
        Column(Text("difference of the gaps"), "share"),
        Column("p", "chance"),
    ]
    return ReportSection(
        "differences",
        Text("Do arms differ?"),
        [_verdict(row) for row in rows if isinstance(row[5], float) and row[5] < 0.05],
        tables=[
            Table(
                "differences",
                Text("Differences between arms"),
                columns,
                rows,
                Text(
                    "Each p is of a test that deals the writers out anew, raised for as many comparisons as there are "
                    "of one model on the same items (Holm)."
                ),
            )
        ],
    )


def _verdict(row: Sequence[Cell]) -> Text:
    difference = row[4]
    value = difference.value if isinstance(difference, Estimate) and difference.value is not None else 0.0
    return Text(
        "{where}: the gap of {model} is {points:.1f} points {more} on {first} than on {second} (p = {p:.3f}).",
        where=row[2],
        model=row[3],
        points=100 * abs(value),
        more=Text("larger") if value > 0 else Text("smaller"),
        first=row[0],
        second=row[1],
        p=row[5],
    )
