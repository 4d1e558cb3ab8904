"""Reports: what was asked, what was found and how sure it is, as tables and charts, with the commands that give it.

A report is plain data. The same one is a page, a file that needs no network, Markdown, LaTeX tables and JSON. Its words
are texts of ours (`core.texts`), so that a page can say them in its reader's language; names, labels and examples are
plain strings, which nobody translates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Literal, TypeAlias

from quintain.core.records.base import Record, left_out
from quintain.core.records.figures import Estimate

# How the cells of a column are written: shares as percentages, numbers to one place, parameters to three, and chances,
# the p of a test, too; a p that would be written as nothing is written as less than the least.
ColumnKind = Literal["text", "count", "share", "number", "parameter", "chance"]
Cell: TypeAlias = str | int | float | Estimate | None


@dataclass(frozen=True, slots=True)
class Column(Record):
    """One column of a table."""

    title: str
    kind: ColumnKind = "text"


@dataclass(frozen=True, slots=True)
class Table(Record):
    """Rows of cells; a figure with an interval is an `Estimate`, and what is not known is null."""

    key: str
    title: str
    columns: list[Column]
    rows: list[list[Cell]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Chart(Record):
    """A chart as a Vega-Lite specification, with its data; its title asks what it answers."""

    key: str
    title: str
    spec: Mapping[str, Any]
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReportSection(Record):
    """One question: sentences that answer it, tables and charts that show it, commands that compute it again."""

    key: str
    title: str
    findings: list[str] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReportFact(Record):
    """Something to know of a report: what it is about, how much of it there was, which seed was drawn with."""

    title: str
    value: str


@dataclass(frozen=True, slots=True)
class Report(Record):
    """A report."""

    key: str
    title: str
    lead: str
    facts: list[ReportFact]
    sections: list[ReportSection]
    warnings: tuple[str, ...] | None = left_out()

    def shown(self) -> Iterator[tuple[ReportSection, list[str]]]:
        """Return each section with the commands to show below it: once, where several sections share them."""
        for section, after in zip_longest(self.sections, self.sections[1:]):
            yield section, [] if after and after.commands == section.commands else section.commands


ReportKind = Literal["models", "compare", "relabel", "workers"]


@dataclass(frozen=True, slots=True)
class ReportChoices(Record):
    """Which reports can be made of a task, of which rounds and validations; which data sets can be compared."""

    kinds: list[ReportKind]
    rounds: list[int]
    validations: list[str]
    datasets: list[str] = field(default_factory=list)
