"""`quintain study compare`: files of examples, data sets or rounds of a workspace beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from quintain.cli import output
from quintain.cli.context import workspace_of
from quintain.cli.names import split_names
from quintain.cli.plain.labels import SeedOption
from quintain.cli.plain.study import app
from quintain.cli.reporting import FolderOption, again, give_report
from quintain.cli.streams import read_path
from quintain.core.people import OPERATOR
from quintain.data.tables import FORMATS
from quintain.data.text import suffix_of

if TYPE_CHECKING:
    from quintain.compose import Workspace

HarvestOption = Annotated[
    list[str] | None,
    typer.Option("--harvest", help="Of rounds: a validation of harvested sentences, or a data set, beside them."),
]
FILE = "Of files: "


@app.command()
def compare(
    context: typer.Context,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|DATASET|ROUND...",
            help="Files of examples; or data sets of one task, as task/name; or rounds, as task/number.",
        ),
    ],
    harvest: HarvestOption = None,
    train: Annotated[
        list[str] | None, typer.Option(help="A file or data set that is only learned from; as often as you like.")
    ] = None,
    field: Annotated[
        list[str] | None, typer.Option(help=f"{FILE}column of the input, or several by commas.", show_default="text")
    ] = None,
    label: Annotated[str, typer.Option(help=f"{FILE}column of the answers.")] = "label",
    options: Annotated[
        list[str] | None,
        typer.Option(help=f"{FILE}column of the options, or one for each.", show_default="none"),
    ] = None,
    passage: Annotated[
        str, typer.Option("--context", help=f"{FILE}column of what examples share.", show_default="none")
    ] = "",
    writer: Annotated[str, typer.Option(help=f"{FILE}column of the writers.", show_default="none")] = "",
    name: Annotated[str, typer.Option("--id", help=f"{FILE}column of the ids.", show_default="none")] = "",
    tags: Annotated[str, typer.Option(help=f"{FILE}column of the phenomena.", show_default="none")] = "",
    votes: Annotated[
        str, typer.Option(help=f"{FILE}column of people's answers, a list or counts.", show_default="none")
    ] = "",
    intended: Annotated[
        str, typer.Option(help=f"{FILE}column of the writer's own label: votes then set it.", show_default="the label")
    ] = "",
    model: Annotated[
        list[str] | None, typer.Option(help=f"{FILE}column of a model's answers; as often as there are models.")
    ] = None,
    responses: Annotated[
        Path | None, typer.Option(help=f"{FILE}respondent,item,correct, for difficulty; items are ids.")
    ] = None,
    irt_model: Annotated[Literal["1pl", "2pl", "3pl"], typer.Option(help="How difficulty is estimated.")] = "2pl",
    recipe: Annotated[
        Path | None, typer.Option(help="A recipe whose learner takes the place of the linear one.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="How often to train.", min=1, max=50)] = 3,
    seed: SeedOption = 0,
    out: FolderOption = None,
    json: output.JsonFlag = False,
) -> None:
    """Hold data sets beside each other: gap between people and models, transfer, difficulty, variety, phenomena.

    Of rounds it compares what writers wrote with a prompt, without one, and what was harvested. With --out, what was
    interrupted goes on where it was.

    Example: quintain study compare base.jsonl expert.jsonl --field question --votes votes --model roberta --out report

    Example: quintain study compare sentiment/dev sentiment/round-2 --train sentiment/train --out report

    Example: quintain study compare sentiment/2 --harvest sentiment/harvest-1 --out report
    """
    names = [*sources, *(train or ())]
    if any(suffix_of(Path(name)) in FORMATS for name in names):
        columns = {"context": passage, "writer": writer, "id": name, "tags": tags, "votes": votes, "intended": intended}
        wanted_columns = {"label": label, "options": split_names(options), "models": split_names(model), **columns}
        how = {"responses": responses, "irt_model": irt_model, "recipe": recipe, "seeds": seeds, "seed": seed}
        files = _Files(sources, train or (), split_names(field) or ["text"], {**wanted_columns, **how})
        _compare_files(files, again(context), out, json=json)
    elif all(name.rpartition("/")[2].isdecimal() for name in names):
        _compare_rounds(workspace_of(context), sources, harvest or (), seed, out, json=json)
    else:
        study = {"seeds": seeds, "seed": seed, "model": irt_model, "commands": [again(context)]}
        _compare_stored(workspace_of(context), sources, train or (), recipe, study, out, json=json)


@dataclass(frozen=True, slots=True)
class _Files:
    """Files to compare, those that are only learned from, the columns of the input, and all other options."""

    given: Sequence[str]
    train: Sequence[str]
    fields: Sequence[str]
    options: Mapping[str, Any]


def _compare_files(files: _Files, command: str, out: Path | None, *, json: bool) -> None:
    from quintain.library import comparing as library  # statistics take a while to import

    with output.bar() as tell:
        study = library.compare(
            [read_path(one) for one in files.given],
            files.fields,
            train=[read_path(one) for one in files.train],
            keep=out,
            commands=[command],
            progress=lambda share: tell("Comparing", int(100 * share), 100),
            **files.options,
        )
    give_report(study.report, out, json=json)
    study.checkpoints.clear()


def _compare_rounds(
    workspace: Workspace, rounds: Sequence[str], harvest: Sequence[str], seed: int, out: Path | None, *, json: bool
) -> None:
    from quintain.services.study.compare import compare_report

    with workspace.session() as db:
        task = rounds[0].partition("/")[0]
        report = compare_report(db, workspace.blobs, OPERATOR, task, rounds, harvest, seed=seed)
    give_report(report, out, json=json)


def _compare_stored(
    workspace: Workspace,
    datasets: Sequence[str],
    train: Sequence[str],
    recipe: Path | None,
    options: Mapping[str, Any],
    out: Path | None,
    *,
    json: bool,
) -> None:
    from quintain.services.plain.files.checkpoints import Checkpoints
    from quintain.services.plain.files.recipe_learner import read_recipe
    from quintain.services.plain.reports.comparing.report import CompareOptions
    from quintain.services.study.datasets import datasets_report
    from quintain.stats.artefacts.learner import LinearLearner, Teachable

    learner: Teachable = read_recipe(recipe) if recipe else LinearLearner()
    settings = CompareOptions(learner=learner, checkpoints=Checkpoints(out), **options)
    with workspace.session() as db, output.bar() as tell:
        study = datasets_report(
            db,
            workspace.blobs,
            OPERATOR,
            datasets,
            settings,
            train=train,
            done=lambda share: tell("Comparing", int(100 * share), 100),
        )
    give_report(study.report, out, json=json)
    study.checkpoints.clear()
