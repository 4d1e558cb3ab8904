"""The tables of a report as LaTeX, to be taken into a paper: `booktabs` is all that they need."""

from __future__ import annotations

from collections.abc import Iterator

from quintain.core.escaping import latex
from quintain.core.records.report import Report, Table
from quintain.reports.words import Wording


def to_latex(report: Report, wording: Wording | None = None) -> str:
    """Write every table of *report* as a float with its caption, to be referred to as `tab:KEY`."""
    wording = wording or Wording()
    parts = [f"% {latex(report.title)}\n% needs \\usepackage{{booktabs}}"]
    parts += ["\n".join(_table(table, wording)) for section in report.sections for table in section.tables]
    return "\n\n".join(parts) + "\n"


def _table(table: Table, wording: Wording) -> Iterator[str]:
    yield r"\begin{table}"
    yield r"\centering"
    yield rf"\begin{{tabular}}{{{''.join('l' if column.kind == 'text' else 'r' for column in table.columns)}}}"
    yield r"\toprule"
    yield " & ".join(latex(column.title) for column in table.columns) + r" \\"
    yield r"\midrule"
    for row in table.rows:
        cells = zip(row, table.columns, strict=True)
        yield " & ".join(latex(wording.cell(value, column.kind)) for value, column in cells) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"
    yield rf"\caption{{{latex(table.title)}}}"
    yield rf"\label{{tab:{table.key}}}"
    yield r"\end{table}"
