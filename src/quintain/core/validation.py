"""How a round's items are judged: what its owner decides."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Literal, get_args

from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault
from quintain.core.records.base import Record
from quintain.core.rounds import Entry, Money
from quintain.core.spec import N_, option, specification, table, tables

Source = Literal["fooling", "all"]
SOURCES: dict[str, str] = {"fooling": N_("those that fooled the model"), "all": N_("all")}
RuleName = Literal["disagreement", "wilson", "posterior", "gold"]
RULE_NAMES: tuple[RuleName, ...] = get_args(RuleName)


class ValidationState(StrEnum):
    """Where a validation stands. One of many attempts is prepared first: nobody judges while they are taken in."""

    PREPARING = "preparing"
    OPEN = "open"
    PAUSED = "paused"
    CLOSED = "closed"


class SlotState(StrEnum):
    """Where a place for one judgement stands."""

    OPEN = "open"
    LEASED = "leased"
    FILLED = "filled"
    DROPPED = "dropped"

    @property
    def is_pending(self) -> bool:
        """Whether a judgement may still come."""
        return self in {SlotState.OPEN, SlotState.LEASED}


@specification
class Adaptive:
    """Ask for *least* judgements, then for one more at a time until a label's posterior passes *threshold*.

    The label also needs the policy's *minimum* of votes; where *least* is not given, it is that minimum.
    """

    threshold: float = option(
        kinds.number(0.5, 0.999999),
        default=0.95,
        help="ask for one more judgement at a time until a label's posterior passes this",
    )
    least: int = option(
        kinds.whole(1, 100), default=3, help="judgements to ask for first; as many as `minimum` where it is not given"
    )
    accuracy: float = option(
        kinds.number(0.01, 0.999999),
        default=0.8,
        help="how often a judge of whom nothing is known is right",
    )


@specification
class Often:
    """A sample of items is judged more often than the others: to measure people, not only to label.

    The sample is drawn by the validation's seed, within each part of the items (in a trial, each arm); what was drawn
    stays on record with the item. A share is drawn item by item. A number is filled up by lot from the items that are
    taken in together, so that it suits pools that are there at once.
    """

    judgements: int = option(
        kinds.whole(1, 100),
        default=10,
        title=N_("Judgements of each item of a sample"),
        help=N_("More than of others."),
    )
    items: int = option(
        kinds.whole(0, 1_000_000),
        default=0,
        title=N_("Items in the sample"),
        help=N_("Of each part; in a trial, of each arm. 0 where a share is given."),
    )
    share: float = option(
        kinds.fraction(),
        default=0.0,
        title=N_("Share of the items that is in the sample"),
        help=N_("For items that come in one by one. 0 where a number is given."),
    )
    minimum: int = option(
        kinds.whole(0, 100),
        default=0,
        title=N_("Votes that a label in the sample needs"),
        help=N_("0 for as many as the others."),
    )

    def check(self) -> Iterator[Fault]:
        """Ask for one way to draw."""
        if bool(self.items) == bool(self.share):
            yield Fault("give either 'items', a number of each part, or 'share'", field="items")


@specification
class GoldPolicy:
    """Items with known labels, mixed in at *rate*."""

    rate: float = option(kinds.number(0, 0.9), default=0.1, help="share of a page that has known labels")
    exposures: int = option(kinds.whole(1, 10_000_000), default=1000, help="how often an item is shown")
    per_worker: int = option(kinds.whole(0, 1_000_000), default=200, help="how many of them a person sees")
    below: float = option(
        kinds.fraction(), default=0.5, help="less right than this over at least `after` of them ends the qualification"
    )
    after: int = option(kinds.whole(1, 10_000), default=5, help="on how many that is decided")
    bonus: int = option(kinds.money(), default=0, help="what `bonus_right` right of `bonus_every` earn, in minor units")
    bonus_every: int = option(kinds.whole(1, 1000), default=4, help="answers that are looked at together")
    bonus_right: int = option(kinds.whole(1, 1000), default=3, help="how many of those must be right")

    def check(self) -> Iterator[Fault]:
        """Compare what must be right with what is asked."""
        if self.bonus_right > self.bonus_every:
            yield Fault("is more than 'gold.bonus_every'", field="bonus_right")


@specification
class EntryQuiz:
    """The quiz that judges pass first; made by `validate gold quiz`, or on the page of the gold items."""

    name: str = option(kinds.label(), default="judge", help="its name")
    questions: int = option(kinds.whole(1, 100), default=5, help="how many gold questions it asks")
    right: int = option(kinds.whole(1, 100), default=3, help="how many of them must be right")

    def check(self) -> Iterator[Fault]:
        """Compare what must be right with what is asked."""
        if self.right > self.questions:
            yield Fault(
                "is {right}, more than the {questions} questions",
                right=self.right,
                questions=self.questions,
                field="right",
            )


@specification
class JudgeReward:
    """What a full page pays, in minor units; part of a page pays its share."""

    amount: int = option(
        kinds.money(),
        default=0,
        title=N_("Pay for a full page"),
        help=N_("Part of a page pays its share, rounded up."),
    )
    currency: str = option(kinds.currency(), default="USD", title=N_("Currency"))
    quiz: int = option(
        kinds.money(),
        default=0,
        title=N_("Pay for the entry quiz"),
        help=N_("Once, whether or not it is passed; for a quiz that is made from gold items from now on."),
    )

    def for_items(self, answered: int, size: int) -> Money:
        """Return what *answered* items of pages of *size* pay, rounded up.

        >>> str(JudgeReward(25).for_items(3, 10))
        '0.08 USD'
        """
        return Money(-(-self.amount * answered // size), self.currency)


@specification
class UnqualifyRule(Record):
    """When a judge is unqualified; never on fewer than *least* compared judgements.

    - `disagreement`: the share of items on which the majority of the others said otherwise is above *limit*;
    - `wilson`: the upper Wilson bound of the agreement with the others is below *limit*;
    - `posterior`: the accuracy is below *limit* with probability *confidence*, by the one-coin model;
    - `gold`: the accuracy on gold items is below *limit*.
    """

    rule: RuleName = option(kinds.one_of(RULE_NAMES), default="disagreement", help="which rule")
    limit: float = option(kinds.fraction(), default=0.8, help="its limit, see below")
    least: int = option(kinds.whole(1, 1_000_000), default=10, help="judgements to compare at least")
    confidence: float = option(
        kinds.number(0.5, 0.999999), default=0.95, help="how sure `wilson` and `posterior` must be"
    )

    def __str__(self) -> str:
        words = {
            "disagreement": f"disagreed with the majority of the others on more than {self.limit:.0%}",
            "wilson": f"agreement surely below {self.limit:.0%} (Wilson, {self.confidence:.0%})",
            "posterior": f"accuracy below {self.limit:.0%} with probability {self.confidence:.0%}",
            "gold": f"right on less than {self.limit:.0%} of the gold items",
        }
        return words[self.rule]


@specification
class ValidationPolicy:
    """How items are judged. Made from TOML by `quintain.services.validate.policy.parse_policy`."""

    judgements: int = option(
        kinds.whole(1, 100),
        default=5,
        title=N_("Judgements of an item"),
        help=N_("With adaptive asking, at most so many."),
        section="what",
    )
    minimum: int = option(
        kinds.whole(1, 100),
        default=3,
        title=N_("Votes that a label needs"),
        help=N_("Else the item has no majority; a tie is none either."),
        section="what",
    )
    method: str = option(
        kinds.name(),
        default="majority",
        title=N_("What makes labels of judgements"),
        section="more",
        help=N_("Any method of “quintain labels”, of the judgements that are kept."),
    )
    writer: bool = option(
        kinds.flag(),
        default=False,
        title=N_("The writer’s label is a vote"),
        help=N_("Where an item has a writer who aimed at a label."),
        section="what",
    )
    setting: int = option(
        kinds.whole(0, 100),
        default=0,
        title=N_("Judgements that set a label"),
        help=N_("Drawn by the seed; those beyond measure people. 0 for all."),
        section="more",
    )
    page_size: int = option(kinds.whole(1, 100), default=10, title=N_("Items on a page"), section="what")
    lease_seconds: int = option(
        kinds.whole(10, 86_400),
        default=900,
        title=N_("Seconds that a page is held"),
        help=N_("Without a sign of life."),
        section="more",
    )
    batch_size: int = option(kinds.whole(1, 10_000_000), default=4000, help="items after which the judges are reviewed")
    items: Source = option(
        kinds.one_of(SOURCES),
        default="all",
        title=N_("Which texts are judged"),
        section="what",
        help=N_("“fooling” leaves out those that did not fool the model."),
    )
    unfooled: float = option(
        kinds.fraction(above=True),
        default=1.0,
        title=N_("Share of those that did not fool the model"),
        section="what",
        help=N_("The share that is judged, drawn by the validation's seed."),
    )
    seconds_per_item: float = option(
        kinds.number(0.1, 36_000),
        default=12.0,
        title=N_("Seconds for an item"),
        help=N_("The owner's estimate, until there are times."),
        section="more",
    )
    automatic: bool = option(
        kinds.flag(),
        default=True,
        title=N_("Unqualify judges by the rules after every batch"),
        help=N_("Else the owner is only told."),
        section="more",
    )
    adaptive: Adaptive | None = option(
        table(Adaptive), default=None, help="ask for no more judgements than are needed, see below"
    )
    often: Often | None = option(
        table(Often), default=None, title=N_("A sample is judged more often"), section="more", control="often_"
    )
    gold: GoldPolicy = option(table(GoldPolicy), default=GoldPolicy(), help="items with known labels")
    quiz: EntryQuiz | None = option(table(EntryQuiz), default=None, help="the quiz that judges pass first")
    reward: JudgeReward = option(table(JudgeReward), default=JudgeReward(), section="what", control="pay_")
    entry: Entry | None = option(
        table(Entry), default=None, title=N_("Judges from a panel"), section="more", control="entry_"
    )
    rules: tuple[UnqualifyRule, ...] = option(
        tables(UnqualifyRule), default=(UnqualifyRule(),), help="who is unqualified, see below"
    )

    def check(self) -> Iterator[Fault]:
        """Compare how many are asked for with how many are needed."""
        most, minimum = self.judgements, self.minimum
        least = self.adaptive.least if self.adaptive else minimum
        yield from self._too_many()
        if self.items == "fooling" and self.unfooled < 1:
            yield Fault(
                'is {share:g}, and items = "fooling" takes none of them; leave one of the two out',
                share=self.unfooled,
                field="unfooled",
            )
        if least < minimum <= most:
            yield Fault(
                "is {least}, fewer than the {minimum} votes that a label needs ('minimum'), so that items would end "
                "without one; set adaptive.least = {minimum}, or minimum = {least}",
                least=least,
                minimum=minimum,
                field="adaptive.least",
            )
        if self.adaptive and least > most:
            yield Fault(
                "is {n}, more than the {most} judgements of an item", n=least, most=most, field="adaptive.least"
            )

    def _too_many(self) -> Iterator[Fault]:
        """Find more votes asked for than there can be."""
        votes = self.votes_of(self.judgements)
        if self.minimum > votes:
            yield Fault("is {n}, more than the {most} votes on an item", n=self.minimum, most=votes, field="minimum")
        if self.often is None:
            return
        if self.often.judgements <= self.judgements:
            yield Fault(
                "is {n}, and all items get {most} judgements",
                n=self.often.judgements,
                most=self.judgements,
                field="often.judgements",
            )
        votes = self.votes_of(self.often.judgements)
        if self.often.minimum > votes:
            yield Fault(
                "is {n}, more than the {most} votes on an item", n=self.often.minimum, most=votes, field="often.minimum"
            )

    def votes_of(self, judgements: int) -> int:
        """Return how many votes set the label of an item with so many *judgements*, its writer's among them."""
        return (min(judgements, self.setting) if self.setting else judgements) + self.writer

    @property
    def unfooled_share(self) -> float:
        """Which share of the attempts that did not fool the model is judged: none where only the others are."""
        return 0.0 if self.items == "fooling" else self.unfooled

    @property
    def first_slots(self) -> int:
        """How many judgements are asked for before anything is known."""
        return min(self.adaptive.least, self.judgements) if self.adaptive else self.judgements

    @property
    def every_rule(self) -> tuple[UnqualifyRule, ...]:
        """The rules, and the one that the gold section stands for."""
        return (*self.rules, UnqualifyRule("gold", self.gold.below, self.gold.after))
