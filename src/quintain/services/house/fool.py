"""The box in which anybody may try to fool a model: which model it is, and what comes of a text. Nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.adapters.contract import ADAPTERS, is_ours
from quintain.core.errors import BadInput, Fault, TooMany
from quintain.core.example import Inputs, Prediction
from quintain.core.people import Actor
from quintain.core.records.collect import WordEffect
from quintain.core.rounds import RoundState
from quintain.core.task import Task
from quintain.services.board.standings import BoardStanding
from quintain.services.collect.rounds.manage import RoundInfo, list_rounds
from quintain.services.models.ask import BUILTIN, RUNNERS, AdapterRunner, limit_calls, predict
from quintain.services.models.occlusion import word_effects
from quintain.services.models.registry import (
    ModelVersionInfo,
    get_model,
    list_models,
    may_see,
    models_to_choose,
    versions_by_id,
)
from quintain.services.tasks.definitions import get_task, leading_metric, list_tasks
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.queries.collect import rounds as queries
from quintain.tasks.contract import kind_of

MOST_LOOKED_AT = 20  # of the best, and of the newest that are built in


@dataclass(frozen=True, slots=True)
class FoolBox:
    """A model that anybody may try to fool with one text, and the open round in which that would count.

    Beside it stands the newest *language_model* of the task that runs here, where there is one; with it nothing counts.
    """

    task: Task
    version: ModelVersionInfo
    round: RoundInfo | None
    language_model: ModelVersionInfo | None = None


@dataclass(frozen=True, slots=True)
class FoolTry:
    """What a model said to a text, whether that fooled it, and which words moved it, where that was not too much."""

    version: ModelVersionInfo
    inputs: Inputs
    prediction: Prediction
    fooled: bool
    moved: list[WordEffect] | None


def find_box(db: Session, actor: Actor, standings: Mapping[str, BoardStanding]) -> FoolBox | None:
    """Choose the model: the target of an open round first, else the best that is built in; None where there is none.

    *standings* say what is known of who is the best. Content that is warned of is not put on the front page.
    """
    tasks = {item.task.name: item.task for item in list_tasks(db) if takes_one_text(item.task)}
    moment = now()
    for info in sorted(list_rounds(db, actor), key=lambda info: info.id, reverse=True):
        if info.state is RoundState.OPEN and info.task in tasks and not info.closed_because(moment):
            version = _target(db, actor, info)
            if version is not None and not info.spec.content_warning:
                return FoolBox(tasks[info.task], version, info, _language_model(db, actor, info.task))
    for task in tasks.values():
        version = _best(db, actor, task, standings.get(task.name))
        if version is not None:
            return FoolBox(task, version, None, _language_model(db, actor, task.name))
    return None


def takes_one_text(task: Task) -> bool:
    """Whether an example of *task* is one text with one label, and nobody has to be warned of it."""
    kind = kind_of(task)
    form = kind.form(task)
    one_text = [field.widget in {"line", "textarea"} and field.editable for field in form.inputs] == [True]
    return one_text and form.answer.widget == "labels" and not kind.asks_worker(task) and not task.content_warning


def try_to_fool(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    text: str,
    label: str,
    *,
    address: str,
    limit: int,
    runners: Mapping[str, AdapterRunner] = RUNNERS,
) -> FoolTry:
    """Ask the model that *ref* means about *text*, which people would give *label*; nothing of it is kept.

    Whoever asks is held to *limit* calls a minute, as when talking to a model.
    """
    version = get_model(db, actor, ref).version
    task = get_task(db, version.task)
    if not takes_one_text(task):
        raise BadInput("Task '{task}' does not ask for one text and one label.", task=task.name)
    if label not in {label.name for label in task.labels}:
        raise BadInput(faults=[Fault("say which label people would give", field="label")])
    inputs = {kind_of(task).form(task).inputs[0].name: text.strip()}
    limit_calls(db, actor, address, limit)
    answer = predict(db, blobs, actor, version.ref, [inputs], runners=runners)[0]
    moved = None
    if is_ours(version.adapter):  # others take too long to be asked about the text without each of its words
        who = f"address:{address}" if actor.user_id is None else f"user:{actor.user_id}"
        with suppress(TooMany):
            moved = word_effects(db, blobs, actor, version.ref, inputs, who=who, runners=runners)
    return FoolTry(version, inputs, answer, kind_of(task).fooled(task, label, answer.answer), moved)


def _target(db: Session, actor: Actor, info: RoundInfo) -> ModelVersionInfo | None:
    """Return the first target of a round that everybody may see and that answers at once."""
    day = now().date().isoformat() if info.spec.targets.mode == "best" else ""
    usable = [version_id for version_id, withdrawn in queries.targets(db, info.id, day) if withdrawn is None]
    infos = versions_by_id(db, usable) if usable else {}
    shown = (infos[one] for one in usable)
    return next((one for one in shown if is_ours(one.adapter) and may_see(actor, one)), None)


def _best(db: Session, actor: Actor, task: Task, board: BoardStanding | None) -> ModelVersionInfo | None:
    """Return the best model that is built in: by the board, else by what it scored when it was trained.

    It is sought among the first of the board and the newest: the front page never reads all models.
    """
    metric = leading_metric(task)
    best = [place.name for place in board.places[:MOST_LOOKED_AT]] if board else []
    refs = {place.ref for place in board.places[:MOST_LOOKED_AT]} if board else set()
    newest = models_to_choose(db, actor, task.name, limit=MOST_LOOKED_AT, adapter=BUILTIN).models
    names = {*best, *(one.name for one in newest)}
    infos = {model.name: model.version for model in list_models(db, actor, task.name, sorted(names))} if names else {}
    usable = {name: one for name, one in infos.items() if is_ours(one.adapter) and one.withdrawn_at is None}
    ranked = (usable[name] for name in best if name in usable and usable[name].ref in refs)
    return next(ranked, None) or max(usable.values(), key=lambda info: _trained(info, metric), default=None)


def _language_model(db: Session, actor: Actor, task: str) -> ModelVersionInfo | None:
    """Return the newest language model of the task that runs in our own sandbox: asking it costs nobody money."""
    members = [name for name, adapter in ADAPTERS.items() if adapter.language_model and adapter.place == "sandbox"]
    newest = [choice for name in members for choice in models_to_choose(db, actor, task, limit=1, adapter=name).models]
    infos = versions_by_id(db, [choice.id for choice in newest]) if newest else {}
    shown = [info for info in infos.values() if info.withdrawn_at is None and may_see(actor, info)]
    return max(shown, key=lambda info: info.id, default=None)


def _trained(version: ModelVersionInfo, metric: str) -> float:
    """Return what a model scored when it was trained."""
    return float(version.meta.get("metrics", {}).get(metric, {}).get("value") or 0.0)
