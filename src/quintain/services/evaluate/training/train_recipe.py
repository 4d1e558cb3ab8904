"""Training a model by a recipe: versions with their cards, submitted for evaluation at once.

What a training needs to go on after a break lies in a folder that is named after the recipe and the content of all
data; whoever starts the same recipe again goes on with it. The folder goes once the models are registered.
"""

from __future__ import annotations

import fcntl
import logging
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import tomlkit
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from quintain.adapters.contract import ADAPTERS, is_ours
from quintain.adapters.manifest import CARD, MANIFEST
from quintain.core.errors import Conflict, QuintainError, TooMany
from quintain.core.hashing import content_id
from quintain.core.people import Actor, RoleName
from quintain.core.recipe import RecipeSpec
from quintain.core.records.base import plain as plain_record
from quintain.core.records.tasks import Visibility
from quintain.core.records.training import TrainedModel, TrainingResult
from quintain.core.spec import plain, read
from quintain.core.task import Task
from quintain.core.toml import parse_toml
from quintain.models.contract import Progress, quiet
from quintain.models.learning import Lesson, Lessons, learner_faults
from quintain.services.access.permissions import require_role
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.submissions.submit import SubmissionRules, quota_left
from quintain.services.evaluate.training.inoculate import figures_of, inoculate
from quintain.services.evaluate.training.recipe_card import recipe_card
from quintain.services.evaluate.training.recipe_inputs import Finder, RecipeInputs, Stored, unpack_start
from quintain.services.models.registry import VISIBILITIES, check_model_name, register_version
from quintain.services.models.train import nothing_learned
from quintain.services.plain.files.training import CARD_FILE
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction

BATCH_SIZE = 32
STALE_DAYS = 30
log = logging.getLogger("quintain.train")


@dataclass(frozen=True, slots=True)
class TrainingPlace:
    """Where training keeps what it needs to go on, and what recipes may begin with.

    *base* is the folder of the operator's recipe, whose files and folders it may name; None on a server, where
    checkpoints are those in *checkpoints*.
    """

    folder: Path
    checkpoints: Path | None = None
    base: Path | None = None


def parse_recipe(text: str, *, file: str | None = None) -> RecipeSpec:
    """Read a recipe from TOML, or name every fault in it."""
    return read(RecipeSpec, parse_toml(text, file=file), file=file, also=learner_faults)


def train_recipe(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    recipe: RecipeSpec,
    *,
    folders: TrainingPlace,
    rules: SubmissionRules,
    progress: Progress = quiet,
) -> TrainingResult:
    """Train the models of *recipe*, register them and queue their runs; or inoculate, and register nothing.

    Where every model is there already, with the same content, that is refused: nothing was learned.
    """
    inputs = look_at_recipe(db, blobs, actor, recipe, folders=folders, rules=rules)
    db.commit()  # training may take hours, and must not keep a reading transaction open
    result = _result(inputs)
    added: list[Session] = []
    for number, seed in enumerate(recipe.seeds):
        with _held(folders.folder, inputs, seed) as folder:
            part = _part(progress, number, len(recipe.seeds))
            start = unpack_start(blobs, inputs, folder / "start")
            if recipe.inoculation is not None and start is not None:
                before = inputs.learner.load(inputs.task, start)
                inoculation = inoculate(inputs, before, start, folder, seed, part)
                result = replace(result, inoculation=inoculation)
            else:
                lessons = inputs.learner.learn(_lesson(inputs, folder, start, seed, part))
                models = _register(db, blobs, actor, inputs, lessons, seed, guard=added.append)
                result = replace(result, models=[*result.models, *models])
            shutil.rmtree(folder, ignore_errors=True)
    progress(1.0)
    if result.models and not added:
        raise nothing_learned([model.ref for model in result.models])
    return replace(result, cells=_queue(db, recipe.task)) if result.models else result


def look_at_recipe(
    db: Session, blobs: Blobs, actor: Actor, recipe: RecipeSpec, *, folders: TrainingPlace, rules: SubmissionRules
) -> RecipeInputs:
    """Find all that a recipe names, and refuse what cannot be trained or what *actor* may not do."""
    require_role(actor, RoleName.BUILDER, RoleName.OWNER, task=recipe.task)
    task = get_task(db, recipe.task)
    check_model_name(recipe.name)
    planned = 0 if recipe.inoculation else len(recipe.seeds) * (1 + len(recipe.checkpoints))
    left = quota_left(db, actor, recipe.task, rules)
    if left is not None and left < planned:
        raise TooMany(
            "The recipe makes {wanted} models, and you may still submit {left} to task '{task}' today.",
            wanted=planned,
            left=left,
            task=recipe.task,
            retry_after=3600,
            remedy="Take fewer seeds or checkpoints, or go on tomorrow.",
            code="quota_reached",
        )
    return Finder(Stored(db, blobs, actor), task, folders.base, folders.checkpoints).inputs(recipe)


def train_recipe_files(
    task: Task, recipe: RecipeSpec, out: Path, *, base: Path, progress: Progress = quiet
) -> TrainingResult:
    """Train on plain files and write the models into folders below *out*; needs no workspace."""
    if out.exists() and not out.is_dir():
        raise Conflict("{out} is there already and is no folder.", out=out, remedy="Name another folder.")
    inputs = Finder(None, task, base=base).inputs(recipe)
    result = _result(inputs)
    for number, seed in enumerate(recipe.seeds):
        with _held(out / ".training", inputs, seed) as folder:
            part = _part(progress, number, len(recipe.seeds))
            lessons = inputs.learner.learn(_lesson(inputs, folder, None, seed, part))
            models = [_written(inputs, one, out) for one in _described(inputs, lessons, seed)]
            result = replace(result, models=[*result.models, *models])
            shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(out / ".training", ignore_errors=True)
    progress(1.0)
    return result


def _lesson(inputs: RecipeInputs, folder: Path, start: Path | None, seed: int, progress: Progress) -> Lesson:
    tables = [one.table for one in inputs.dev]
    return Lesson(
        inputs.task,
        inputs.mix,
        folder,
        dev=pl.concat(tables, how="vertical_relaxed") if tables else None,
        start=start,
        seed=seed,
        patience=inputs.recipe.patience,
        checkpoints=inputs.recipe.checkpoints,
        progress=progress,
    )


@dataclass(frozen=True, slots=True)
class _Described:
    """A model that has been learned, with all that is said of it."""

    folder: Path
    card: str
    info: TrainedModel


def _described(inputs: RecipeInputs, lessons: Lessons, seed: int) -> Iterator[_Described]:
    """Return the models of a lesson with their cards: checkpoints first, the end last."""
    figures = [figures_of(lessons.handler, dev, inputs.task.label_names) for dev in inputs.dev]
    for model in lessons.models:
        card = recipe_card(inputs, lessons, figures, seed, model.share)
        shown = figures if model.share is None else []
        info = TrainedModel("", "", seed, model.share, lessons.epochs, lessons.best, shown)
        yield _Described(model.folder, card, info)


def _register(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    inputs: RecipeInputs,
    lessons: Lessons,
    seed: int,
    *,
    guard: Callable[[Session], None],
) -> list[TrainedModel]:
    recipe, trained = inputs.recipe, []
    visibility: Visibility = next(known for known in VISIBILITIES if known == recipe.visibility)
    described = list(_described(inputs, lessons, seed))
    for model in described:
        _complete(inputs, model)
    with transaction(db):  # all models of a seed, or none
        for model in described:
            version = register_version(
                db,
                blobs,
                actor,
                recipe.task,
                recipe.name,
                adapter=inputs.learner.adapter,
                folder=model.folder,
                card=model.card,
                meta=_meta(inputs, model),
                visibility=visibility,
                guard=guard,
            )
            trained.append(replace(model.info, ref=version.ref))
    return trained


def _meta(inputs: RecipeInputs, model: _Described) -> dict[str, Any]:
    """Return what is kept with the version: the recipe, and what a baseline's version has as well."""
    learner = inputs.learner
    return {
        "recipe": plain(inputs.recipe),
        "learner": learner.name,
        "title": learner.title,
        "seed": model.info.seed,
        "share": model.info.share,
        "epochs": model.info.epochs,
        "mix": [plain_record(part) for part in inputs.mix.parts],
        "data": [{"name": part.name, "rows": part.rows, "hash": part.hash} for part in inputs.mix.parts],
        "dev": [{"name": dev.name, "rows": dev.table.height, "hash": dev.hash} for dev in inputs.dev],
        "figures": [plain_record(figures) for figures in model.info.dev],
        "batch_size": BATCH_SIZE,
        "place": ADAPTERS.get(learner.adapter).place,
    }


def _complete(inputs: RecipeInputs, model: _Described) -> None:
    """Put card and manifest beside the model, so that its folder can be submitted anywhere."""
    learner = inputs.learner
    if is_ours(learner.adapter):
        return
    (model.folder / CARD).write_text(model.card, encoding="utf-8")
    manifest = {
        "adapter": learner.adapter,
        "task": inputs.task.name,
        "name": inputs.recipe.name,
        "batch_size": BATCH_SIZE,
        "options": dict(learner.manifest(inputs.task)),
    }
    (model.folder / MANIFEST).write_text(tomlkit.dumps(manifest), encoding="utf-8")


def _written(inputs: RecipeInputs, model: _Described, out: Path) -> TrainedModel:
    """Move a model to where it was asked for; one that was there before it goes."""
    _complete(inputs, model)
    if is_ours(inputs.learner.adapter):
        (model.folder / CARD_FILE).write_text(model.card, encoding="utf-8")
    share, seed = model.info.share, model.info.seed
    target = out / (f"seed-{seed}" if share is None else f"seed-{seed}-at-{share:g}")
    shutil.rmtree(target, ignore_errors=True)
    shutil.move(model.folder, target)
    return replace(model.info, folder=str(target))


def _result(inputs: RecipeInputs) -> TrainingResult:
    recipe = inputs.recipe
    mix = list(inputs.mix.parts)
    return TrainingResult(
        inputs.task.name, recipe.name, inputs.learner.name, inputs.mix.examples, mix, notes=list(inputs.notes)
    )


def _queue(db: Session, task: str) -> int:
    """Add the cells of models that are recorded; where that fails, workers do it."""
    try:
        return evaluate.fill(db, task)
    except (QuintainError, SQLAlchemyError):
        log.exception("the cells of task %s were not added at once", task)
        return 0


@contextmanager
def _held(folder: Path, inputs: RecipeInputs, seed: int) -> Iterator[Path]:
    """Return the folder of this training, for this process alone; those that nobody went on with are dropped."""
    key = content_id({"recipe": plain(inputs.recipe, whole=True), "seed": seed, **inputs.identity})[:24]
    own_folder = folder / key
    own_folder.mkdir(parents=True, exist_ok=True)
    _drop_stale(folder)
    with (folder / f"{key}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict("This recipe is being trained at the moment.", remedy="Wait for it.") from None
        try:
            yield own_folder
        finally:
            if not own_folder.exists():
                (folder / f"{key}.lock").unlink(missing_ok=True)


def _drop_stale(folder: Path) -> None:
    old = time.time() - STALE_DAYS * 86_400
    for path in folder.iterdir():
        if path.is_dir() and path.stat().st_mtime < old:
            shutil.rmtree(path, ignore_errors=True)


def _part(progress: Progress, number: int, of: int) -> Callable[[float], None]:
    return lambda done: progress((number + done) / of)
