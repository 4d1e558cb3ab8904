"""A report as Markdown: what it found, its tables, and the commands; charts stand in the HTML file beside it."""

from __future__ import annotations

from collections.abc import Iterator

from quintain.core.escaping import markdown
from quintain.core.records.report import Report, ReportSection, Table
from quintain.reports.words import Wording


def to_markdown(report: Report, wording: Wording | None = None) -> str:
    """Write *report* as Markdown."""
    wording = wording or Wording()
    lines = [f"# {markdown(report.title)}", "", markdown(report.lead), ""]
    lines += [f"- {markdown(fact.title)}: {markdown(fact.value)}" for fact in report.facts]
    for section, commands in report.shown():
        lines += ["", *_section(section, wording)]
        if commands:
            lines += ["", "```sh", *commands, "```"]
    return "\n".join(lines).rstrip() + "\n"


def _section(section: ReportSection, wording: Wording) -> Iterator[str]:
    yield f"## {markdown(section.title)}"
    if section.note:
        yield from ("", markdown(section.note))
    if section.findings:
        yield ""
        yield from (f"- {markdown(finding)}" for finding in section.findings)
    for chart in section.charts:
        yield from ("", f"Chart: [{markdown(chart.title)}](report.html#{chart.key})")
    for table in section.tables:
        yield from ("", f"**{markdown(table.title)}**", "", *_table(table, wording))
        if table.note:
            yield from ("", markdown(table.note))


def _table(table: Table, wording: Wording) -> Iterator[str]:
    yield _row([markdown(column.title) for column in table.columns])
    yield _row(["---" if column.kind == "text" else "---:" for column in table.columns])
    for row in table.rows:
        cells = zip(row, table.columns, strict=True)
        yield _row([markdown(wording.cell(value, column.kind)) for value, column in cells])


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
