"""What helps a writer, for programs: which words moved the model, what fooled it before, and the sandbox."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Query as Parameter
from pydantic import Field

from quintain.services.collect import writing_aids
from quintain.web.api.call import Calling
from quintain.web.api.collect.rounds import AttemptId, RoundNumber, SessionKey
from quintain.web.api.collect.shapes import SessionShape, VerdictShape
from quintain.web.api.params import TaskName
from quintain.web.api.shapes import Shape

FewExamples = Annotated[int, Parameter(description="At most so many.", ge=1, le=50)]


class WordEffectShape(Shape):
    """One word of a field, and how much less probable the model's answer becomes without it."""

    field: str
    start: int
    end: int
    word: str
    effect: float


class MovedShape(Shape):
    """The words of an attempt, in order. Without probabilities, an effect is 1 where the answer changes, else 0."""

    words: list[WordEffectShape]


class InspirationShape(Shape):
    """An example of somebody else that fooled the model."""

    inputs: dict[str, Any]
    target: Any
    prediction: Any


class InspirationsShape(Shape):
    """Examples of others that fooled the model, newest first."""

    examples: list[InspirationShape]


class PracticeRequest(Shape):
    """A text to try in the sandbox; *prompt* is the id of the prompt that `GET` gave, or null where it gave none."""

    inputs: dict[str, Any]
    target: Any = None
    prompt: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None


def get_moving_words(call: Calling, attempt: AttemptId) -> MovedShape:
    """Say which words of one of one's own attempts moved the model, where the round's owner switched that on."""
    found = writing_aids.occlusion(call.db, call.blobs, call.actor, attempt, runners=call.workspace.runners)
    return MovedShape(words=[WordEffectShape.model_validate(asdict(one)) for one in found])


def list_inspiration(call: Calling, key: SessionKey, limit: FewExamples = 5) -> InspirationsShape:
    """List what fooled the model before, written by others, where the round's owner switched that on."""
    found = writing_aids.inspiration(call.db, call.actor, key, limit=limit)
    return InspirationsShape(examples=[InspirationShape.model_validate(asdict(one)) for one in found])


def get_practice(call: Calling, task: TaskName, number: RoundNumber) -> SessionShape:
    """Give a session of the sandbox: it looks like a real one, has no key, and is stored nowhere."""
    return SessionShape.model_validate(asdict(writing_aids.try_session(call.db, call.actor, f"{task}/{number}")))


def practise_writing(call: Calling, task: TaskName, number: RoundNumber, tried: PracticeRequest) -> VerdictShape:
    """Try a text in the sandbox: the same checks and the same model, and nothing is stored."""
    found = writing_aids.try_attempt(
        call.db,
        call.blobs,
        call.actor,
        f"{task}/{number}",
        tried.inputs,
        target=tried.target,
        prompt_id=tried.prompt,
        runners=call.workspace.runners,
    )
    return VerdictShape.model_validate(asdict(found))
