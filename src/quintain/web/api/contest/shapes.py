"""What the API takes about contests."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from quintain.core.contests import Phase, TeamRole
from quintain.perturbations.drafts.substitutes import WordSource
from quintain.services.contest.rulings import Decision
from quintain.web.api.shapes import LongText, Shape, Text


class ContestDefinition(Shape):
    """A contest's TOML file."""

    toml: LongText


class ExtendRequest(Shape):
    """Which phase is to end when; a moment without a time zone is by the contest's clocks."""

    phase: Literal[Phase.BUILD, Phase.BREAK, Phase.SCORE, Phase.REVIEW]
    until: datetime


class TeamRequest(Shape):
    """A team to be made."""

    name: Text
    role: TeamRole


class JoinRequest(Shape):
    """The key with which a team is joined; none where the contest is open."""

    key: Text = ""


class SystemRequest(Shape):
    """The model that is a team's system; *system* is its name, where the team has or wants several."""

    model: Text
    system: Text = ""


class ReferenceRequest(Shape):
    """A reference system: a model, or a name whose answers are handed in next."""

    name: Text = ""
    model: Text = ""
    counts: bool = False


class CountsRequest(Shape):
    """Whether a reference system enters the breakers' scores."""

    counts: bool


class PairRequest(Shape):
    """A minimal pair; an empty name is given one, and the original's label may be left to the starter set.

    With *dispute*, another label of the original than the starter set's disputes that one.
    """

    original: dict[str, Any]
    modified: dict[str, Any]
    original_label: Any = None
    modified_label: Any = None
    name: Text = ""
    rationale: Text = ""
    strategy: Text = ""
    tags: Annotated[tuple[Text, ...], Field(max_length=20)] = ()
    dispute: bool = False


class SearchRequest(Shape):
    """An automatic search: the model that it asks, and how far it looks; no *sources* of words means all of them."""

    model: Text
    text: Text = ""
    words: Annotated[int, Field(ge=1, le=5)] = 2
    beam: Annotated[int, Field(ge=1, le=10)] = 4
    budget: Annotated[int, Field(ge=1, le=100_000)] = 500
    sources: Annotated[tuple[WordSource, ...], Field(max_length=3)] = ()


class ProposalLabel(Shape):
    """Which label the changed sentence of a proposal has, and why it should break a system."""

    modified_label: Any
    rationale: Text = ""
    tags: Annotated[tuple[Text, ...], Field(max_length=20)] = ()


class RejectRequest(Shape):
    """Whether a proposal is put aside or, with *undo*, taken up again."""

    undo: bool = False


class DisputeRequest(Shape):
    """What is wrong with a pair."""

    reason: Text


class PairJudgement(Shape):
    """Both labels of a pair and, where asked, whether it is minimal."""

    pair: Annotated[int, Field(ge=1, le=2**31 - 1)]
    original_label: Any
    modified_label: Any
    minimal: bool | None = None


class RestRequest(Shape):
    """Why all that waits for the organisers counts as it was written."""

    reason: Text


class RulingRequest(Shape):
    """What becomes of a pair, and why; labels are for `relabel`."""

    decision: Decision
    original_label: Any = None
    modified_label: Any = None
    reason: Text = ""
