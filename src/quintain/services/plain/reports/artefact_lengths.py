"""Lengths as artefacts: whether the longest option is right, options that stand in the passage, labels by length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from quintain.core.records.report import Cell, Chart, Column, ReportSection, Table
from quintain.core.texts import Text
from quintain.reports.line_charts import distribution_chart
from quintain.stats.artefacts.examples import Examples
from quintain.stats.artefacts.partial import MOST_ARMS
from quintain.stats.artefacts.surface import length_heuristics, option_overlap, options_apart
from quintain.stats.bootstrap import FloatArray
from quintain.stats.diversity import binned, count_words


def lengths_by_label(examples: Examples, commands: list[str]) -> ReportSection:
    """Return how long the texts of each label are."""
    last = list(examples.fields)[-1]
    words = count_words(examples.fields[last]).astype(np.float64)
    groups = {label: words[examples.answer == code] for code, label in enumerate(examples.labels)}
    return _lengths(groups, Text("Do lengths tell the label?"), commands)


def lengths_of_options(examples: Examples, commands: list[str]) -> ReportSection:
    """Return how long right and wrong options are and how far they stand in the passage, by arm if several."""
    arms = examples.arms(MOST_ARMS)
    title = Text("Do lengths and passages tell the right option?")
    section = _lengths(_options_by_side(examples, arms), title, commands)
    return ReportSection(
        section.key,
        section.title,
        _heuristics(examples),
        section.charts,
        [*section.tables, *_overlap(examples, arms)],
        commands,
    )


def _options_by_side(examples: Examples, arms: Sequence[str]) -> dict[str, FloatArray]:
    texts, owner, right = options_apart(examples)
    words = count_words(texts).astype(np.float64)
    sides = {True: Text("right options"), False: Text("wrong options")}
    if not arms:
        return {word: words[right == side] for side, word in sides.items()}
    of = np.asarray(examples.arm)[owner]
    return {
        Text("{arm}: {which}", arm=arm, which=word): words[(right == side) & (of == arm)]
        for arm in arms
        for side, word in sides.items()
    }


def _heuristics(examples: Examples) -> list[str]:
    names = {"longest": Text("the longest option"), "shortest": Text("the shortest option")}
    return [
        Text(
            "Choosing {rule} is right in {value:.1%} (95 % between {low:.1%} and {high:.1%}); chance is {chance:.1%}.",
            rule=names[heuristic.name],
            value=heuristic.accuracy.value or 0.0,
            low=heuristic.accuracy.low or 0.0,
            high=heuristic.accuracy.high or 0.0,
            chance=heuristic.chance,
        )
        for heuristic in length_heuristics(examples)
    ]


def _overlap(examples: Examples, arms: Sequence[str]) -> list[Table]:
    """Return the table of options that stand in the passage; nothing where there is no text beside them."""
    columns = [
        Column(Text("Field")),
        *([Column(Text("Arm"))] if arms else []),
        Column(Text("Options")),
        Column(Text("Found word for word"), "share"),
        Column(Text("Words shared"), "share"),
        Column(Text("Words, mean"), "number"),
    ]
    rows: list[list[Cell]] = [
        [
            name,
            *([one.arm] if arms else []),
            Text("right") if one.right else Text("wrong"),
            one.verbatim,
            one.shared,
            one.words,
        ]
        for name in examples.fields
        for one in option_overlap(examples, name, arms)
    ]
    return [Table("overlap-table", Text("Options that stand in the passage"), columns, rows)] if rows else []


def _lengths(groups: Mapping[str, FloatArray], title: Text, commands: list[str]) -> ReportSection:
    groups = {name: one for name, one in groups.items() if len(one)}
    spread = binned(groups, whole=True)
    chart = distribution_chart(
        spread.edges.tolist(),
        {name: values.tolist() for name, values in spread.shares.items()},
        value=Text("Words"),
        share=Text("Share of texts"),
    )
    columns = [
        Column(Text("Texts of")),
        Column(Text("Texts"), "count"),
        Column(Text("Words, mean"), "number"),
        Column(Text("Words, median"), "number"),
    ]
    rows: list[list[Cell]] = [
        [name, len(one), float(one.mean()), float(np.median(one))] for name, one in groups.items()
    ]
    return ReportSection(
        key="lengths",
        title=title,
        charts=[Chart("lengths-chart", Text("How many words have the texts?"), chart)],
        tables=[Table("lengths-table", Text("Lengths of texts"), columns, rows)],
        commands=commands,
    )
