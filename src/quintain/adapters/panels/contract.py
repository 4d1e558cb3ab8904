"""What a provider that pays people can be asked, and what it may answer.

Whether a call that was not answered had an effect is not known: that is `Uncertain`, and never a failure. Who pays
through a provider decides what may be done again by `repeatable`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from quintain.core.errors import Conflict


class Uncertain(Exception):
    """No answer came: it may have been done, or not. The text says what happened."""


class Declined(Conflict):
    """The provider says no: nothing was done. *status* is that of its answer."""

    def __init__(self, provider: str, status: int, words: str) -> None:
        super().__init__(
            "{provider} refused with status {status}: {said}", provider=provider, status=status, said=words
        )
        self.status = status


class PanelStanding(StrEnum):
    """Where a submission stands, of which approving pays the reward of its study: *over* is one that never will."""

    WORKING = "working"
    WAITING = "waiting"
    APPROVED = "approved"
    OVER = "over"


class PaymentCheck(StrEnum):
    """What a look at the provider says of a payment."""

    SENT = "sent"
    UNSENT = "unsent"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class PayLine:
    """What one person is to be paid, in minor units: *person* and *submission* are the provider's own names."""

    person: str
    amount: int
    submission: str = ""


@dataclass(frozen=True, slots=True)
class ProviderAnswer:
    """What a provider answered: its status, its words, and what it calls the payment."""

    status: int
    text: str
    outside_id: str = ""


class PayProvider(Protocol):
    """Pays people in two steps: a payment is set up, which costs nothing, and then sent.

    *repeatable* says that sending one payment twice pays once.
    """

    repeatable: bool

    def currency(self) -> str:
        """Return the currency that the account pays in."""
        ...

    def payments_so_far(self, study: str, lines: Sequence[PayLine]) -> Mapping[str, Any]:
        """Return what the people have had so far, to compare with later."""
        ...

    def prepare(self, study: str, lines: Sequence[PayLine], key: str) -> ProviderAnswer:
        """Set a payment up; nothing is paid. Raises Uncertain or Declined."""
        ...

    def send(self, outside_id: str, lines: Sequence[PayLine], key: str) -> ProviderAnswer:
        """Pay what was set up. Raises Uncertain or Declined."""
        ...

    def find(self, study: str, lines: Sequence[PayLine], before: Mapping[str, Any]) -> PaymentCheck:
        """Look whether a payment whose answer did not come was made, by what people have had since *before*."""
        ...
