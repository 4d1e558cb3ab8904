"""`quintain study slices|disagree|calibration`: where models err, on plain files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.names import split_names
from quintain.cli.output import JsonFlag
from quintain.cli.plain.labels import SeedOption
from quintain.cli.plain.study import app
from quintain.cli.reporting import FolderOption, again, give_report
from quintain.cli.streams import in_file
from quintain.library import errors as library

GoldArgument = Annotated[Path, in_file("Gold answers, one a row: CSV, TSV, JSONL or Parquet.", metavar="GOLD")]
SaidArgument = Annotated[Path, in_file("Predictions: id,prediction.", metavar="PREDICTIONS")]
FieldOption = Annotated[
    list[str] | None, typer.Option(help="Column of the input, or several by commas.", show_default="text")
]
LabelOption = Annotated[str, typer.Option(help="Column of the gold answers.")]
IdOption = Annotated[str, typer.Option("--id", help="Column of the ids, in all files.")]
TagsOption = Annotated[str, typer.Option(help="Column of the tags.", show_default="none")]
ByOption = Annotated[list[str] | None, typer.Option(help="Another column to cut by.", show_default="none")]


@app.command()
def slices(
    context: typer.Context,
    gold: GoldArgument,
    predictions: SaidArgument,
    field: FieldOption = None,
    label: LabelOption = "label",
    name: IdOption = "id",
    tags: TagsOption = "",
    by: ByOption = None,
    out: FolderOption = None,
    json: JsonFlag = False,
) -> None:
    """Find slices in which a model is weak, among tags, answers, lengths and words, with examples.

    Example: quintain study slices gold.jsonl predictions.csv --field premise,hypothesis --tags tags --out report
    """
    study = library.slices(
        gold,
        predictions,
        split_names(field) or ["text"],
        label=label,
        id=name,
        tags=tags,
        by=split_names(by),
        model=predictions.stem,
        commands=[again(context)],
    )
    give_report(study.report, out, json=json)


@app.command()
def disagree(
    context: typer.Context,
    gold: GoldArgument,
    first: SaidArgument,
    second: SaidArgument,
    field: FieldOption = None,
    label: LabelOption = "label",
    name: IdOption = "id",
    tags: TagsOption = "",
    by: ByOption = None,
    out: FolderOption = None,
    json: JsonFlag = False,
) -> None:
    """Show what two models disagree on: who is right how often, whether that is chance, where one is better.

    Example: quintain study disagree gold.jsonl small.csv large.csv --tags tags --out report
    """
    study = library.disagreement(
        gold,
        first,
        second,
        split_names(field) or ["text"],
        label=label,
        id=name,
        tags=tags,
        by=split_names(by),
        models=(first.stem, second.stem if second.stem != first.stem else f"{second.stem} (2)"),
        commands=[again(context)],
    )
    give_report(study.report, out, json=json)


@app.command()
def calibration(
    context: typer.Context,
    gold: GoldArgument,
    predictions: Annotated[
        Path, in_file("Predictions: id,prediction and probabilities, or prob_LABEL.", metavar="PREDICTIONS")
    ],
    votes: Annotated[str, typer.Option(help="Column of people's answers, a list or counts.")] = "votes",
    label: LabelOption = "label",
    name: IdOption = "id",
    seed: SeedOption = 0,
    out: FolderOption = None,
    json: JsonFlag = False,
) -> None:
    """Hold a model's confidence against people's disagreement: whether it is as unsure, and of the same examples.

    Example: quintain study calibration gold.jsonl predictions.jsonl --votes annotator_labels --out report
    """
    study = library.calibration(
        gold,
        predictions,
        votes=votes,
        label=label,
        id=name,
        model=predictions.stem,
        seed=seed,
        commands=[again(context)],
    )
    give_report(study.report, out, json=json)
