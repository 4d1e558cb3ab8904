"""Models, for programs: the list, one model, what its owner may change, and asking it."""

from __future__ import annotations

from quintain.core.editing import EditOrigin
from quintain.core.records.tasks import Model, ModelPrediction, Models, ModelVersion, Predictions
from quintain.services.models import registry as models
from quintain.services.models.ask import limit_calls, predict
from quintain.web.api.call import Calling
from quintain.web.api.params import Limit, ModelName, Offset, Revision, TaskName, Version
from quintain.web.api.shapes import CardChange, Questions, VisibilityChange


def list_models(call: Calling, task: TaskName, limit: Limit = 100, offset: Offset = 0) -> Models:
    """Return a page of the models of a task that one may see, by their names."""
    infos, total = models.page_of_models(call.db, call.actor, task, limit=limit, offset=offset)
    return Models([info.record() for info in infos], total, offset)


def get_model(call: Calling, task: TaskName, model: ModelName, version: Version = None) -> Model:
    """Return a model, with the card of one version."""
    return models.get_model(call.db, call.actor, _ref(task, model, version)).record()


def change_visibility(call: Calling, task: TaskName, model: ModelName, change: VisibilityChange) -> Model:
    """Set who sees a model (its owner)."""
    return models.set_visibility(call.db, call.actor, _ref(task, model, None), change.visibility).record()


def change_card(
    call: Calling,
    task: TaskName,
    model: ModelName,
    change: CardChange,
    version: Version = None,
    revision: Revision = "",
) -> ModelVersion:
    """Put a new card of one version in place; the old ones are kept (its owner)."""
    return models.update_card(
        call.db, call.actor, _ref(task, model, version), change.card, edit=EditOrigin(revision)
    ).record()


def restore_model(call: Calling, task: TaskName, model: ModelName, version: Version = None) -> ModelVersion:
    """Take a version back that was withdrawn, and run it on what it has missed (its owner)."""
    return models.restore(call.db, call.actor, _ref(task, model, version)).record()


def withdraw_model(call: Calling, task: TaskName, model: ModelName, version: Version = None) -> ModelVersion:
    """Withdraw one version: it stays in the records and can never run again (its owner)."""
    return models.withdraw(call.db, call.actor, _ref(task, model, version)).record()


def ask_model(
    call: Calling, task: TaskName, model: ModelName, questions: Questions, version: Version = None
) -> Predictions:
    """Ask a model about examples. Calls are counted per person, or per address without a token."""
    info = models.get_model(call.db, call.actor, _ref(task, model, version))
    limit_calls(call.db, call.actor, call.address, call.workspace.settings.model_calls)
    predictions = predict(
        call.db, call.blobs, call.actor, info.version.ref, questions.inputs, runners=call.workspace.runners
    )
    return Predictions(
        info.version.ref,
        [ModelPrediction(prediction.answer, prediction.probabilities or None) for prediction in predictions],
    )


def _ref(task: str, model: str, version: str | None) -> str:
    return f"{task}/{model}@{version}" if version else f"{task}/{model}"
