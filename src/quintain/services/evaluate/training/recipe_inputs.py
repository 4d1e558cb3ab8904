"""What a recipe is trained from: its sources, dev sets and the model that it goes on from, found and permitted."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.adapters.contract import is_ours
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.example import Role
from quintain.core.people import Actor
from quintain.core.recipe import RecipeSpec, SourceSpec
from quintain.core.task import Task
from quintain.data.mixing import Mix, MixSource, mix_of
from quintain.data.plan import ImportPlan
from quintain.data.presets import read_preset
from quintain.models import artefact
from quintain.models.checkpoint_folder import named_checkpoint
from quintain.models.learning import Learner, make_learner
from quintain.services.models.registry import ModelVersionInfo, get_model
from quintain.services.models.training_data import dev_table, training_table
from quintain.services.plain.files.training import read_file
from quintain.store.blobs import Blobs
from quintain.tasks.contract import kind_of


@dataclass(frozen=True, slots=True)
class DevSet:
    """Examples that a model is measured on."""

    name: str
    hash: str
    table: pl.DataFrame


@dataclass(frozen=True, slots=True)
class RecipeInputs:
    """All that a recipe is trained from. *original* are the dev sets of inoculation; *notes* go onto the card."""

    task: Task
    recipe: RecipeSpec
    learner: Learner
    mix: Mix
    dev: tuple[DevSet, ...] = ()
    original: tuple[DevSet, ...] = ()
    start: ModelVersionInfo | None = None
    notes: tuple[str, ...] = ()

    @property
    def identity(self) -> dict[str, Any]:
        """What makes this training the same as another one, to go on with it after a break."""
        return {
            "data": [part.hash for part in self.mix.parts],
            "dev": [one.hash for one in (*self.dev, *self.original)],
            "start": self.start.hash if self.start else "",
        }


@dataclass(frozen=True, slots=True)
class Stored:
    """Where data sets and models are looked up, and for whom."""

    db: Session
    blobs: Blobs
    actor: Actor


@dataclass(slots=True)
class Finder:
    """Finds what a recipe names: in the workspace where there is one (*stored*), else in files.

    The operator's recipe may name files and folders, relative to *base*; others may name the folders in *checkpoints*.
    """

    stored: Stored | None
    task: Task
    base: Path | None = None
    checkpoints: Path | None = None
    notes: list[str] = field(default_factory=list)

    def inputs(self, recipe: RecipeSpec) -> RecipeInputs:
        """Find everything, or refuse what is missing or not permitted."""
        learner = self.learner(recipe)
        start = self._start(recipe, learner) if recipe.continue_ else None
        if start is None:
            learner.check_trainable(self.task, None)
        sources = [self._source(one, recipe) for one in recipe.mix]
        columns = [name for name in kind_of(self.task).schema(self.task) if name != "answer"]
        mix = mix_of(sources, self.task.label_names, columns, recipe)
        stops = recipe.patience is not None or bool(recipe.checkpoints)
        dev = tuple(self._dev(ref, stops=stops, force=recipe.force) for ref in recipe.dev)
        originals = recipe.inoculation.original if recipe.inoculation else ()
        original = tuple(self._dev(ref, stops=True, force=recipe.force) for ref in originals)
        return RecipeInputs(self.task, recipe, learner, mix, dev, original, start, tuple(self.notes))

    def learner(self, recipe: RecipeSpec) -> Learner:
        """Make the learner; folders in its options are found, and are only the operator's to choose."""
        plain = make_learner(recipe.learner, recipe.options)
        plain.refuse_unsuited(self.task)
        plain.permit()
        folders = {name: str(self._folder(name, value)) for name, value in plain.folders().items()}
        return make_learner(recipe.learner, {**recipe.options, **folders})

    def _folder(self, option: str, value: str) -> Path:
        if self.base is not None:
            return self.base / value
        return named_checkpoint(self.checkpoints, value, f"options.{option}")

    def _workspace(self, name: str) -> Stored:
        if self.stored is None:
            raise BadInput(
                "There is no file {name}.",
                name=name,
                remedy="With --out a recipe names files, relative to it; without, data sets of the workspace.",
            )
        return self.stored

    def _source(self, spec: SourceSpec, recipe: RecipeSpec) -> MixSource:
        if spec.file:
            name, content, table = self._file(spec.file, spec.preset)
            return MixSource(name, content, table, spec)
        at = self._workspace(spec.data)
        version, table, notes = training_table(at.db, at.blobs, at.actor, self.task.name, spec.data, force=recipe.force)
        self.notes += notes
        return MixSource(version.ref, version.hash, table, spec)

    def _dev(self, ref: str, *, stops: bool, force: bool) -> DevSet:
        if self.base is not None and (self.base / ref).is_file():
            name, content, table = self._file(ref, "")
        else:
            at = self._workspace(ref)
            version, table = dev_table(at.db, at.blobs, at.actor, self.task.name, ref)
            name, content = version.ref, version.hash
            if stops and version.role in {Role.TEST, Role.CONTRAST}:
                self._refuse_to_stop_by(version.ref, force=force)
        held = table.drop_nulls("answer")
        if not held.height:
            raise BadInput("No example of {name} has an answer to measure by.", name=name)
        return DevSet(name, content, held)

    def _refuse_to_stop_by(self, ref: str, *, force: bool) -> None:
        if not force:
            raise Conflict(
                "{ref} is for evaluation only, and training would be stopped by it.",
                ref=ref,
                remedy="Stop by a dev set; force = true does it all the same, and the model's card says so.",
                code="evaluation_only",
            )
        self.notes.append(f"Training was stopped by `{ref}`, which is for evaluation only.")

    def _file(self, name: str, preset: str) -> tuple[str, str, pl.DataFrame]:
        if self.base is None:
            raise Forbidden(
                "A recipe that is trained on the server names data set versions, no files: {file}.",
                file=name,
                remedy="Import the file as a data set first.",
            )
        path = self.base / name
        if not path.exists():
            raise NotFound("There is no file {path}.", path=path, remedy="Files are named relative to the recipe.")
        plan = read_preset(preset).plan if preset else ImportPlan(duplicates="first")
        source, table = read_file(path, self.task, plan)
        return source.name, source.hash, table

    def _start(self, recipe: RecipeSpec, learner: Learner) -> ModelVersionInfo:
        at = self._workspace(recipe.continue_)
        version = get_model(at.db, at.actor, recipe.continue_).version
        if version.task != self.task.name or version.blob is None or version.adapter != learner.adapter:
            raise BadInput(
                "{ref} cannot be gone on from: it is no model of task '{task}' that the learner '{learner}' can go on "
                "with.",
                ref=version.ref,
                task=self.task.name,
                learner=learner.name,
                remedy="Name a model that this learner has made.",
            )
        if version.withdrawn_at is not None:
            raise Conflict("{ref} is withdrawn, so nothing goes on from it.", ref=version.ref)
        if not is_ours(version.adapter) and "recipe" not in version.meta and not at.actor.operator:
            # What somebody sent is loaded in the sandbox only, and training is not in it.
            raise Forbidden(
                "{ref} was submitted, and training goes on only from models that were trained here.", ref=version.ref
            )
        return version


def unpack_start(blobs: Blobs, inputs: RecipeInputs, folder: Path) -> Path | None:
    """Put the model to go on from into *folder*, and look at it."""
    if inputs.start is None or inputs.start.blob is None:
        return None
    if not folder.is_dir():
        artefact.unpack(blobs.path(inputs.start.blob), folder)
    inputs.learner.check_trainable(inputs.task, folder)
    return folder
