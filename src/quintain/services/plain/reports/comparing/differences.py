"""Two data sets at a time: lengths and difficulty, tested and with the size of the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from quintain.core.records.figures import Estimate
from quintain.core.records.report import Cell, Column, ReportSection, Table
from quintain.core.texts import Text
from quintain.stats.arms import holm
from quintain.stats.artefacts.learner import OPTIONS
from quintain.stats.bootstrap import FloatArray
from quintain.stats.comparing.compared import ComparedSet
from quintain.stats.diversity import count_words
from quintain.stats.two_samples import brunner_munzel, standardised_difference, superiority

Measures = Mapping[str, Mapping[str, FloatArray]]


def measures_of(sets: Sequence[ComparedSet], fields: Sequence[str]) -> dict[str, dict[str, FloatArray]]:
    """Count the words of each field of each example, and the mean of its options."""
    measures: dict[str, dict[str, FloatArray]] = {
        Text("Words of {field}", field=name): {
            one.name: count_words(one.examples.fields[name]).astype(np.float64) for one in sets
        }
        for name in fields
        if name != OPTIONS
    }
    if OPTIONS in fields:
        measures[Text("Words of an option")] = {one.name: _of_options(one) for one in sets}
    return measures


def _of_options(compared: ComparedSet) -> FloatArray:
    sizes = [len(options) for options in compared.examples.options]
    words = count_words([text for options in compared.examples.options for text in options])
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return np.asarray(np.bincount(owner, words, minlength=len(sizes)) / np.maximum(sizes, 1), dtype=np.float64)


def differences_section(measures: Measures, commands: list[str]) -> ReportSection:
    """Test each measure between each pair of data sets, and say how large the difference is."""
    rows: list[list[Cell]] = []
    findings: list[str] = []
    for measure, by_set in measures.items():
        pairs = list(combinations(by_set, 2))
        tests = holm([brunner_munzel(by_set[one], by_set[other]) for one, other in pairs])
        for (name_a, other), p in zip(pairs, tests, strict=True):
            above = superiority(by_set[name_a], by_set[other])
            size = standardised_difference(by_set[name_a], by_set[other])
            means: list[Cell] = [float(by_set[name].mean()) for name in (name_a, other)]
            rows.append([measure, name_a, other, *means, above, size, p])
            if p is not None and p < 0.05:
                findings.append(_difference_sentence(measure, name_a, other, above, size))
    columns = [
        Column(Text("Measure")),
        Column(Text("Data set")),
        Column(Text("beside")),
        Column(Text("Mean"), "number"),
        Column(Text("beside, mean"), "number"),
        Column(Text("first is above"), "share"),
        Column(Text("difference in deviations"), "parameter"),
        Column("p", "chance"),
    ]
    return ReportSection(
        "differences",
        Text("How large are the differences?"),
        findings or [Text("No measure differs between data sets beyond chance.")],
        tables=[Table("differences-table", Text("Two data sets at a time"), columns, rows)],
        commands=commands,
        note=Text(
            "First is above: how often an example of the first is above one of the second, ties counting half; 50 % is "
            "no difference. Differences in deviations are Hedges’s g. p is by Brunner and Munzel, raised for the "
            "number of pairs (Holm)."
        ),
    )


def _difference_sentence(measure: str, name: str, other: str, above: Estimate, size: Estimate) -> Text:
    first, second = (name, other) if (above.value or 0.0) >= 0.5 else (other, name)
    turned = above if first == name else _turned(above)
    value = turned.value or 0.0
    return Text(
        "{measure}: an example of {first} is above one of {second} in {share:.1%} of pairs (95 % between {low:.1%} and "
        "{high:.1%}), {size:.2f} deviations on average.",
        measure=measure,
        first=first,
        second=second,
        share=value,
        low=value if turned.low is None else turned.low,
        high=value if turned.high is None else turned.high,
        size=abs(size.value or 0.0),
    )


def _turned(estimate: Estimate) -> Estimate:
    """Return the share of the other side: low and high change places."""
    value, low, high = (None if end is None else 1 - end for end in (estimate.value, estimate.high, estimate.low))
    return Estimate(value, low, high)
