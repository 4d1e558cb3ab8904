"""Accounts, tokens, messages and the log of what was done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from quintain.core.people import Grant, Scope
from quintain.core.records.base import Record

PeopleOrder = Literal["name", "name_down", "newest", "oldest"]


@dataclass(frozen=True, slots=True)
class Status(Record):
    """Whether the server works: *checks* are `ok`, or say what does not."""

    version: str
    ready: bool
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
class OneTimeLink(Record):
    """A link that works once; it is shown this once."""

    name: str
    url: str = field(repr=False)
    expires_at: datetime


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
