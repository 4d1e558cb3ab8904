"""`quintain data`: bring data sets in, look at them, take them out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, out, print_json, print_line, print_table, say
from quintain.cli.plain.data_files import (
    ColumnOption,
    DropOption,
    DuplicatesOption,
    EncodingOption,
    FormatOption,
    LabelOption,
    LimitOption,
    PlanOption,
    PresetOption,
    RoleOption,
    RowsOption,
    SampleOption,
    SeedOption,
    SkipBad,
    SourceFile,
    SplitOption,
    TagOption,
    app,
    plan_of,
    progress_bar,
    report_as_dict,
    say_report,
)
from quintain.cli.streams import named, out_file
from quintain.core.errors import BadInput
from quintain.core.example import Role
from quintain.core.people import OPERATOR
from quintain.core.records.tasks import DatasetVersions
from quintain.data.exporting import SINKS
from quintain.data.publish.dynasent import DYNASENT
from quintain.data.publish.folder import FOLDERS
from quintain.services.data import content
from quintain.services.data import datasets as service
from quintain.services.data.publishing import export_folder

Ref = Annotated[
    str, typer.Argument(metavar="REF", help="task/name, task/name@3 or the start of a hash.", show_default=False)
]


@app.command("import")
def import_(
    context: typer.Context,
    file: SourceFile,
    task: Annotated[str, typer.Option("--task", help="The task's name.", show_default=False)],
    name: Annotated[str, typer.Option("--name", help="What the data set is called.", show_default=False)],
    role: RoleOption = "",
    hidden: Annotated[bool, typer.Option("--hidden", help="Show answers to the task's owners only.")] = False,
    language: Annotated[str, typer.Option("--language", help="Language code.", show_default="the task's first")] = "",
    license: Annotated[str, typer.Option("--license", help="Such as cc-by-4.0.")] = "",  # noqa: A002
    citation: Annotated[str, typer.Option("--citation", help="How it is cited.")] = "",
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
    rows: RowsOption = "",
    sample: SampleOption = None,
    seed: SeedOption = None,
    skip_bad: SkipBad = False,
    score: Annotated[bool, typer.Option("--score", help="Let it score on the board at once.")] = False,
    limit: LimitOption = None,
    json: JsonFlag = False,
) -> None:
    """Import a file as a version of a data set, all of it or nothing.

    A new data set is shown on the board and scores once its owner lets it: see `board score`.

    Example: quintain data import reviews.jsonl --task sentiment --name reviews --role test --column text=body

    Example: quintain data import reviews.jsonl --task sentiment --name half --role train --rows 1:50000 --sample 1000
    """
    import_plan = plan_of(
        plan, preset, column, label,
        role=role, hidden=hidden, language=language, drop=tuple(drop), tag_columns=tuple(tag_column), format=format,
        split=split, encoding=encoding, duplicates=duplicates, skip_bad=skip_bad, limit=limit,
        rows=rows, sample=sample, seed=seed, license=license, citation=citation,
    )  # fmt: skip
    workspace = workspace_of(context)
    with workspace.session() as db, progress_bar(file.name, shown=not json) as progress:
        version = service.import_dataset(
            db, workspace.blobs, OPERATOR, task, name, file, import_plan, score=score, progress=progress
        )
    if json:
        report = report_as_dict(version.report) if version.report else {}
        print_json({"version": version.record(), "new": version.new, **report})
        return
    if version.report:
        say_report(version.report)
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
        versions = service.list_versions(db, OPERATOR, task)
    if json:
        print_json(DatasetVersions([version.record() for version in versions]))
    elif not versions:
        say("There are no data sets yet. Bring one in: quintain data import FILE --task TASK --name NAME --role test")
    else:
        rows = [
            (
                version.ref,
                version.role,
                "hidden" if version.hidden else "open",
                version.rows,
                version.language,
                version.hash[:12],
            )
            for version in versions
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
        print_json({"preview": page.record(), "labels": labels, "tags": tags})
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
    refs: Annotated[
        list[str],
        typer.Argument(metavar="REF...", help="A version; for a folder, one for each split.", show_default=False),
    ],
    path: Annotated[Path, out_file("Where to write it; a folder may be a .zip.")],
    format: Annotated[  # noqa: A002
        str, typer.Option("--format", help=f"One of {', '.join((*SINKS, DYNASENT, *FOLDERS))}; by default the name's.")
    ] = "",
    labels: Annotated[
        str,
        typer.Option(
            "--labels", help="As voted: distributional (a row for each vote) or soft (shares); else majority."
        ),
    ] = "majority",
    hidden_answers: Annotated[
        bool, typer.Option("--hidden-answers", help="Put hidden answers into a folder, too; files have them.")
    ] = False,
    public: Annotated[
        bool, typer.Option("--public", help="Make a folder to pass on: without inputs that are not open to all.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Write a version to a file that `data import` reads back, or several to a folder that other tools know.

    `hf` is a folder in the style of Hugging Face: README.md, croissant.json and one Parquet file for each split, named
    after the version's role. `croissant` is the same without the README. `dynasent` is JSON lines in DynaSent's names.
    Stored images are written to a folder `images` beside the file; a FILE.zip holds both (name its --format).

    Example: quintain data export sentiment/reviews@1 reviews.csv

    Example: quintain data export sentiment/train sentiment/dev sentiment/test folder --format hf

    Example: quintain data export sentiment/round-2-train train.jsonl --labels distributional
    """
    workspace = workspace_of(context)
    form = format or path.suffix.lstrip(".").lower()
    if form in FOLDERS:
        if labels != "majority":
            raise BadInput("A folder has the majority's labels.", remedy="Export a file, such as train.jsonl.")
        archive = path.suffix.lower() == ".zip" or named(path) != str(path)
        with workspace.session() as db:
            versions = export_folder(
                db,
                workspace.blobs,
                OPERATOR,
                refs,
                form,
                path,
                archive=archive,
                hidden_answers=hidden_answers,
                public=public,
            )
        if json:
            print_json({"versions": [version.record() for version in versions], "file": str(path), "format": form})
        else:
            say(f"Wrote {sum(version.rows for version in versions)} examples to {named(path)}.")
        return
    if public:
        raise BadInput("A file has all that you may read.", remedy="With --public, choose --format hf or croissant.")
    if len(refs) > 1:
        raise BadInput(
            "A file holds one version.", known=" or ".join(FOLDERS), remedy="For several, choose --format {known}."
        )
    with workspace.session() as db:
        version = content.export(
            db, workspace.blobs, OPERATOR, refs[0], form, path, labels=labels, archive=path.suffix.lower() == ".zip"
        )
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
    """Show what was added, removed and answered differently between two versions.

    Example: quintain data diff sentiment/reviews@1 sentiment/reviews@2
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        delta = content.diff(db, workspace.blobs, OPERATOR, a, b)
    if json:
        print_json(delta.record(limit))
        return
    print_line(f"{delta.added.height} added, {delta.removed.height} removed, {delta.changed.height} answers changed")
    for sign, table in (("+", delta.added), ("-", delta.removed), ("~", delta.changed)):
        for row in table.head(limit).to_dicts():
            cells = [f"{name}: {value}" for name, value in row.items() if name != "id"]
            print_line(f"{sign} {'  '.join(cells)}")


def _print_examples(page: content.ExamplePage) -> None:
    for example in page.examples:
        out.print()
        for name, value in example.items():
            if value not in (None, [], "") and name != "meta":
                print_line(f"{name}: {value}")
    rest = page.total - page.offset - len(page.examples)
    if rest > 0:
        say(f"… and {rest} more.")
