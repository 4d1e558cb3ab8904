"""A report as Markdown: what it found, its tables, and the commands; charts stand in the HTML file beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quintain.core.records.report import Report, ReportSection, Table
from quintain.reports.words import Wording

_MEANT = re.compile(r"([\\`*_\[\]<>|#])")


def to_markdown(report: Report, wording: Wording | None = None) -> str:
    """Write *report* as Markdown."""
    wording = wording or Wording()
    lines = [f"# {escape(report.title)}", "", escape(report.lead), ""]
    lines += [f"- {escape(one.title)}: {escape(one.value)}" for one in report.facts]
    for section, commands in report.shown():
        lines += ["", *_section(section, wording)]
        if commands:
            lines += ["", "```sh", *commands, "```"]
    return "\n".join(lines).rstrip() + "\n"


def escape(text: str) -> str:
    r"""Write *text* so that Markdown shows it as it is, on one line.

    >>> escape("a*b | c\nd")
    'a\\*b \\| c d'
    """
    return _MEANT.sub(r"\\\1", " ".join(text.split()))


def _section(section: ReportSection, wording: Wording) -> Iterator[str]:
    yield f"## {escape(section.title)}"
    if section.note:
        yield from ("", escape(section.note))
    if section.findings:
        yield ""
        yield from (f"- {escape(one)}" for one in section.findings)
    for chart in section.charts:
        yield from ("", f"Chart: [{escape(chart.title)}](report.html#{chart.key})")
    for table in section.tables:
        yield from ("", f"**{escape(table.title)}**", "", *_table(table, wording))
        if table.note:
            yield from ("", escape(table.note))


def _table(table: Table, wording: Wording) -> Iterator[str]:
    yield _row([escape(one.title) for one in table.columns])
    yield _row(["---" if one.kind == "text" else "---:" for one in table.columns])
    for row in table.rows:
        cells = zip(row, table.columns, strict=True)
        yield _row([escape(wording.cell(value, column.kind)) for value, column in cells])


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
