"""What a model's process replies, read in one place: within bounds, matched to what was asked, blamed on the model.

A reply that cannot be used loses its answers and nothing else: the process goes on, and may be asked again. That is
`AnswersLost`; every other `RunEnded` means that there is nobody left to ask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quintain.core.example import Exchange, Failure
from quintain.core.texts import Text
from quintain.core.untrusted import Bounds
from quintain.engine.sandbox.limits import AnswersLost, Outcome

ENVELOPE = 64 << 10  # bytes for what surrounds the answers, such as a traceback
ANSWER = 64 << 10  # bytes for one answer
MEMBERS = 2048  # members of lists and objects in one answer


@dataclass(frozen=True, slots=True)
class Reply:
    """Answers in the order of the inputs, a `Failure` in place of one that was not given.

    *exchanges* are the words that answers were read from, where the model is asked in words, in the same order.
    *ns* is the time from the first byte that we sent to the last byte that came back, by our own clock.
    """

    answers: list[Any]
    ns: int = 0
    exchanges: Sequence[Exchange] | None = None


def reply_bounds(inputs: int) -> Bounds:
    """Return how much a reply to so many *inputs* may hold."""
    return Bounds(size=ENVELOPE + ANSWER * inputs, text=ANSWER, elements=1024 + MEMBERS * inputs)


def read_answers(message: Mapping[str, Any], ids: Sequence[str]) -> list[Any]:
    """Put the answers and failures of *message* into the order of *ids*: each of them once, and no others."""
    answered, failed = message.get("answers"), message.get("failures", [])
    if not isinstance(answered, list) or not isinstance(failed, list):
        raise AnswersLost(Outcome.BAD_ANSWER, "The model's reply has no answers.")
    by_id: dict[str, Any] = {}
    for pair in [*answered, *failed]:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
            raise AnswersLost(Outcome.BAD_ANSWER, "The model's reply is not a list of ids and answers.")
        if pair[0] in by_id:
            raise AnswersLost(Outcome.BAD_ANSWER, "The model answered the same input twice.")
        by_id[pair[0]] = pair[1]
    if by_id.keys() != set(ids):
        raise AnswersLost(Outcome.BAD_ANSWER, "The model answered for ids that it was not given, or left some out.")
    raised = {pair[0] for pair in failed}
    return [_failure(by_id[key]) if key in raised else by_id[key] for key in ids]


def _failure(error: object) -> Failure:
    return Failure(Text("The model raised {error}.", error=error))
