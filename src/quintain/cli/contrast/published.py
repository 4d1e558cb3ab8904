"""`quintain contrast import`: bring in published contrast sets, or write them as plain examples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, print_table, say
from quintain.cli.plain.contrast import app
from quintain.cli.plain.data_files import ColumnOption, LabelOption, SourceFile, plan_of
from quintain.cli.streams import in_option, named, out_option
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR
from quintain.core.records.contrast import ContrastImport
from quintain.core.records.contrasting import ContrastImported
from quintain.data.contrast.contract import ContrastFiles
from quintain.services.plain.files.contrast_import import write_contrast_examples


@app.command("import")
def import_(
    context: typer.Context,
    path: SourceFile,
    format: Annotated[str, typer.Option("--format", help="Which one: see `contrast formats`.", show_default=False)],  # noqa: A002
    task: Annotated[str, typer.Option("--task", help="The task's name.", show_default=False)] = "",
    name: Annotated[str, typer.Option("--name", help="What the data set is called.", show_default="contrast")] = "",
    out: Annotated[
        Path | None, out_option("Write plain examples for `contrast score` here, without a workspace.", "--out")
    ] = None,
    originals: Annotated[
        Path | None, in_option("The originals, where the published files do not have them.", "--originals")
    ] = None,
    split: Annotated[str, typer.Option("--split", help="Which split, where there are several.")] = "test",
    hidden: Annotated[bool, typer.Option("--hidden", help="Show answers to the task's owners only.")] = False,
    column: ColumnOption = [],  # noqa: B006 - typer reads the default and never changes it
    label: LabelOption = [],  # noqa: B006
    json: JsonFlag = False,
) -> None:
    """Import a published contrast set as a data set version of role contrast, or write it to a file with --out.

    A set is the group of its members, the role a tag (role:original, role:contrast). It scores on the board once its
    owner lets it: see `board score`.

    Example: quintain contrast import IMDb/data --format imdb --task sentiment --name imdb-contrast

    Example: quintain contrast import ropes/data --format ropes --out examples.jsonl
    """
    files = ContrastFiles(path, originals, split)
    if out is not None:
        report = write_contrast_examples(format, files, out)
        if json:
            print_json(report)
        else:
            _tell(report)
            say(f"Wrote {report.examples} examples to {named(out)}; score them with --metric {report.metric}.")
        return
    if not task:
        raise BadInput(
            "Say where the contrast set goes.",
            remedy="Name a task with --task, or a file with --out; see `contrast formats`.",
        )
    from quintain.services.data.contrast import import_contrast  # it imports the store, which --out does without

    plan = plan_of(None, "", column, label, role="contrast", hidden=hidden)
    workspace = workspace_of(context)
    with workspace.session() as db:
        version, report = import_contrast(db, workspace.blobs, OPERATOR, task, name or "contrast", format, files, plan)
    if json:
        print_json(ContrastImported(version.record(), report))
        return
    _tell(report)
    if version.new:
        say(f"Imported {version.rows} examples as {version.ref} ({version.hash[:12]}).")
    else:
        say(f"The same content is there already as {version.ref}; nothing was added.")
    if not version.scores:
        say(f"It does not score yet; let it: quintain board score {version.task}/{version.dataset} on")


def _tell(report: ContrastImport) -> None:
    rows = [
        ("in the file", report.in_file.contrasts, report.in_file.sets),
        ("usable", report.usable.contrasts, report.usable.sets),
    ]
    print_table(["", "neighbours", "sets"], rows)
    for reason, count in report.left_out.items():
        say(f"Left out: {count} {reason}.")
    for note in report.notes:
        say(note)
