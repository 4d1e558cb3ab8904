"""A contest of builders and breakers: what its owner decides."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import Literal, get_args

from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault
from quintain.core.spec import N_, option, specification

TeamRole = Literal["builder", "breaker", "both"]
Joining = Literal["open", "invitation"]
Validated = Literal["none", "contested", "all"]
Undecided = Literal["count", "wait"]
SpanMetric = Literal["exact_match", "f1"]
PairFormat = Literal["table", "bibi-2017"]  # a table of ours, or a file of Build It Break It 2017 as it was released
PAIR_FORMATS: tuple[PairFormat, ...] = get_args(PairFormat)
TEAM_ROLES: tuple[TeamRole, ...] = get_args(TeamRole)
MOMENTS = ("starts", "build_ends", "break_ends", "score_ends", "review_ends")
MAX_TEXT = 50_000


class Phase(StrEnum):
    """Where a contest stands: before it, building, breaking, running on the pairs, settling labels, and after it."""

    COMING = "coming"
    BUILD = "build"
    BREAK = "break"
    SCORE = "score"
    REVIEW = "review"
    OVER = "over"


class PairStatus(StrEnum):
    """Where a pair stands: as it was written, doubted by a team, still to be judged, decided, or out of the score."""

    WRITTEN = ""
    CONTESTED = "contested"
    UNDECIDED = "undecided"
    SETTLED = "settled"
    DROPPED = "dropped"

    @property
    def left_out(self) -> bool:
        """Whether a pair is out of the score until somebody decides."""
        return self in {PairStatus.CONTESTED, PairStatus.UNDECIDED}


class PairReason(StrEnum):
    """Who settled a pair or dropped it, or what one that is left out waits for; *expired*: nobody did in time."""

    NONE = ""
    RULED = "ruled"
    ORGANISERS = "organisers"
    JUDGES = "judges"
    NO_MAJORITY = "no majority"
    NOT_MINIMAL = "not minimal"
    EXPIRED = "expired"


class HandedState(StrEnum):
    """How far a system's answers to one part are."""

    MISSING = "missing"
    WAITING = "waiting"
    FAILED = "failed"
    THERE = "there"


@specification
class ContestSpec:
    """What a contest asks. Made from a TOML file by `quintain.services.contest.definition.parse_contest`.

    Moments are by the clocks of *zone*, unless they say otherwise.
    """

    task: str = option(kinds.text(80, 1), help="The task's name")
    name: str = option(
        kinds.name(40),
        title=N_("Name"),
        help=N_("For addresses and commands: small letters, digits, - and _."),
        section="what",
    )
    title: str = option(kinds.text(200, 1), title=N_("Title"), section="what")
    dev: str = option(
        kinds.text(200, 1),
        title=N_("Blind development set"),
        help=N_("Its labels are hidden. Builders answer it, and breakers see what the systems answered."),
        section="data",
    )
    starts: datetime = option(kinds.local_moment(), title=N_("Begins"), section="when")
    break_ends: datetime = option(kinds.local_moment(), title=N_("Breaking ends"), section="when")
    score_ends: datetime = option(
        kinds.local_moment(), title=N_("Builders’ predictions on the pairs are due"), section="when"
    )
    description: str = option(
        kinds.text(MAX_TEXT), default="", title=N_("What the contest is about"), help=N_("Markdown."), section="what"
    )
    starter: str = option(
        kinds.text(200),
        default="",
        title=N_("Breakers’ starter set"),
        help=N_(
            "The sentences that breakers may change. Only where pairs are written from scratch may it be left out."
        ),
        section="data",
    )
    train: str = option(kinds.text(200), default="", title=N_("Training set"), section="data")
    zone: str = option(
        kinds.text(60, 1),
        default="UTC",
        title=N_("Time zone"),
        help=N_("Such as Europe/Berlin. One second late is late, by its clocks."),
        section="when",
        written=True,
    )
    build_ends: datetime | None = option(
        kinds.local_moment(),
        default=None,
        title=N_("Building ends, breaking begins"),
        help=N_("Without it nobody builds: breakers have the models below before them from the beginning."),
        section="when",
    )
    review_ends: datetime | None = option(
        kinds.local_moment(),
        default=None,
        title=N_("Labels are settled by"),
        help=N_("Until then pairs may be contested; the results are for the teams only. Without it they are public."),
        section="when",
    )
    joining: Joining = option(
        kinds.one_of(
            {
                "open": N_("anybody may join a team"),
                "invitation": N_("only who has the team’s link"),
            },
            cards=True,
        ),
        default="invitation",
        title=N_("Who joins a team"),
        section="who",
    )
    both: bool = option(kinds.flag(), default=True, title=N_("A team may build and break"), section="who")
    team_size: int = option(kinds.whole(1, 1000), default=10, title=N_("People in a team, at most"), section="who")
    anonymous: bool = option(
        kinds.flag(), default=False, title=N_("Systems have no names until the contest is over"), section="who"
    )
    systems: int = option(kinds.whole(1, 50), default=3, title=N_("Systems of a team, at most"), section="who")
    submissions: int = option(
        kinds.whole(1, 1000),
        default=10,
        title=N_("Times that a team may hand in answers to the development set"),
        help=N_("Each time tells the team its accuracy, so many times would tell the labels."),
        section="who",
    )
    models: tuple[str, ...] = option(
        kinds.texts(50, offered=True),
        default=(),
        title=N_("Models that take part as they are"),
        help=N_("A break phase over models that are on the board already."),
        section="who",
    )
    pairs: int = option(kinds.whole(1, 100_000), default=100, title=N_("Pairs of a team, at most"), section="pairs")
    changed_words: int | None = option(
        kinds.whole(1, 1000),
        default=None,
        title=N_("Words that a pair may change, at most"),
        help=N_("What counts as minimal; a pair that changes more is refused. Empty: no limit."),
        section="pairs",
    )
    searches: int = option(
        kinds.whole(0, 1_000_000),
        default=2_000,
        title=N_("Texts that a team’s automatic searches may ask models about"),
        help=N_("A search proposes pairs, and a person confirms each. 0: no automatic searches."),
        section="pairs",
    )
    scratch: bool = option(
        kinds.flag(), default=False, title=N_("Pairs may be written from scratch, too"), section="pairs"
    )
    rationale: bool = option(
        kinds.flag(), default=False, title=N_("Every pair says why it should break a system"), section="pairs"
    )
    tags: tuple[str, ...] = option(
        kinds.texts(200), default=(), title=N_("Phenomenon tags to choose from"), section="pairs"
    )
    metric: SpanMetric = option(
        kinds.one_of({"exact_match": N_("exact match"), "f1": N_("token F1 above the threshold")}),
        default="f1",
        title=N_("Where answers are texts, one is right by"),
        section="pairs",
    )
    threshold: float = option(kinds.number(0, 0.999), default=0.8, title=N_("Threshold of token F1"), section="pairs")
    validation: Validated = option(
        kinds.one_of(
            {
                "none": (N_("none"), N_("The organisers decide about those that are contested.")),
                "contested": (N_("those that somebody contests"), ""),
                "all": (N_("all of them"), ""),
            },
            cards=True,
        ),
        default="contested",
        title=N_("Labels that people outside the contest validate"),
        section="review",
    )
    judges: int = option(
        kinds.whole(1, 15), default=3, title=N_("People who judge each of these pairs"), section="review"
    )
    minimality: bool = option(
        kinds.flag(), default=False, title=N_("They also say of every pair whether it is minimal"), section="review"
    )
    judge_pay: int = option(
        kinds.money(),
        default=0,
        title=N_("Pay for each pair that is judged"),
        section="review",
    )
    currency: str = option(kinds.currency(), default="USD", title=N_("Currency"), section="review")
    disputes: int = option(
        kinds.whole(0, 100_000),
        default=10,
        title=N_("Pairs of others that a team may contest, at most"),
        help=N_("A pair that is then dropped or relabelled does not count."),
        section="review",
    )
    undecided: Undecided = option(
        kinds.one_of(
            {
                "count": (N_("they count as they were written"), N_("The results say how many they are.")),
                "wait": (N_("the final results wait"), N_("Until the organisers have decided about each.")),
            },
            cards=True,
        ),
        default="count",
        title=N_("Pairs whose labels nobody has settled at the end"),
        section="review",
    )

    def check(self) -> Iterator[Fault]:
        """Compare what belongs together."""
        if not self.starter and not self.scratch:
            yield Fault("is missing; without it pairs have to be written from scratch", field="starter")
        if self.build_ends is None and not self.models:
            yield Fault("is missing, and no models are named that breakers would have before them", field="build_ends")
        if self.review_ends is None and (self.validation == "all" or self.minimality):
            yield Fault("is missing: somebody has to judge the pairs before the results stand", field="review_ends")
