"""Training by a recipe, at the command line: what it shows while it goes on, and what it says in the end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from quintain.cli.context import settings_of, workspace_of
from quintain.cli.evaluate.training_bar import training_bar
from quintain.cli.output import out, print_json, print_table, say
from quintain.compose import rules_of, training_of
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR
from quintain.core.recipe import RecipeSpec
from quintain.core.records.base import to_json
from quintain.core.records.training import Inoculation, TrainingResult
from quintain.core.texts import Text
from quintain.core.toml import read_text
from quintain.models.recipes import recipe_names
from quintain.services.evaluate.training.train_recipe import parse_recipe, train_recipe, train_recipe_files
from quintain.services.evaluate.training.training_report import result_markdown
from quintain.tasks.definition import read_task

REPORTS = (".md", ".json")


def train_by_recipe(
    context: typer.Context, path: Path, folder: Path | None, *, force: bool, report: Path | None, json: bool
) -> None:
    """Train by the recipe at *path*, in the workspace or on files into *folder*, and say what came of it."""
    if report is not None and report.suffix not in REPORTS:
        raise BadInput(
            "{report} is neither Markdown nor JSON.", report=report, remedy="Name a file that ends in .md or .json."
        )
    recipe = _read(path, force=force)
    with training_bar(f"Training {recipe.name}") as progress:
        if folder is not None:
            task = read_task(path.parent / recipe.task)
            result = train_recipe_files(task, recipe, folder, base=path.parent, progress=progress)
        else:
            workspace, settings = workspace_of(context), settings_of(context)
            with workspace.session() as db:
                result = train_recipe(
                    db,
                    workspace.blobs,
                    OPERATOR,
                    recipe,
                    folders=training_of(settings, path.parent),
                    rules=rules_of(settings),
                    progress=progress,
                )
    if report is not None:
        text = result_markdown(result) if report.suffix == ".md" else to_json(result)
        report.write_text(text, encoding="utf-8")
        say(f"Wrote {report}.")
    if json:
        print_json(result)
    else:
        _tell(result)


def _read(path: Path, *, force: bool) -> RecipeSpec:
    shipped = path.stem in recipe_names()
    remedy = Text("`quintain model recipes {name} --write {name}.toml` writes it.", name=path.stem)
    text = read_text(path, remedy=remedy) if shipped else read_text(path)
    recipe = parse_recipe(text, file=str(path))
    return replace(recipe, force=True) if force else recipe


def _tell(result: TrainingResult) -> None:
    sources = [
        (one.name, f"{one.rows:,} of {one.has:,}", one.copies, one.labels, f"{one.examples:,}") for one in result.mix
    ]
    print_table(("source", "rows", "copies", "labels", "examples"), sources)
    for note in result.notes:
        say(f"Note: {note}")
    if result.inoculation is not None:
        _tell_inoculation(result.inoculation)
        return
    figures = [
        (model.ref or model.folder, dev.name, f"{dev.macro_f1:.4f}") for model in result.models for dev in model.dev
    ]
    if figures:
        print_table(("model", "dev set", "macro F1"), figures)
    for model in result.models:
        out.print(model.ref or model.folder, markup=False)
    if result.cells:
        say(f"{result.cells} cells are queued.")


def _tell_inoculation(inoculation: Inoculation) -> None:
    rows = [
        (
            point.size,
            point.dataset,
            point.epochs,
            *(None if point.f1[label] is None else f"{point.f1[label]:.4f}" for label in inoculation.labels),
            f"{point.macro_f1:.4f}",
        )
        for point in inoculation.points
    ]
    print_table(("examples", "data set", "epochs", *(f"F1 {label}" for label in inoculation.labels), "macro F1"), rows)
