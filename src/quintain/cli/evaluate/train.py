"""`quintain train`: make a model out of a baseline and data, or by a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from quintain.cli.context import workspace_of
from quintain.cli.evaluate.training_bar import training_bar
from quintain.cli.output import JsonFlag, out, print_json, print_table, say
from quintain.cli.streams import in_option, out_option, require_free
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR
from quintain.data.plan import ImportPlan, read_plan
from quintain.data.presets import read_preset
from quintain.services.plain.files.training import train_files
from quintain.tasks.definition import read_task


def train(
    context: typer.Context,
    baseline: Annotated[
        str, typer.Argument(metavar="BASELINE|RECIPE.toml", help="See `quintain model baselines` and `model recipes`.")
    ],
    task: Annotated[
        str,
        typer.Option("--task", "-t", help="Task of the workspace, or a TOML file with --out; a recipe names its own."),
    ] = "",
    data: Annotated[
        list[str] | None, typer.Option("--data", "-d", help="Data set version, or a file with --out.")
    ] = None,
    dev: Annotated[list[str] | None, typer.Option("--dev", help="What to evaluate it on afterwards.")] = None,
    name: Annotated[str | None, typer.Option("--name", "-n", help="Name of the model; else the baseline's.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Where chance plays a part, from where it starts.")] = 0,
    folder: Annotated[Path | None, typer.Option("--out", "-o", help="Train on files, and write here.")] = None,
    plan: Annotated[Path | None, in_option("How to read the files, as for `data import`.", "--plan")] = None,
    preset: Annotated[str, typer.Option("--preset", help="How to read files of a public data set.")] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Also on what is for evaluation only; the card says so.")
    ] = False,
    report: Annotated[
        Path | None, out_option("Write what came of a recipe to this .md or .json file.", "--report")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Train a baseline or a recipe on data of the workspace, or with --out on plain files and without a workspace.

    A recipe that was interrupted goes on where it was when it is started again.

    Example: quintain train tfidf --task sentiment --data sentiment/starter-train --dev sentiment/starter-dev

    Example: quintain train model-1.toml

    Example: quintain train tfidf --task task.toml --data train.jsonl --out model
    """
    if baseline.endswith(".toml"):
        excluded = {"--task": task, "--data": data, "--dev": dev, "--name": name, "--plan": plan, "--preset": preset}
        for option, value in excluded.items():
            if value:
                raise typer.BadParameter(f"A recipe says itself what {option} says.")
        from quintain.cli.evaluate.recipe import train_by_recipe

        train_by_recipe(context, Path(baseline), folder, force=force, report=report, json=json)
        return
    if not task or not data:
        raise typer.BadParameter("A baseline needs --task and --data.")
    if report is not None:
        raise typer.BadParameter("--report is for recipes.")
    if folder is not None:
        _on_files(baseline, Path(task), data, dev or [], folder, _plan(plan, preset), seed, json)
        return
    if plan is not None or preset:
        raise typer.BadParameter("--plan and --preset are for files, which need --out as well.")
    from quintain.services.models import train as service  # it imports the store, which files do without

    workspace = workspace_of(context)
    with workspace.session() as db, training_bar(f"Training {baseline}") as progress:
        version = service.train(
            db,
            workspace.blobs,
            OPERATOR,
            task,
            baseline,
            data,
            name=name,
            dev_refs=dev or [],
            seed=seed,
            force=force,
            progress=progress,
        )
    if json:
        print_json(version.record())
        return
    out.print(version.ref, markup=False)
    _report(version.meta)


def _on_files(
    baseline: str,
    task: Path,
    data: list[str],
    dev: list[str],
    folder: Path,
    plan: ImportPlan | None,
    seed: int,
    json: bool,
) -> None:
    require_free(folder)
    definition = read_task(task)
    missing = [name for name in [*data, *dev] if not Path(name).exists()]
    if missing:
        raise BadInput(
            "There is no file {missing}.", missing=missing[0], remedy="With --out, --data and --dev name files."
        )
    with training_bar(f"Training {baseline}") as progress:
        trained = train_files(
            definition,
            baseline,
            [Path(name) for name in data],
            folder,
            dev=[Path(name) for name in dev],
            plan=plan,
            seed=seed,
            progress=progress,
        )
    if json:
        print_json({"folder": str(folder), **trained.meta})
        return
    out.print(str(folder), markup=False)
    _report(trained.meta)


def _plan(plan: Path | None, preset: str) -> ImportPlan | None:
    if plan is not None and preset:
        raise typer.BadParameter("Give --plan or --preset, not both.")
    return read_plan(plan) if plan is not None else read_preset(preset).plan if preset else None


_FIGURE = ("value", "low", "high")


def _report(meta: Mapping[str, Any]) -> None:
    rows = sum(source["rows"] for source in meta["data"])
    say(f"Trained on {rows:,} examples with seed {meta['seed']}.")
    if meta["metrics"]:
        figures = ((name, *(_number(one[key]) for key in _FIGURE)) for name, one in meta["metrics"].items())
        print_table(("metric", *_FIGURE), figures)


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"
