"""How a round's items are judged: what its owner decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, get_args

from quintain.core.records.base import Record
from quintain.core.rounds import Money

Source = Literal["fooling", "all"]
RuleName = Literal["disagreement", "wilson", "posterior", "gold"]

SOURCES: tuple[Source, ...] = get_args(Source)
RULE_NAMES: tuple[RuleName, ...] = get_args(RuleName)


class ValidationState(StrEnum):
    """Where a validation stands."""

    OPEN = "open"
    PAUSED = "paused"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Ask for *least* judgements, then for one more at a time until a label's posterior passes *threshold*.

    The label also needs the policy's *minimum* of votes; where *least* is not given, it is that minimum. A judge of
    whom nothing is known yet is taken to be right with probability *accuracy*.
    """

    threshold: float = 0.95
    least: int = 3
    accuracy: float = 0.8


@dataclass(frozen=True, slots=True)
class Gold:
    """Items with known labels, mixed in at *rate*.

    One item is shown at most *exposures* times, and a person sees at most *per_worker* of them. Below an accuracy of
    *below* over at least *after* of them the qualification ends. Each *bonus_every* answers of which *bonus_right*
    are right earn *bonus*.
    """

    rate: float = 0.1
    exposures: int = 1000
    per_worker: int = 200
    below: float = 0.5
    after: int = 5
    bonus: int = 0
    bonus_every: int = 4
    bonus_right: int = 3


@dataclass(frozen=True, slots=True)
class EntryQuiz:
    """The quiz that judges pass first: its name, how many gold questions it asks, and how many must be right."""

    name: str = "judge"
    questions: int = 5
    right: int = 3


@dataclass(frozen=True, slots=True)
class JudgeReward:
    """What a full page pays, in minor units; part of a page pays its share."""

    amount: int = 0
    currency: str = "USD"

    def for_items(self, answered: int, size: int) -> Money:
        """Give what *answered* items of pages of *size* pay, rounded up.

        >>> str(JudgeReward(25).for_items(3, 10))
        '0.08 USD'
        """
        return Money(-(-self.amount * answered // size), self.currency)


@dataclass(frozen=True, slots=True)
class UnqualifyRule(Record):
    """When a judge is unqualified; never on fewer than *least* compared judgements.

    - `disagreement`: the share of items on which the majority of the others said otherwise is above *limit*;
    - `wilson`: the upper Wilson bound of the agreement with the others is below *limit*;
    - `posterior`: the accuracy is below *limit* with probability *confidence*, by the one-coin model;
    - `gold`: the accuracy on gold items is below *limit*.
    """

    rule: RuleName = "disagreement"
    limit: float = 0.8
    least: int = 10
    confidence: float = 0.95

    def __str__(self) -> str:
        words = {
            "disagreement": f"disagreed with the majority of the others on more than {self.limit:.0%}",
            "wilson": f"agreement surely below {self.limit:.0%} (Wilson, {self.confidence:.0%})",
            "posterior": f"accuracy below {self.limit:.0%} with probability {self.confidence:.0%}",
            "gold": f"right on less than {self.limit:.0%} of the gold items",
        }
        return words[self.rule]


@dataclass(frozen=True, slots=True)
class ValidationPolicy:
    """How items are judged. Made from TOML by `quintain.services.validate.policy.parse_policy`.

    *judgements* is how many an item gets (with *adaptive*, at most); *minimum* is how many of those that are kept must
    agree for a label; *items* says which attempts are judged. With *automatic*, the *rules* are applied after every
    batch of *batch_size* items; otherwise the owner is told. A lease of *lease_seconds* is extended
    while its page is alive. *seconds_per_item* is the owner's estimate until there are times.
    """

    judgements: int = 5
    minimum: int = 3
    page_size: int = 10
    lease_seconds: int = 900
    batch_size: int = 4000
    items: Source = "fooling"
    seconds_per_item: float = 12.0
    automatic: bool = True
    adaptive: Adaptive | None = None
    gold: Gold = field(default_factory=Gold)
    quiz: EntryQuiz | None = None
    reward: JudgeReward = field(default_factory=JudgeReward)
    rules: tuple[UnqualifyRule, ...] = (UnqualifyRule(),)

    @property
    def first_slots(self) -> int:
        """How many judgements are asked for before anything is known."""
        return min(self.adaptive.least, self.judgements) if self.adaptive else self.judgements

    @property
    def every_rule(self) -> tuple[UnqualifyRule, ...]:
        """The rules, and the one that the gold section stands for."""
        return (*self.rules, UnqualifyRule("gold", self.gold.below, self.gold.after))
