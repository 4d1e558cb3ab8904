"""`quintain data`: bring data sets in, look at them, take them out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, err, out, print_json, print_line, print_table, say
from quintain.cli.streams import in_file, in_option, named, out_file
from quintain.core.errors import BadInput
from quintain.core.example import Role
from quintain.core.people import OPERATOR
from quintain.core.records.base import plain
from quintain.data.exporting import SINKS
from quintain.data.importing import Progress as OnProgress
from quintain.data.importing import Report, check_file, describe
from quintain.data.plan import ImportPlan, read_plan
from quintain.data.presets import list_presets, read_preset
from quintain.data.tables import parse_columns
from quintain.services.data import content
from quintain.services.data import datasets as service
from quintain.tasks.definition import read_task

app = typer.Typer(help="Bring data sets in, look at them, take them out.", no_args_is_help=True)

SourceFile = Annotated[Path, in_file("The file or folder to read.")]
Ref = Annotated[
    str, typer.Argument(metavar="REF", help="task/name, task/name@3 or the start of a hash.", show_default=False)
]
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
EncodingOption = Annotated[str, typer.Option("--encoding", help="Such as latin-1, for a file that is not UTF-8.")]
DuplicatesOption = Annotated[str, typer.Option("--duplicates", help="'first' keeps the first of equal inputs.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out instead of refusing the file.")]
LimitOption = Annotated[int | None, typer.Option("--limit", help="How many faults to list.", show_default="100")]


@app.command("import")
def import_(
    context: typer.Context,
    file: SourceFile,
    task: Annotated[str, typer.Option("--task", help="The task's name.", show_default=False)],
    name: Annotated[str, typer.Option("--name", help="What the data set is called.", show_default=False)],
    role: RoleOption = "",
    hidden: Annotated[bool, typer.Option("--hidden", help="Show answers to the task's owners only.")] = False,
    language: Annotated[str, typer.Option("--language", help="Language code.", show_default="en")] = "",
    plan: PlanOption = None,
    preset: PresetOption = "",
    column: ColumnOption = [],  # noqa: B006 - typer reads the default and never changes it
    label: LabelOption = [],  # noqa: B006
    drop: DropOption = [],  # noqa: B006
    tag_column: TagOption = [],  # noqa: B006
    format: FormatOption = "",  # noqa: A002 - the name of the option
    split: SplitOption = "",
    encoding: EncodingOption = "",
    duplicates: DuplicatesOption = "",
    skip_bad: SkipBad = False,
    score: Annotated[bool, typer.Option("--score", help="Let it score on the board at once.")] = False,
    limit: LimitOption = None,
    json: JsonFlag = False,
) -> None:
    """Import a file as a version of a data set, all of it or nothing.

    A new data set is shown on the board and scores once its owner lets it: see `board score`.

    Example: quintain data import reviews.jsonl --task sentiment --name reviews --role test --column text=body
    """
    made = _plan(
        plan, preset, column, label,
        role=role, hidden=hidden, language=language, drop=tuple(drop), tag_columns=tuple(tag_column), format=format,
        split=split, encoding=encoding, duplicates=duplicates, skip_bad=skip_bad, limit=limit,
    )  # fmt: skip
    workspace = workspace_of(context)
    with workspace.session() as db, _progress(file.name, shown=not json) as progress:
        version = service.import_dataset(
            db, workspace.blobs, OPERATOR, task, name, file, made, score=score, progress=progress
        )
    if json:
        report = _report(version.report) if version.report else {}
        print_json({"version": version.record(), "new": version.new, **report})
        return
    if version.report:
        _say_report(version.report)
    if version.new:
        say(f"Imported {version.rows} examples as {version.ref} ({version.hash[:12]}).")
    else:
        say(f"The same content is there already as {version.ref}; nothing was added.")
    if version.role != Role.TRAIN:
        name = f"{version.task}/{version.dataset}"
        say(
            f"{name} scores on the board."
            if version.scores
            else f"{name} does not score yet; let it: quintain board score {name} on"
        )


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
    limit: LimitOption = None,
    json: JsonFlag = False,
) -> None:
    """Say everything that is wrong with a file, without importing it; needs no workspace.

    Example: quintain data check reviews.jsonl --task sentiment.toml --label 0=negative --label 1=positive
    """
    made = _plan(
        plan, preset, column, label,
        role=role, drop=tuple(drop), format=format, split=split, encoding=encoding, duplicates=duplicates, limit=limit,
    )  # fmt: skip
    with _progress(file.name, shown=not json) as progress:
        report = check_file(file, read_task(task), made, progress=progress)
    if json:
        print_json({"ok": not report.total, **_report(report), "hash": report.hash})
    elif report.total:
        error = report.error()
        raise BadInput(f"{report.file} has {report.total} faults.", faults=error.faults, total=error.total)
    else:
        print_line(f"{file}: {report.rows} good examples{_left_out(report)}.")
    if report.total:
        raise typer.Exit(1)


@app.command("list")
def list_(
    context: typer.Context,
    task: Annotated[str | None, typer.Option("--task", help="Of this task only.", show_default=False)] = None,
    json: JsonFlag = False,
) -> None:
    """List the versions of all data sets.

    Example: quintain data list --task sentiment
    """
    with workspace_of(context).session() as db:
        found = service.list_versions(db, OPERATOR, task)
    if json:
        print_json({"versions": [one.record() for one in found]})
    elif not found:
        say("There are no data sets yet. Bring one in: quintain data import FILE --task TASK --name NAME --role test")
    else:
        rows = [
            (one.ref, one.role, "hidden" if one.hidden else "open", one.rows, one.language, one.hash[:12])
            for one in found
        ]
        print_table(["version", "role", "labels", "rows", "language", "hash"], rows)


@app.command()
def show(
    context: typer.Context,
    ref: Ref,
    text: Annotated[str | None, typer.Option("--text", help="Only examples that contain this.")] = None,
    label: Annotated[str | None, typer.Option("--label", help="Only examples with this answer.")] = None,
    tag: Annotated[str | None, typer.Option("--tag", help="Only examples with this tag.")] = None,
    offset: Annotated[int, typer.Option("--offset", help="Examples to skip.")] = 0,
    limit: Annotated[int, typer.Option("--limit", help="Examples to show.")] = 5,
    json: JsonFlag = False,
) -> None:
    """Show a version: what is known of it, its labels, and some of its examples.

    Example: quintain data show sentiment/reviews --label negative --limit 3
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        page = content.preview(
            db, workspace.blobs, OPERATOR, ref, text=text, label=label, tag=tag, offset=offset, limit=limit
        )
        labels = content.label_counts(db, workspace.blobs, OPERATOR, ref)
        tags = content.tag_counts(db, workspace.blobs, OPERATOR, ref)
    if json:
        print_json({**plain(page.record()), "labels": labels, "tags": tags})
        return
    version = page.version
    shown = "hidden" if version.hidden else "open"
    print_line(f"{version.ref}  {version.rows} rows, role {version.role}, labels {shown}, language {version.language}")
    print_line(f"hash {version.hash}")
    for step in version.parents:
        print_line(f"made from {step.ref} by {step.how}")
    if labels:
        print_table(["answer", "examples"], labels.items())
    _print_examples(page)


@app.command()
def export(
    context: typer.Context,
    ref: Ref,
    path: Annotated[Path, out_file("Where to write it.")],
    format: Annotated[str, typer.Option("--format", help=f"One of {', '.join(SINKS)}; by default the name's.")] = "",  # noqa: A002
    json: JsonFlag = False,
) -> None:
    """Write a version to a file that `data import` reads back.

    Example: quintain data export sentiment/reviews@1 reviews.csv
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        form = format or path.suffix.lstrip(".").lower()
        version = content.export(db, workspace.blobs, OPERATOR, ref, form, path)
    if json:
        print_json({"version": version.record(), "file": str(path), "format": form})
    else:
        say(f"Wrote {version.rows} examples of {version.ref} to {named(path)}.")


@app.command()
def diff(
    context: typer.Context,
    a: Annotated[str, typer.Argument(help="The one version.", show_default=False)],
    b: Annotated[str, typer.Argument(help="The other version.", show_default=False)],
    limit: Annotated[int, typer.Option("--limit", help="Examples to show of each.")] = 5,
    json: JsonFlag = False,
) -> None:
    """Say what was added, removed and answered differently between two versions.

    Example: quintain data diff sentiment/reviews@1 sentiment/reviews@2
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        found = content.diff(db, workspace.blobs, OPERATOR, a, b)
    if json:
        print_json(found.record(limit))
        return
    print_line(f"{found.added.height} added, {found.removed.height} removed, {found.changed.height} answers changed")
    for sign, table in (("+", found.added), ("-", found.removed), ("~", found.changed)):
        for row in table.head(limit).to_dicts():
            cells = [f"{name}: {value}" for name, value in row.items() if name != "id"]
            print_line(f"{sign} {'  '.join(cells)}")


@app.command()
def presets(json: JsonFlag = False) -> None:
    """List the mappings of public data sets that `--preset` knows.

    Example: quintain data presets
    """
    found = list_presets()
    if json:
        rows = [{"name": one.name, "format": one.plan.format, "note": one.note} for one in found]
        print_json({"presets": rows})
    else:
        print_table(["preset", "format", "what it reads"], [(one.name, one.plan.format, one.note) for one in found])


def _plan(plan: Path | None, preset: str, columns: list[str], labels: list[str], **changes: Any) -> ImportPlan:
    """Put the plan together: the preset, then the file, then the options."""
    if plan and preset:
        raise BadInput("Give --plan or --preset, not both.", remedy="A plan file may repeat what the preset says.")
    base = read_plan(plan) if plan else read_preset(preset).plan if preset else ImportPlan()
    pairs = {}
    for pair in labels:
        value, equals, label = pair.rpartition("=")
        if not equals or not label.strip():
            raise BadInput(f"The label map '{pair}' is not VALUE=LABEL.", remedy="For example: 0=negative.")
        pairs[value.strip()] = label.strip()
    return base.with_changes(columns=parse_columns(columns), labels=pairs, **changes)


@contextmanager
def _progress(name: str, *, shown: bool) -> Iterator[OnProgress]:
    bar = Progress(
        TextColumn(name.replace("[", r"\[")), BarColumn(), DownloadColumn(), TimeRemainingColumn(),
        console=err, transient=True, disable=not (shown and err.is_terminal),
    )  # fmt: skip
    with bar:
        item = bar.add_task("reading", total=None)
        yield lambda done, total: bar.update(item, completed=done, total=total)


def _report(report: Report) -> dict[str, Any]:
    return {
        "rows_read": report.rows_read,
        "rows": report.rows,
        "dropped": {reason: count for reason, count in report.dropped.items() if count},
        "faults": [fault.as_dict() for fault in report.faults],
        "total_faults": report.total,
        "hints": report.hints,
    }


def _left_out(report: Report) -> str:
    why = describe(report.dropped)
    return f"; left out: {why}" if why else ""


def _say_report(report: Report) -> None:
    for hint in report.hints:
        say(hint)
    for fault in report.faults:
        say(f"left out: {fault}")
    if report.total > len(report.faults):
        say(f"… and {report.total - len(report.faults)} more.")
    why = describe(report.dropped)
    if why:
        say(f"Left out of {report.rows_read} rows: {why}.")


def _print_examples(page: content.Page) -> None:
    for example in page.examples:
        out.print()
        for name, value in example.items():
            if value not in (None, [], "") and name != "meta":
                print_line(f"{name}: {value}")
    rest = page.total - page.offset - len(page.examples)
    if rest > 0:
        say(f"… and {rest} more.")
