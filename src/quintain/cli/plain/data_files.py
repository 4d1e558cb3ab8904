"""`quintain data check|presets`: look at files before they are imported, without a workspace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from quintain.cli.output import JsonFlag, err, print_json, print_line, print_table, say
from quintain.cli.streams import in_file, in_option
from quintain.core.errors import BadInput
from quintain.data.importing import ImportReport, check_file, describe
from quintain.data.importing import Progress as OnProgress
from quintain.data.plan import ImportPlan, read_plan
from quintain.data.presets import list_presets, read_preset
from quintain.data.tables import parse_columns
from quintain.tasks.definition import read_task

app = typer.Typer(help="Bring data sets in, look at them, take them out.", no_args_is_help=True)

SourceFile = Annotated[Path, in_file("The file or folder to read.")]
RoleOption = Annotated[str, typer.Option("--role", help="train, dev, test or contrast.", show_default=False)]
PlanOption = Annotated[Path | None, in_option("TOML file with the mapping.", "--plan")]
PresetOption = Annotated[str, typer.Option("--preset", help="Mapping of a public data set.", show_default=False)]
ColumnOption = Annotated[
    list[str], typer.Option("--column", help="Our name=the file's column; repeat.", show_default=False)
]
LabelOption = Annotated[
    list[str], typer.Option("--label", help="A value in the file=a label; repeat.", show_default=False)
]
DropOption = Annotated[
    list[str], typer.Option("--drop", help="An answer whose rows are left out; repeat.", show_default=False)
]
TagOption = Annotated[
    list[str], typer.Option("--tag-column", help="A column to make tags of; repeat.", show_default=False)
]
FormatOption = Annotated[str, typer.Option("--format", help="Format, where the name does not tell.")]
SplitOption = Annotated[str, typer.Option("--split", help="Split of a folder; by default the role's.")]
EncodingOption = Annotated[str, typer.Option("--encoding", help="Such as latin-1; found out by default.")]
DuplicatesOption = Annotated[str, typer.Option("--duplicates", help="'first' keeps the first of equal inputs.")]
RowsOption = Annotated[
    str,
    typer.Option(
        "--rows",
        metavar="A:B",
        help="Only rows A to B of the file, both included, from 1 (a header aside), before any is left out.",
        show_default=False,
    ),
]
SampleOption = Annotated[
    int | None,
    typer.Option(
        "--sample", metavar="N", help="A random sample of N of the examples that are left.", show_default=False
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option("--seed", metavar="S", help="Which sample it is.", show_default="0"),
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out instead of refusing the file.")]
LimitOption = Annotated[int | None, typer.Option("--limit", help="How many faults to list.", show_default="100")]


@app.command()
def check(
    file: SourceFile,
    task: Annotated[Path, in_option("The task's TOML file.", "--task")],
    role: RoleOption = "",
    plan: PlanOption = None,
    preset: PresetOption = "",
    column: ColumnOption = [],  # noqa: B006 - typer reads the default and never changes it
    label: LabelOption = [],  # noqa: B006
    drop: DropOption = [],  # noqa: B006
    format: FormatOption = "",  # noqa: A002 - the name of the option
    split: SplitOption = "",
    encoding: EncodingOption = "",
    duplicates: DuplicatesOption = "",
    rows: RowsOption = "",
    sample: SampleOption = None,
    seed: SeedOption = None,
    limit: LimitOption = None,
    json: JsonFlag = False,
) -> None:
    """Find everything that is wrong with a file, without importing it; needs no workspace.

    Example: quintain data check reviews.jsonl --task sentiment.toml --label 0=negative --label 1=positive
    """
    how = plan_of(
        plan, preset, column, label,
        role=role, drop=tuple(drop), format=format, split=split, encoding=encoding, duplicates=duplicates, limit=limit,
        rows=rows, sample=sample, seed=seed,
    )  # fmt: skip
    with progress_bar(file.name, shown=not json) as progress:
        report = check_file(file, read_task(task), how, progress=progress)
    if json:
        print_json({"ok": not report.total, **report_as_dict(report), "hash": report.hash})
    elif report.total:
        error = report.error()
        raise BadInput(
            "{file} has {total_faults} faults.",
            file=report.file,
            total_faults=report.total,
            faults=error.faults,
            total=error.total,
        )
    else:
        print_line(f"{file}: {report.rows} good examples{left_out(report)}.")
    if report.total:
        raise typer.Exit(1)


@app.command()
def presets(json: JsonFlag = False) -> None:
    """List the mappings of public data sets that `--preset` knows.

    Example: quintain data presets
    """
    known = list_presets()
    if json:
        rows = [{"name": one.name, "format": one.plan.format, "note": one.note} for one in known]
        print_json({"presets": rows})
    else:
        print_table(["preset", "format", "what it reads"], [(one.name, one.plan.format, one.note) for one in known])


def plan_of(plan: Path | None, preset: str, columns: list[str], labels: list[str], **changes: Any) -> ImportPlan:
    """Put the plan together: the preset, then the file, then the options."""
    if plan and preset:
        raise BadInput("Give --plan or --preset, not both.", remedy="A plan file may repeat what the preset says.")
    base = read_plan(plan) if plan else read_preset(preset).plan if preset else ImportPlan()
    pairs = {}
    for pair in labels:
        value, equals, label = pair.rpartition("=")
        if not equals or not label.strip():
            raise BadInput("The label map '{pair}' is not VALUE=LABEL.", pair=pair, remedy="For example: 0=negative.")
        pairs[value.strip()] = label.strip()
    return base.with_changes(columns=parse_columns(columns), labels=pairs, **changes)


@contextmanager
def progress_bar(name: str, *, shown: bool) -> Iterator[OnProgress]:
    """Show on a terminal how much of the file called *name* has been read."""
    bar = Progress(
        TextColumn(name.replace("[", r"\[")), BarColumn(), DownloadColumn(), TimeRemainingColumn(),
        console=err, transient=True, disable=not (shown and err.is_terminal),
    )  # fmt: skip
    with bar:
        item = bar.add_task("reading", total=None)
        yield lambda done, total: bar.update(item, completed=done, total=total)


def report_as_dict(report: ImportReport) -> dict[str, Any]:
    """Return what reading found, for programs."""
    return {
        "rows_read": report.rows_read,
        "rows": report.rows,
        "dropped": {reason: count for reason, count in report.dropped.items() if count},
        "faults": [fault.as_dict() for fault in report.faults],
        "total_faults": report.total,
        "hints": report.hints,
    }


def left_out(report: ImportReport) -> str:
    """Return how many rows were left out and why; nothing where none were."""
    why = describe(report.dropped)
    return f"; left out: {why}" if why else ""


def say_report(report: ImportReport) -> None:
    """Print what reading found, for a person."""
    for hint in report.hints:
        say(hint)
    for fault in report.faults:
        say(f"left out: {fault}")
    if report.total > len(report.faults):
        say(f"… and {report.total - len(report.faults)} more.")
    why = describe(report.dropped)
    if why:
        say(f"Left out of {report.rows_read} rows: {why}.")
