"""Calls about models, `task/name` for the newest version or `task/name@2`.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from quintain.client.refs import address, place, task_path
from quintain.client.transport import Transport
from quintain.core.records.tasks import Model, Models, ModelVersion, Quota


class ModelsCalls:
    """What `Client` can ask about models."""

    _transport: Transport

    def models(self, task: str) -> list[Model]:
        """List the models of a task that one may see."""
        return self._transport.read(Models, "GET", f"{task_path(task)}/models").models

    def model(self, ref: str) -> Model:
        """Give a model, with the card of one version."""
        where, version = address(ref, "models")
        return self._transport.read(Model, "GET", where, params=version)

    def change_visibility(self, ref: str, visibility: str) -> Model:
        """Say who sees a model (its owner)."""
        return self._transport.read(Model, "PUT", f"{place(ref, 'models')}/visibility", json={"visibility": visibility})

    def change_card(self, ref: str, card: str) -> ModelVersion:
        """Give one version a new card; the old ones are kept (its owner)."""
        where, version = address(ref, "models")
        return self._transport.read(ModelVersion, "PUT", f"{where}/card", params=version, json={"card": card})

    def withdraw_model(self, ref: str) -> ModelVersion:
        """Withdraw one version: it stays in the records and can never run again (its owner)."""
        where, version = address(ref, "models")
        return self._transport.read(ModelVersion, "POST", f"{where}/withdraw", params=version)

    def quota(self, task: str) -> int | None:
        """Say how many models the caller may still submit to a task today."""
        return self._transport.read(Quota, "GET", f"{task_path(task)}/quota").left_today
