"""Models, for programs: the list, one model, what its owner may change, and asking it."""

from __future__ import annotations

from quintain.services.models import registry as models
from quintain.services.models.ask import limit_calls, predict
from quintain.services.models.registry import ModelInfo, ModelVersionInfo
from quintain.web.api.call import Calling
from quintain.web.api.params import ModelName, TaskName, Version
from quintain.web.api.shapes import (
    CardChange,
    ModelShape,
    ModelsShape,
    ModelVersionShape,
    PredictionShape,
    PredictionsShape,
    Questions,
    VisibilityChange,
)


def list_models(call: Calling, task: TaskName) -> ModelsShape:
    """List the models of a task that the caller may see."""
    return ModelsShape(models=[_shape(info) for info in models.list_models(call.db, call.actor, task)])


def get_model(call: Calling, task: TaskName, model: ModelName, version: Version = None) -> ModelShape:
    """Give a model, with the card of one version."""
    return _shape(models.get_model(call.db, call.actor, _ref(task, model, version)))


def change_visibility(call: Calling, task: TaskName, model: ModelName, change: VisibilityChange) -> ModelShape:
    """Say who sees a model (its owner)."""
    return _shape(models.set_visibility(call.db, call.actor, _ref(task, model, None), change.visibility))


def change_card(
    call: Calling, task: TaskName, model: ModelName, change: CardChange, version: Version = None
) -> ModelVersionShape:
    """Give one version a new card; the old ones are kept (its owner)."""
    return _version(models.update_card(call.db, call.actor, _ref(task, model, version), change.card))


def withdraw_model(call: Calling, task: TaskName, model: ModelName, version: Version = None) -> ModelVersionShape:
    """Withdraw one version: it stays in the records and can never run again (its owner)."""
    return _version(models.withdraw(call.db, call.actor, _ref(task, model, version)))


def ask_model(
    call: Calling, task: TaskName, model: ModelName, questions: Questions, version: Version = None
) -> PredictionsShape:
    """Ask a model about examples. Calls are counted per person, or per address without a token."""
    info = models.get_model(call.db, call.actor, _ref(task, model, version))
    limit_calls(call.db, call.actor, call.address, call.workspace.settings.model_calls)
    found = predict(call.db, call.blobs, call.actor, info.version.ref, questions.inputs, runners=call.workspace.runners)
    shapes = [
        PredictionShape(answer=one.answer, probabilities=dict(one.probabilities) if one.probabilities else None)
        for one in found
    ]
    return PredictionsShape(model=info.version.ref, predictions=shapes)


def _ref(task: str, model: str, version: str | None) -> str:
    return f"{task}/{model}@{version}" if version else f"{task}/{model}"


def _version(version: ModelVersionInfo) -> ModelVersionShape:
    return ModelVersionShape(
        ref=version.ref,
        number=version.number,
        hash=version.hash,
        adapter=version.adapter,
        created_at=version.created_at,
        withdrawn_at=version.withdrawn_at,
        meta=dict(version.meta),
    )


def _shape(info: ModelInfo) -> ModelShape:
    return ModelShape(
        task=info.task,
        name=info.name,
        owner=info.owner,
        visibility=info.visibility,
        created_at=info.created_at,
        version=_version(info.version),
        versions=[_version(version) for version in info.versions],
        card=info.version.card,
    )
