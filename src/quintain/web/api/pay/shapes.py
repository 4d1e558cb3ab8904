"""What the API takes of pay."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from quintain.web.api.shapes import LongText, Shape, Text

Amount = Annotated[int, Field(ge=1, le=10**9, description="In minor units, such as cents.")]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]


class PayPolicyRequest(Shape):
    """A pay policy as a TOML file."""

    toml: LongText


class BonusRequest(Shape):
    """A bonus for a worker; *key* names it, so that sent twice it is given once."""

    worker: Text
    amount: Amount
    currency: Currency
    what: Text
    key: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[^\x00]+$")]


class PayoutRequest(Shape):
    """Whom to pay and how: bonuses or approvals through Prolific, or a file for a panel or by hand."""

    provider: Literal["hand", "prolific", "panel", "mturk"]
    currency: Currency
    approvals: bool = False


class StudyRequest(Shape):
    """A study: for how many people, for which participant group (empty for all), and what it pays, in minor units.

    Without a reward, it is what a session, page or batch there pays.
    """

    places: Annotated[int, Field(ge=1, le=100_000)]
    group: Text = ""
    reward: Annotated[int | None, Field(ge=1, le=10**9)] = None


class StudyChangeRequest(Shape):
    """What to do with a study, and how many people may take part; 0 leaves that as it is."""

    action: Literal["", "publish", "pause", "start", "stop"] = ""
    places: Annotated[int, Field(ge=0, le=100_000)] = 0


class GroupRequest(Shape):
    """The qualification whose holders make a participant group; empty for a new group."""

    qualification: Text
    group: Text = ""


class PayoutOutcomeRequest(Shape):
    """Whether a payout was made, of which only the owner knows."""

    paid: bool
    note: Text = ""


class OverpaidRequest(Shape):
    """Whether what was paid twice is held back from later pay; else it is let go."""

    hold_back: bool


class PayQuestionRequest(Shape):
    """What a worker asks about an earning."""

    earning: Number
    text: Text


class PayAnswerRequest(Shape):
    """What an owner answers."""

    text: Text


class EarningsDecisionRequest(Shape):
    """Earnings to approve, or to set aside with a reason."""

    ids: Annotated[list[Annotated[int, Field(ge=1, le=2**31 - 1)]], Field(max_length=10_000)]
    approved: bool = True
    reason: Text = ""
