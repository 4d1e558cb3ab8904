"""How commands give a report: as a folder, as JSON, or as findings and tables on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.output import print_json, print_line, print_table, say
from quintain.core.records.report import Report
from quintain.reports.folder import write_folder
from quintain.reports.words import Wording

FolderOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR",
        help="Folder for report.html (needs no network), report.md, tables.tex and report.json.",
        file_okay=False,
        show_default=False,
    ),
]


def give_report(report: Report, out: Path | None, *, json: bool) -> None:
    """Write *report* to the folder *out*, if one is given, and print it."""
    page = write_folder(report, out) if out is not None else None
    if json:
        print_json(report)
    else:
        _print(report)
    if page is not None:
        say(f"{page} shows it with its charts; Markdown, LaTeX tables and JSON lie beside it.")


def _print(report: Report) -> None:
    wording = Wording()
    for section in report.sections:
        for finding in section.findings:
            print_line(finding)
        for table in section.tables:
            rows = [
                [wording.cell(value, column.kind) for value, column in zip(row, table.columns, strict=True)]
                for row in table.rows
            ]
            print_table([column.title for column in table.columns], rows, title=table.title)
