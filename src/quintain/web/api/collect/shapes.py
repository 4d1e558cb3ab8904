"""What the API takes of rounds, sessions and attempts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from quintain.web.api.shapes import LongText, Shape, Text


class RoundDefinition(Shape):
    """A round as a TOML file."""

    toml: LongText


class CloneRequest(Shape):
    """What the clone of a round is called; empty for the same title."""

    title: Text = ""


class ChoiceRequest(Shape):
    """What a worker says to a round."""

    kind: Literal["consent", "warning", "opt_out", "opt_in"]


class AttemptRequest(Shape):
    """A text to submit. The same token again gives the first verdict again."""

    inputs: dict[str, Any]
    target: Any = None
    justification: LongText = ""
    type: Annotated[str, Field(max_length=200)] = ""
    token: Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^\x00]+$")]


class DraftRequest(Shape):
    """What has been typed so far."""

    inputs: dict[str, Any]
    target: Any = None


class WordRequest(Shape):
    """A writer's word on an attempt: yes or no."""

    yes: bool


class NotesRequest(Shape):
    """Why the model failed, and which phenomena are in the text."""

    reason: Text = ""
    tags: list[Text] = Field(default_factory=list)


class RetractRequest(Shape):
    """Why an attempt is taken back; may be empty."""

    reason: Text = ""
