"""`quintain study errors|models|relabel|report|workers`: reports on what a workspace holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.context import workspace_of
from quintain.cli.names import split_names
from quintain.cli.output import JsonFlag, bar
from quintain.cli.plain.labels import ColumnOption, LabelsOption, SeedOption
from quintain.cli.plain.study import app
from quintain.cli.reporting import FolderOption, give_report
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR
from quintain.data.tables import FORMATS, parse_columns
from quintain.data.text import suffix_of
from quintain.services.plain.files.checkpoints import Checkpoints
from quintain.services.plain.files.recipe_learner import read_recipe
from quintain.services.plain.labels import relabelling
from quintain.services.plain.labels.judgements import JudgementReading
from quintain.services.study.judged import relabel_report, workers_report
from quintain.services.study.model_errors import errors_report
from quintain.services.study.models import models_report
from quintain.services.study.whole import whole_report

ValidationArgument = Annotated[
    str, typer.Argument(metavar="VALIDATION", help="The validation, as task/round or task/name.")
]


@app.command()
def models(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="The task.")],
    seed: SeedOption = 0,
    out: FolderOption = None,
    json: JsonFlag = False,
) -> None:
    """Show how well each model tells each class, on every data set and round.

    Example: quintain study models sentiment --out report
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        report = models_report(db, workspace.blobs, OPERATOR, task, seed=seed)
    give_report(report, out, json=json)


@app.command()
def errors(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(metavar="DATASET", help="The data set, as task/name or task/name@2.")],
    models: Annotated[
        list[str], typer.Argument(metavar="MODEL [MODEL]", help="A model, or two, that were run on it: name or name@2.")
    ],
    seed: SeedOption = 0,
    out: FolderOption = None,
    json: JsonFlag = False,
) -> None:
    """Show where a model errs on a data set and whether it is as unsure as people; of two, what they disagree on.

    Example: quintain study errors sentiment/test small@1 --out report

    Example: quintain study errors sentiment/test small@1 large@2 --out report
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        report = errors_report(db, workspace.blobs, OPERATOR, ref, models, seed=seed)
    give_report(report, out, json=json)


@app.command()
def relabel(
    context: typer.Context,
    ref: Annotated[
        str,
        typer.Argument(metavar="VALIDATION|FILE", help="A validation (task/name), or a file of judgements."),
    ],
    old: Annotated[
        str | None, typer.Option(help="Of a file: the old labels, a column or a file item,label.", show_default=False)
    ] = None,
    text: Annotated[str, typer.Option(help="Of a file: the column of the texts.", show_default="the item")] = "",
    column: ColumnOption = None,
    labels: LabelsOption = None,
    seed: SeedOption = 0,
    out: FolderOption = None,
    json: JsonFlag = False,
) -> None:
    """Compare the labels that items came with, and those that people give them.

    Example: quintain study relabel sentiment/sst-dev --out report

    Example: quintain study relabel judgements.csv --old sst_label --text sentence --out report
    """
    if suffix_of(Path(ref)) in FORMATS:
        if old is None:
            raise BadInput("A file needs its old labels.", remedy="Name them with --old: a column, or a file.")
        reading = JudgementReading(parse_columns(column or []), split_names(labels))
        give_report(relabelling.relabel_report(Path(ref), old, reading, text=text, seed=seed), out, json=json)
        return
    with workspace_of(context).session() as db:
        report = relabel_report(db, OPERATOR, ref, seed=seed)
    give_report(report, out, json=json)


@app.command()
def report(
    context: typer.Context,
    ref: Annotated[
        str,
        typer.Argument(
            metavar="DATASET|ROUND|TRIAL", help="A data set or a trial, as task/name; a round, as task/number."
        ),
    ],
    recipe: Annotated[
        Path | None, typer.Option(help="A recipe whose learner takes the place of the linear one.")
    ] = None,
    seed: SeedOption = 0,
    out: FolderOption = None,
    json: JsonFlag = False,
) -> None:
    """Report all of a data set, a round or a trial: artefacts, difficulty, errors, texts, labels, people, arms.

    Example: quintain study report sentiment/test --out report

    Example: quintain study report sentiment/2 --out report

    Example: quintain study report reading/protocols --out report
    """
    learner = read_recipe(recipe) if recipe else None
    workspace, checkpoints = workspace_of(context), Checkpoints(out)
    with workspace.session() as db, bar() as tell:

        def done(share: float) -> None:
            tell("Study", int(100 * share), 100)

        whole = whole_report(
            db, workspace.blobs, OPERATOR, ref, seed=seed, done=done, checkpoints=checkpoints, learner=learner
        )
    give_report(whole, out, json=json)
    checkpoints.clear()


@app.command()
def workers(context: typer.Context, ref: ValidationArgument, out: FolderOption = None, json: JsonFlag = False) -> None:
    """Show who did how much of the work, and how often judges agree with the label, each other and gold.

    Example: quintain study workers sentiment/2 --out report
    """
    with workspace_of(context).session() as db:
        report = workers_report(db, OPERATOR, ref)
    give_report(report, out, json=json)
