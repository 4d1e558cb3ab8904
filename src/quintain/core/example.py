"""An input, what the right answer is, and what a model said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from quintain.core.hashing import content_id

# An answer is plain JSON in the shape of its kind: a label or a text is a str, a choice or a token an int
# counted from 0, several choices a sorted list of int, a span {"text": str, "start": int | None}. Gold answers of
# kinds that allow several right ones (spans, texts) are a list of those.
Answer = Any
Inputs = Mapping[str, Any]

# How a model came to give no answer: it failed, or its server; its words hold none; its words broke off before one; it
# refused, or a filter kept its words back.
FailureKind = Literal["failed", "unreachable", "unreadable", "cut", "refused"]
# What became of an example, as it is kept with predictions.
AnswerOutcome = Literal["answered", "failed", "unreadable", "cut", "refused"]


class Role(StrEnum):
    """What a data set version is for."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"
    CONTRAST = "contrast"


@dataclass(frozen=True, slots=True)
class Example:
    """An input with its gold answer, where it is known."""

    inputs: Inputs
    answer: Answer = None
    tags: tuple[str, ...] = ()
    group: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The hash of the inputs that are there: the same input is the same example wherever it turns up."""
        return content_id({name: value for name, value in self.inputs.items() if value is not None})


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was sent to a model elsewhere about one example, what it wrote back, and the tokens that both took.

    Tokens are None where the server does not say. *thoughts* are what came before the answer, where there were any.
    """

    prompt: str
    reply: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    thoughts: str | None = None


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a model said: its answer and, if it gave them, probabilities by label, choice or token.

    Where it gave none that can be used, the answer is None, *failure* says why and *outcome* how. *exchange* is how it
    was asked, where that is in words. *samples* are the single answers that it was reduced from, where it was asked
    more than once.
    """

    answer: Answer
    probabilities: Mapping[str, float] | None = None
    failure: str | None = None
    exchange: Exchange | None = None
    outcome: AnswerOutcome = "answered"
    samples: tuple[Prediction, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """Stands in place of an answer that a model did not give, and says why and of which *kind* that is.

    What is unreadable or refused had a reply: wrong, but no sign of a model that is broken.
    """

    reason: str
    kind: FailureKind = "failed"


@dataclass(frozen=True, slots=True)
class WordedAnswer:
    """An answer, or a failure, with the words that it was read from."""

    answer: Answer
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class Sampled:
    """Several answers to the same example, and the name of the rule that makes one of them."""

    answers: tuple[WordedAnswer, ...]
    reduce: str
