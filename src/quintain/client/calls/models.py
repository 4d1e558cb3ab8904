"""Calls about models, `task/name` for the newest version or `task/name@2`.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from quintain.client.refs import address, ref_path, task_path
from quintain.client.transport import Transport
from quintain.core.records.tasks import Model, Models, ModelVersion, Quota
from quintain.core.records.training import Recipes, Training, Trainings


class ModelsCalls:
    """What `Client` can ask about models."""

    _transport: Transport

    def models(self, task: str, *, limit: int = 100, offset: int = 0) -> list[Model]:
        """Return a page of the models of a task that one may see, by their names."""
        return self._transport.read(
            Models, "GET", f"{task_path(task)}/models", params={"limit": limit, "offset": offset}
        ).models

    def model(self, ref: str) -> Model:
        """Return a model, with the card of one version."""
        where, version = address(ref, "models")
        return self._transport.read(Model, "GET", where, params=version)

    def change_visibility(self, ref: str, visibility: str) -> Model:
        """Set who sees a model (its owner)."""
        return self._transport.read(
            Model, "PUT", f"{ref_path(ref, 'models')}/visibility", json={"visibility": visibility}
        )

    def change_card(self, ref: str, card: str, *, revision: str = "") -> ModelVersion:
        """Put a new card of one version in place; the old ones are kept (its owner)."""
        where, version = address(ref, "models")
        return self._transport.read(
            ModelVersion, "PUT", f"{where}/card", params={**version, "revision": revision}, json={"card": card}
        )

    def withdraw_model(self, ref: str) -> ModelVersion:
        """Withdraw one version: it stays in the records and can never run again (its owner)."""
        where, version = address(ref, "models")
        return self._transport.read(ModelVersion, "POST", f"{where}/withdraw", params=version)

    def restore_model(self, ref: str) -> ModelVersion:
        """Take a version back that was withdrawn, and run it on what it has missed (its owner)."""
        where, version = address(ref, "models")
        return self._transport.read(ModelVersion, "POST", f"{where}/restore", params=version)

    def quota(self, task: str) -> int | None:
        """Return how many models the caller may still submit to a task today."""
        return self._transport.read(Quota, "GET", f"{task_path(task)}/quota").left_today

    def recipes(self) -> Recipes:
        """List the recipes that come with the program, and the learners with their options."""
        return self._transport.read(Recipes, "GET", "/recipes")

    def trainings(self, task: str) -> list[Training]:
        """List the trainings of a task, the newest first: owners see all, builders their own."""
        return self._transport.read(Trainings, "GET", f"{task_path(task)}/trainings").trainings

    def start_training(self, task: str, recipe: str) -> Training:
        """Have a worker train a recipe; what is wrong with it is said at once (builders and owners)."""
        return self._transport.read(Training, "POST", f"{task_path(task)}/trainings", json={"recipe": recipe})

    def training(self, task: str, training: int) -> Training:
        """Return how far a training is, and what came of it."""
        return self._transport.read(Training, "GET", f"{task_path(task)}/trainings/{training}")

    def cancel_training(self, task: str, training: int) -> Training:
        """Cancel a training that is not over (who started it, or an owner)."""
        return self._transport.read(Training, "POST", f"{task_path(task)}/trainings/{training}/cancel")
