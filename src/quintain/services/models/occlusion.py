"""Which words moved a model: each is left out in turn, and the model is asked about all of that in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlalchemy.orm import Session

from quintain.core.example import Inputs, Prediction
from quintain.core.people import Actor
from quintain.core.records.collect import WordEffect
from quintain.core.task import Task
from quintain.core.words import token_spans, without_spaces
from quintain.services.access import throttle
from quintain.services.models.ask import RUNNERS, SECONDS, AdapterRunner, ask, check_size
from quintain.services.models.registry import get_model
from quintain.services.plain.files.predictions import check_inputs
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.tasks.contract import kind_of

MOST_WORDS = 200
PER_MINUTE = 20


def word_effects(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    inputs: Inputs,
    *,
    who: str,
    runners: Mapping[str, AdapterRunner] = RUNNERS,
    seconds: float = SECONDS,
) -> list[WordEffect]:
    """Return which words of *inputs* moved the model that *ref* means; *who* asks is held to so many a minute."""
    version = get_model(db, actor, ref).version
    task = get_task(db, version.task)
    check_size([inputs])
    check_inputs(task, [inputs])
    limit_occlusions(db, who)
    db.rollback()  # hold no connection while the model thinks
    return effects_of(task, inputs, lambda batch: ask(blobs, version, task, batch, runners=runners, seconds=seconds))


def limit_occlusions(db: Session, who: str) -> None:
    """Refuse more than some a minute: each is a text for every word."""
    throttle.hit(db, f"occlusion:{who}", PER_MINUTE, 60)


def effects_of(
    task: Task, inputs: Inputs, predict: Callable[[Sequence[Inputs]], Sequence[Prediction]]
) -> list[WordEffect]:
    """Return how much surer of its answer the model is for every word; what *predict* is asked is one batch."""
    places = _words(task, inputs)
    batch = [inputs, *({**inputs, field: _without(inputs[field], start, end)} for field, start, end in places)]
    whole, *parts = predict(batch)
    return [
        WordEffect(field, start, end, inputs[field][start:end], _effect(whole, part))
        for (field, start, end), part in zip(places, parts, strict=True)
    ]


def _words(task: Task, inputs: Inputs) -> list[tuple[str, int, int]]:
    """List the words of what somebody wrote: field, start and end."""
    words = []
    for item in kind_of(task).fields(task):
        if item.editable and item.type in {"text", "long_text"} and isinstance(inputs.get(item.name), str):
            words += [(item.name, *span) for span in token_spans(inputs[item.name])]
    return words[:MOST_WORDS]


def _without(text: str, start: int, end: int) -> str:
    # What stood between spaces leaves one; a character of a script without spaces leaves none.
    gap = "" if without_spaces(text[start:end]) else " "
    left = " ".join(f"{text[:start]}{gap}{text[end:]}".split())
    return left or "…"  # a model may refuse an empty text


def _effect(whole: Prediction, part: Prediction) -> float:
    if whole.probabilities and part.probabilities:
        key = str(whole.answer)
        return float(whole.probabilities.get(key, 0.0) - part.probabilities.get(key, 0.0))
    return float(whole.answer != part.answer)
