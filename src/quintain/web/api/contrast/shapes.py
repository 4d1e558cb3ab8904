"""What the calls for contrast projects take."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from quintain.web.api.shapes import LongText, Shape, Text

Note = Annotated[str, Field(pattern=r"^[^\x00]*$", max_length=5_000)]


class ContrastDefinition(Shape):
    """A contrast project's TOML file."""

    toml: LongText


class EditRequest(Shape):
    """A variant: inputs over those of the example, the new answer, and what is said of it.

    *generation* is that of the example as it was taken. *draft* names the rule whose draft it began as, and
    *confirmed* says that a person looked at its label and grammar.
    """

    inputs: dict[str, Any]
    answer: Any = None
    tags: list[Text] = Field(default=[], max_length=60)
    rationale: Note = ""
    reason: Note = ""
    keeps_label: bool = False
    draft: Annotated[str, Field(pattern=r"^[^\x00]*$", max_length=200)] = ""
    confirmed: bool = False
    generation: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None


class VariantsRequest(Shape):
    """Variants: each names its `original` by id or text, and has the changed fields, `answer`, and what is said of it.

    With *checked* they count at once.
    """

    rows: list[dict[str, Any]] = Field(min_length=1, max_length=5000)
    checked: bool = False


class FinishRequest(Shape):
    """Whether an example without a variant is skipped."""

    skip: bool = False


class PhenomenonRequest(Shape):
    """A phenomenon to add to a project's list."""

    name: Annotated[str, Field(pattern=r"^[^\x00]*\S[^\x00]*$", max_length=80)]


class OpinionRequest(Shape):
    """What somebody says of a variant that they did not write."""

    answer: Any
    minimal: bool
    sound: bool
    note: Note = ""


class SettleRequest(Shape):
    """A decision on a contested variant; *answer* is given where the author's is not right."""

    accept: bool
    answer: Any = None
    note: Note = ""


class ModelRequest(Shape):
    """A model, as task/name or task/name@2."""

    model: Text


class PairsRequest(Shape):
    """How many pairs of original and variant people are to judge, and what they are drawn by."""

    pairs: Annotated[int, Field(ge=1, le=100_000)] = 100
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
