"""What the API sends and takes. Every shape is documented in OpenAPI from here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from quintain.core.people import RoleName, Scope

# A NUL cannot be stored by PostgreSQL, and half a surrogate pair by nobody: neither gets past the door.
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=2_000)]
LongText = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=1_000_000)]
TextByLanguage = dict[str, str]


class Shape(BaseModel):
    """The base of all shapes: read from our own dataclasses, and strict about what is sent."""

    model_config = ConfigDict(from_attributes=True, extra="forbid")


class FaultShape(Shape):
    """One thing that is wrong, and where."""

    file: str | None = None
    row: int | None = None
    line: int | None = None
    field: str | None = None
    reason: str


class ErrorBody(Shape):
    """What went wrong, what to do, and every place that was found."""

    code: str = Field(
        description="what happened, in one word that stays when the message is worded anew", examples=["not_found"]
    )
    message: str
    remedy: str | None = None
    faults: list[FaultShape] = []


class ErrorShape(Shape):
    """The one shape of all errors."""

    error: ErrorBody


class TaskDefinition(Shape):
    """A task's TOML file."""

    toml: LongText


class VisibilityChange(Shape):
    """Who sees a model."""

    visibility: Literal["public", "private", "anonymous"]


class InputsChoice(Shape):
    """Who reads the inputs of a data set; without *traces*, what was chosen of them stays."""

    inputs: Literal["open", "request", "never"]
    traces: bool | None = None


class InputsAsked(Shape):
    """Why somebody wants to read inputs."""

    why: Text = ""


class InputsDecision(Shape):
    """What becomes of a request."""

    decision: Literal["allow", "decline", "revoke"]


class CardChange(Shape):
    """A new card, in Markdown with the required headings."""

    card: LongText


class Questions(Shape):
    """Inputs for a model, one per example."""

    inputs: list[dict[str, Any]] = Field(min_length=1, max_length=100)


class RoleRequest(Shape):
    """A role, everywhere or on one task."""

    role: RoleName
    task: Text | None = None


class ProfileChange(Shape):
    """What may be changed of one's own account; what is left out stays."""

    display_name: Text | None = None
    email: Text | None = None
    language: Text | None = None
    email_notifications: bool | None = None


class PersonDeletion(Shape):
    """An account to delete. What is not paid yet is in the way, unless the person gives it up."""

    give_up_pay: bool = False


class Deletion(PersonDeletion):
    """One's own account to delete; its name says that it is meant."""

    name: Text


class Invitation(Shape):
    """An account to make. Without a *language*, the browser in which it is opened decides."""

    name: Text
    display_name: Text = ""
    email: Text | None = None
    roles: list[RoleName] = [RoleName.WORKER]
    language: Text = ""


class TokenRequest(Shape):
    """A token to make; *days* null means until it is revoked. What it is good for is *scopes*; it can always read."""

    name: Text
    days: Annotated[int, Field(ge=1, le=3660)] | None = 90
    scopes: list[Scope] = [Scope.READ]


class ConfirmRequest(Shape):
    """People from panels who are people of their own; *everybody* is all of whom nothing looks odd."""

    names: list[Text] = []
    everybody: bool = False


class DoorDecision(Shape):
    """Whether somebody is let in by another browser."""

    let_in: bool


class ReadRequest(Shape):
    """Which messages were read; null means all."""

    ids: list[Annotated[int, Field(ge=1, le=2**31 - 1)]] | None = None


class MailRequest(Shape):
    """Which e-mails it is about; null means all of them."""

    ids: list[Annotated[int, Field(ge=1, le=2**31 - 1)]] | None = None
