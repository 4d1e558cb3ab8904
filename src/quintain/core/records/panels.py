"""People from panels, as owners see them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from quintain.core.records.base import Record
from quintain.core.rounds import Money


@dataclass(frozen=True, slots=True)
class PanelGuest(Record):
    """Somebody whom a panel sent: *confirmed* says by whom (panel, link, owner, before), or is empty, and pay is held.

    *flags* are `same_browser` and `same_address`; *owed* is approved and not yet in a payout, in minor units.
    """

    name: str
    provider: str
    came_at: datetime
    confirmed: str
    flags: list[str]
    same_browser: int
    same_address: int
    owed: int
    currency: str

    @property
    def money(self) -> Money:
        """What is owed, with its currency."""
        return Money(self.owed, self.currency)


@dataclass(frozen=True, slots=True)
class DoorRequest(Record):
    """Somebody who wants to come in by another browser as a person who came before."""

    number: int
    name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PanelGuests(Record):
    """Some of the people whom panels sent to a task, requests that wait for an owner, and how many people fit."""

    people: list[PanelGuest]
    requests: list[DoorRequest]
    total: int


@dataclass(frozen=True, slots=True)
class DoorCode(Record):
    """A code with which somebody comes in by another browser; it works once and is shown this once."""

    name: str
    code: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class PanelKey(Record):
    """The key by which a panel signs its links to a task."""

    task: str
    key: str = field(repr=False)
