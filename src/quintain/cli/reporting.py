"""How commands give a report: as a folder, as JSON, or as findings and tables on the terminal."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.output import print_heading, print_json, print_line, print_table, say, warn
from quintain.cli.streams import out_folder
from quintain.core.records.report import Report
from quintain.data.tables import FORMATS
from quintain.data.text import suffix_of
from quintain.reports.folder import write_folder
from quintain.reports.words import Wording

FolderOption = Annotated[
    Path | None,
    out_folder("Folder for report.html (needs no network), report.md, tables.tex and report.json.", "--out", "-o"),
]
WRITTEN = ("out", "abilities", "report", "json")  # options that say where a result goes


def again(context: typer.Context, folder: str = "--out") -> str:
    """Write the command that makes a report again: what was given, options that differ from their defaults, the seed.

    Files stand under their names, and where the report goes (the option *folder*) is left open.
    """
    words, options = ["quintain", "study", str(context.info_name)], []
    for param in context.command.params:
        value = context.params.get(str(param.name))
        several = list(value) if isinstance(value, list | tuple) else [value]
        texts = [shlex.quote(_named(part)) for part in several]
        if param.param_type_name == "argument":
            words += texts
        elif param.name == "seed" or (value not in (None, param.default, [], ()) and param.name not in WRITTEN):
            options += [param.opts[0]] if value is True else [f"{param.opts[0]} {text}" for text in texts]
    return " ".join([*words, *options, f"{folder} DIR"])


def _named(value: object) -> str:
    """Write a value of a command: files by their names, all else as it is."""
    text = str(value)
    return Path(text).name if isinstance(value, Path) or suffix_of(Path(text)) in FORMATS else text


def give_report(report: Report, out: Path | None, *, json: bool) -> None:
    """Write *report* to the folder *out*, if one is given, and print it."""
    warn(report.warnings or ())
    page = write_folder(report, out) if out is not None else None
    if json:
        print_json(report)
    else:
        _print(report)
    if page is not None:
        say(f"{page} shows it with its charts; Markdown, LaTeX tables and JSON lie beside it.")


def _print(report: Report) -> None:
    wording = Wording()
    shown = [section for section in report.sections if section.findings or section.tables]  # charts are for the folder
    for number, section in enumerate(shown):
        if number:
            print_line("")
        print_heading(section.title)
        for finding in section.findings:
            print_line(finding)
        for table in section.tables:
            rows = [
                [wording.cell(value, column.kind) for value, column in zip(row, table.columns, strict=True)]
                for row in table.rows
            ]
            print_table([column.title for column in table.columns], rows, title=table.title)
