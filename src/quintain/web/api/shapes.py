"""What the API sends and takes. Every shape is documented in OpenAPI from here."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from quintain.core.example import Role
from quintain.core.people import RoleName

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


class StatusShape(Shape):
    """Whether the server works."""

    version: str
    ready: bool
    checks: dict[str, str]


class LabelShape(Shape):
    """A label and what it means."""

    name: str
    gloss: str = ""
    examples: list[str] = []


class FieldShape(Shape):
    """One input of an example."""

    name: str
    type: str
    title: str
    required: bool


class TaskShape(Shape):
    """A task: what is asked."""

    name: str
    kind: str
    title: TextByLanguage
    labels: list[LabelShape]
    extra_labels: list[LabelShape]
    fields: list[FieldShape]
    answer_type: str
    instructions: TextByLanguage
    content_warning: TextByLanguage
    languages: list[str]
    metrics: list[str]
    canonical_metric: str
    options: dict[str, Any]


class TaskSummaryShape(Shape):
    """A task in a list."""

    name: str
    kind: str
    title: TextByLanguage
    labels: list[str]
    version: int
    changed_at: datetime
    archived: bool


class TasksShape(Shape):
    """All tasks."""

    tasks: list[TaskSummaryShape]


class TaskDefinition(Shape):
    """A task's TOML file."""

    toml: LongText


class TaskVersionShape(Shape):
    """One version of a task's TOML file."""

    number: int
    toml: str
    by: str | None
    at: datetime


class TaskHistoryShape(Shape):
    """All versions of a task's TOML file, the newest first."""

    versions: list[TaskVersionShape]


class StepShape(Shape):
    """A step of a version's lineage."""

    ref: str
    how: str
    settings: dict[str, Any]


class DatasetShape(Shape):
    """One version of a data set; *scores* says whether the data set scores on the board."""

    ref: str
    task: str
    dataset: str
    number: int
    hash: str
    role: Role
    hidden: bool
    rows: int
    scores: bool
    language: str
    description: str
    meta: dict[str, Any]
    created_at: datetime
    parents: list[StepShape]
    children: list[StepShape]


class DatasetsShape(Shape):
    """The data set versions of a task."""

    datasets: list[DatasetShape]


class ImportedShape(DatasetShape):
    """A version that was imported; *new* is false where it was there already."""

    new: bool


class PreviewShape(Shape):
    """Some examples of a version; *total* is how many fit the filters."""

    version: DatasetShape
    total: int
    offset: int
    examples: list[dict[str, Any]]


class LabelCountsShape(Shape):
    """How often each answer occurs; empty where answers are texts or hidden."""

    labels: dict[str, int]


class ChangesShape(Shape):
    """How many examples, and the first of them."""

    count: int
    examples: list[dict[str, Any]]


class DifferenceShape(Shape):
    """How version *b* differs from version *a*."""

    a: str
    b: str
    added: ChangesShape
    removed: ChangesShape
    changed: ChangesShape


class ModelVersionShape(Shape):
    """One version of a model."""

    ref: str
    number: int
    hash: str
    adapter: str
    created_at: datetime
    withdrawn_at: datetime | None
    meta: dict[str, Any]


class ModelShape(Shape):
    """A model with its versions, the newest first, and the card of the one asked for."""

    task: str
    name: str
    owner: str | None
    visibility: Literal["public", "private", "anonymous"]
    created_at: datetime
    version: ModelVersionShape
    versions: list[ModelVersionShape]
    card: str


class ModelsShape(Shape):
    """The models of a task."""

    models: list[ModelShape]


class VisibilityChange(Shape):
    """Who sees a model."""

    visibility: Literal["public", "private", "anonymous"]


class CardChange(Shape):
    """A new card, in Markdown with the required headings."""

    card: LongText


class Questions(Shape):
    """Inputs for a model, one per example."""

    inputs: list[dict[str, Any]] = Field(min_length=1, max_length=100)


class PredictionShape(Shape):
    """What a model said to one example."""

    answer: Any
    probabilities: dict[str, float] | None = None


class PredictionsShape(Shape):
    """What a model said, in the order of the inputs."""

    model: str
    predictions: list[PredictionShape]


class GrantShape(Shape):
    """A role, everywhere or on one task."""

    role: RoleName
    task: Text | None = None


class PersonShape(Shape):
    """An account."""

    name: str
    display_name: str
    email: str | None
    language: str
    email_notifications: bool
    opened: bool
    created_at: datetime
    grants: list[GrantShape]


class PeopleShape(Shape):
    """All accounts."""

    users: list[PersonShape]


class ProfileChange(Shape):
    """What may be changed of one's own account; what is left out stays."""

    display_name: Text | None = None
    email: Text | None = None
    language: Text | None = None
    email_notifications: bool | None = None


class Invitation(Shape):
    """An account to make. Without a *language*, the browser in which it is opened decides."""

    name: Text
    display_name: Text = ""
    email: Text | None = None
    roles: list[RoleName] = [RoleName.WORKER]
    language: Text = ""


class LinkShape(Shape):
    """A link that works once; it is shown this once."""

    name: str
    url: str
    expires_at: datetime


class TokenShape(Shape):
    """An API token as its owner sees it afterwards."""

    id: int
    name: str
    hint: str
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    expired: bool


class TokensShape(Shape):
    """One's own API tokens."""

    tokens: list[TokenShape]


class TokenRequest(Shape):
    """A token to make; *days* null means until it is revoked."""

    name: Text
    days: Annotated[int, Field(ge=1, le=3660)] | None = 90


class NewTokenShape(TokenShape):
    """A token that was just made; *token* is shown this once."""

    token: str


class NotificationShape(Shape):
    """A message."""

    id: int
    at: datetime
    kind: str
    text: str
    url: str
    read_at: datetime | None


class NotificationsShape(Shape):
    """One's own messages, the newest first."""

    notifications: list[NotificationShape]


class ReadRequest(Shape):
    """Which messages were read; null means all."""

    ids: list[Annotated[int, Field(ge=1, le=2**31 - 1)]] | None = None


class CountShape(Shape):
    """How many were changed."""

    count: int


class AuditShape(Shape):
    """One thing that happened."""

    id: int
    at: datetime
    actor: str
    action: str
    subject: str
    details: dict[str, Any]


class AuditLogShape(Shape):
    """What happened, the newest first."""

    entries: list[AuditShape]


class HitShape(Shape):
    """Something that matches a search."""

    title: str
    detail: str
    url: str


class FoundShape(Shape):
    """What matches a search."""

    tasks: list[HitShape]
    datasets: list[HitShape]
    models: list[HitShape]
