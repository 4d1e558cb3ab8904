"""What helps a writer, for programs: which words moved the model, what fooled it before, and the sandbox."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query as Parameter
from pydantic import Field

from quintain.core.records.collect import Inspirations, MovingWords, Verdict, WritingSession
from quintain.services.collect.writing import writing_aids
from quintain.web.api.call import Calling
from quintain.web.api.collect.rounds import AttemptId, SessionKey
from quintain.web.api.params import RoundRef
from quintain.web.api.shapes import Shape

FewExamples = Annotated[int, Parameter(description="At most so many.", ge=1, le=50)]


class WritingPracticeRequest(Shape):
    """A text to try in the sandbox; *prompt* is the id of the prompt that `GET` gave, or null where it gave none."""

    inputs: dict[str, Any]
    target: Any = None
    prompt: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None


def get_moving_words(call: Calling, attempt: AttemptId) -> MovingWords:
    """Return which words of one of one's own attempts moved the model, where the round's owner switched that on."""
    words = writing_aids.occlusion(call.db, call.blobs, call.actor, attempt, runners=call.workspace.runners)
    return MovingWords(words)


def list_inspiration(call: Calling, key: SessionKey, limit: FewExamples = 5) -> Inspirations:
    """List what fooled the model before, written by others, where the round's owner switched that on."""
    return Inspirations(writing_aids.inspiration(call.db, call.actor, key, limit=limit))


def get_practice(call: Calling, ref: RoundRef) -> WritingSession:
    """Return a session of the sandbox: it looks like a real one, has no key, and is stored nowhere."""
    return writing_aids.try_session(call.db, call.actor, ref)


def practise(call: Calling, ref: RoundRef, tried: WritingPracticeRequest) -> Verdict:
    """Try a text in the sandbox: the same checks and the same model, and nothing is stored."""
    return writing_aids.try_attempt(
        call.db,
        call.blobs,
        call.actor,
        ref,
        tried.inputs,
        target=tried.target,
        prompt_id=tried.prompt,
        runners=call.workspace.runners,
    )
