"""Accounts, tokens, messages and the log of what was done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from quintain.core.people import Grant, RoleName, Scope
from quintain.core.records.base import Record

PeopleOrder = Literal["name", "name_down", "newest", "oldest"]


@dataclass(frozen=True, slots=True)
class Status(Record):
    """Whether the server works: *checks* are `ok`, or say what does not.

    The *state* is `ok`, `degraded` where something beside requests keeps failing, or `not ready`.
    """

    version: str
    ready: bool
    state: str
    checks: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Person(Record):
    """An account as others see it; *opened* says whether it has a password yet."""

    id: int
    name: str
    display_name: str
    email: str | None
    language: str
    email_notifications: bool
    opened: bool
    created_at: datetime
    grants: tuple[Grant, ...]
    revision: str = ""


@dataclass(frozen=True, slots=True)
class People(Record):
    """Some accounts of those that fit, and how many do."""

    users: list[Person]
    total: int


@dataclass(frozen=True, slots=True)
class TaskRole(Record):
    """A role that somebody holds on one task, since when, and who gave it."""

    name: str
    display_name: str
    role: RoleName
    since: datetime
    given_by: str | None


@dataclass(frozen=True, slots=True)
class TaskRoles(Record):
    """Some of the roles that people hold on one task, and how many there are."""

    roles: list[TaskRole]
    total: int


@dataclass(frozen=True, slots=True)
class OneTimeLink(Record):
    """A link that works once; it is shown this once."""

    name: str
    url: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class EndedAccess(Record):
    """How many sessions and API tokens of somebody have been ended."""

    name: str
    sessions: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Token(Record):
    """An API token as its owner sees it afterwards: its name and its first letters, never the whole.

    *scopes* is what it is good for; one that is *unscoped* was made before tokens had any, and is good for everything.
    """

    id: int
    name: str
    hint: str
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    expired: bool
    scopes: tuple[Scope, ...] = ()
    unscoped: bool = False


@dataclass(frozen=True, slots=True)
class NewToken(Token):
    """A token that was just made; *token* is the secret itself, shown this once."""

    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Tokens(Record):
    """One's own API tokens."""

    tokens: list[Token]


@dataclass(frozen=True, slots=True)
class Notification(Record):
    """A message; *url* is where it leads, within the application."""

    id: int
    at: datetime
    kind: str
    text: str
    url: str
    read_at: datetime | None


@dataclass(frozen=True, slots=True)
class Notifications(Record):
    """One's own messages, the newest first."""

    notifications: list[Notification]


class MailPurpose(StrEnum):
    """What an e-mail is for: to tell of a message, to bring a link to choose a new password, or a code for a *door*."""

    MESSAGE = "message"
    PASSWORD = "password"  # noqa: S105 - no secret
    DOOR = "door"


class MailState(StrEnum):
    """Where an e-mail stands; one that was *dropped* was given up, or is not wanted any more."""

    WAITING = "waiting"
    SENT = "sent"
    FAILED = "failed"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class QueuedMail(Record):
    """An e-mail that waits or could not be sent: to whom, how often it was tried, why the last try failed.

    *next_at* is when it is tried again, *last* says that this is the last time.
    """

    id: int
    person: str
    address: str | None
    purpose: str
    state: str
    asked_at: datetime
    attempts: int
    next_at: datetime | None
    last: bool
    reason: str


@dataclass(frozen=True, slots=True)
class MailQueue(Record):
    """The e-mails that wait or failed, the oldest first; *oldest* is since when the first has waited.

    *enabled* says whether this house sends any.
    """

    enabled: bool
    waiting: int
    failed: int
    oldest: datetime | None
    mails: list[QueuedMail]
    total: int


@dataclass(frozen=True, slots=True)
class MailCount(Record):
    """How many e-mails it was done to."""

    count: int


@dataclass(frozen=True, slots=True)
class ReadCount(Record):
    """How many messages were marked as read."""

    count: int


@dataclass(frozen=True, slots=True)
class AuditLine(Record):
    """One thing that happened."""

    id: int
    at: datetime
    actor: str
    action: str
    subject: str
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AuditLog(Record):
    """What happened, the newest first."""

    entries: list[AuditLine]
