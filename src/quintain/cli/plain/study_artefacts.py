"""`quintain study artefacts`: what gives answers away, on plain files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.names import split_names
from quintain.cli.plain.labels import SeedOption
from quintain.cli.plain.study import app
from quintain.cli.reporting import FolderOption, again, give_report
from quintain.cli.streams import in_file
from quintain.library import artefacts as library


@app.command()
def artefacts(
    context: typer.Context,
    file: Annotated[Path, in_file("Examples, one a row: CSV, TSV, JSONL or Parquet.")],
    field: Annotated[
        list[str] | None, typer.Option(help="Column of the input, or several by commas.", show_default="text")
    ] = None,
    label: Annotated[str, typer.Option(help="Column of the answers.")] = "label",
    options: Annotated[
        list[str] | None,
        typer.Option(help="Of multiple choice: the column of the options, or one for each.", show_default="none"),
    ] = None,
    passage: Annotated[
        str,
        typer.Option("--context", help="Column of what examples share, such as a passage's id.", show_default="none"),
    ] = "",
    writer: Annotated[str, typer.Option(help="Column of the writers.", show_default="none")] = "",
    arm: Annotated[str, typer.Option(help="Column of the protocol or condition.", show_default="none")] = "",
    partial: Annotated[
        list[str] | None,
        typer.Option(help="A part of the input to try, as fields by commas.", show_default="all that make sense"),
    ] = None,
    recipe: Annotated[
        Path | None, typer.Option(help="A recipe whose learner takes the place of the linear one.")
    ] = None,
    seed: SeedOption = 0,
    out: FolderOption = None,
    json: output.JsonFlag = False,
) -> None:
    """Look for what gives answers away: partial inputs, lengths, words, repeats, writers, who texts are about.

    Example: quintain study artefacts nli.jsonl --field premise,hypothesis --label label --out report

    Example: quintain study artefacts questions.jsonl --field passage,question --options options --label answer
    """
    with output.bar() as tell:
        study = library.artefacts(
            file,
            split_names(field) or ["text"],
            label=label,
            options=split_names(options),
            context=passage,
            writer=writer,
            arm=arm,
            partial=[split_names([one]) for one in partial or []],
            recipe=recipe,
            seed=seed,
            keep=out,
            commands=[again(context)],
            progress=lambda share: tell("Looking for artefacts", int(100 * share), 100),
        )
    give_report(study.report, out, json=json)
    study.checkpoints.clear()
