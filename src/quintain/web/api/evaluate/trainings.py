"""Training by recipes, for programs: start one, follow it, cancel it, and the recipes that there are."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from quintain.compose import trainer_of
from quintain.core.records.training import LearnerInfo, Recipes, Training, Trainings
from quintain.models.learning import LEARNERS, option_rows
from quintain.models.recipes import shipped_recipes
from quintain.services.evaluate.training import trainings as service
from quintain.web.api.call import Calling
from quintain.web.api.params import TaskName
from quintain.web.api.shapes import LongText, Shape

TrainingId = Annotated[int, Path(description="Number of the training.", ge=1, le=2**31 - 1)]


class TrainingStart(Shape):
    """The recipe as TOML."""

    recipe: LongText


def list_recipes(call: Calling) -> Recipes:
    """List the recipes that come with the program, and the learners with their options."""
    learners = [LearnerInfo(name, one.title, one.about, option_rows(one)) for name, one in LEARNERS.items()]
    return Recipes(shipped_recipes(), learners)


def list_trainings(call: Calling, task: TaskName) -> Trainings:
    """List the trainings of a task, the newest first: owners see all, builders their own."""
    return service.list_trainings(call.db, call.actor, task)


def start_training(call: Calling, task: TaskName, start: TrainingStart) -> Training:
    """Have a worker train a recipe; what is wrong with it is said at once (builders and owners)."""
    trainer = trainer_of(call.workspace.settings)
    return service.start(call.db, call.blobs, call.actor, task, start.recipe, trainer)


def get_training(call: Calling, task: TaskName, training: TrainingId) -> Training:
    """Return how far a training is, and what came of it."""
    return service.get_training(call.db, call.actor, task, training)


def cancel_training(call: Calling, task: TaskName, training: TrainingId) -> Training:
    """Cancel a training that is not over (who started it, or an owner)."""
    return service.cancel(call.db, call.actor, task, training)
