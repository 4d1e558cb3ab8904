"""`quintain study start|kept`: have a worker make a report, follow it, and take what it made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, say
from quintain.cli.plain.labels import SeedOption
from quintain.cli.plain.study import app
from quintain.cli.reporting import FolderOption, give_report
from quintain.compose import checkpoints_of
from quintain.core.people import OPERATOR
from quintain.core.records.studies import KeptStudy
from quintain.data.text import read_bytes
from quintain.services.study import studies

TaskArgument = Annotated[str, typer.Argument(help="The task.")]
SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="data/NAME, rounds/NUMBER, trials/NAME; compared/NAME+NAME; errors/DATASET+MODEL, or +MODEL+MODEL.",
    ),
]


@app.command()
def start(
    context: typer.Context,
    task: TaskArgument,
    source: SourceArgument,
    recipe: Annotated[
        Path | None,
        typer.Option(help="A recipe whose learner takes the place of the linear one; see QUINTAIN_CHECKPOINTS."),
    ] = None,
    seed: SeedOption = 0,
    json: JsonFlag = False,
) -> None:
    """Have a worker make the whole report of a data set, a round or a trial; its page shows it then.

    Example: quintain study start sentiment data/test

    Example: quintain study start sentiment data/test --recipe recipe.toml
    """
    workspace, text = workspace_of(context), read_bytes(recipe).decode("utf-8", "replace") if recipe else ""
    checkpoints = checkpoints_of(workspace.settings)
    with workspace.session() as db:
        study = studies.start_study(db, OPERATOR, task, source, seed=seed, recipe=text, checkpoints=checkpoints)
    if json:
        print_json(study)
    else:
        say(_sentence_on(study))


@app.command()
def kept(
    context: typer.Context, task: TaskArgument, source: SourceArgument, out: FolderOption = None, json: JsonFlag = False
) -> None:
    """Show the last report that a worker made of a data set, a round or a trial; --json also has the job's standing.

    Example: quintain study kept sentiment data/test --out report
    """
    with workspace_of(context).session() as db:
        study = studies.get_study(db, OPERATOR, task, source)
        if json:
            print_json(study)
            return
        report = studies.kept_report(db, OPERATOR, task, source)
    give_report(report, out, json=False)
    say(_sentence_on(study))


def _sentence_on(study: KeptStudy) -> str:
    if study.job is not None and study.job.going:
        share = "" if study.job.share is None else f", {study.job.share:.0%} done"
        return f"Job {study.job.id} for {study.source} is {study.job.state}{share}; `quintain worker` does it."
    return f"The report of {study.source} was made at {study.at}." if study.at else f"No report of {study.source} yet."
