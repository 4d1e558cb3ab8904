"""A round of collecting: what its owner decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, get_args

from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault
from quintain.core.records.base import Record
from quintain.core.spec import N_, any_tables, option, specification, table, tables, twice

TargetMode = Literal["one", "random", "ensemble", "best", "none"]
FooledRule = Literal["task", "differs", "token_f1", "worker"]
Aiming = Literal["choose", "assign"]
Provider = Literal["prolific", "panel", "mturk", "link"]

FOOLED_RULES: tuple[FooledRule, ...] = get_args(FooledRule)
FLAGS = {"offensive": N_("texts that may hurt"), "personal": N_("texts that may hold personal data")}
MAX_TEXT = 50_000


class RoundState(StrEnum):
    """Where a round stands."""

    DRAFT = "draft"
    OPEN = "open"
    CLOSED = "closed"


class RoundKind(StrEnum):
    """Where the texts of a round are from: people write them, or they are harvested from a corpus."""

    WRITING = "writing"
    HARVEST = "harvest"


@dataclass(frozen=True, slots=True)
class Money(Record):
    """An amount in minor units (cents), so that sums are exact.

    >>> str(Money(30, "USD")), str(Money(1250, "JPY"))
    ('0.30 USD', '1250 JPY')
    """

    amount: int = 0
    currency: str = "USD"

    def __str__(self) -> str:
        digits = MINOR_DIGITS.get(self.currency, 2)
        if not digits:
            return f"{self.amount} {self.currency}"
        whole, rest = divmod(abs(self.amount), 10**digits)
        return f"{'-' if self.amount < 0 else ''}{whole}.{rest:0{digits}d} {self.currency}"


# Currencies without two decimal places (ISO 4217).
MINOR_DIGITS: Mapping[str, int] = {
    **dict.fromkeys(("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV"), 0),
    **dict.fromkeys(("XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
}


@specification
class Targets:
    """The model or models to fool: one, one of several at random, all of several at once, the board's best, or none."""

    mode: TargetMode = option(
        kinds.one_of(
            {
                "one": N_("one model"),
                "random": N_("one of several, at random"),
                "ensemble": N_("several, all to be fooled at once"),
                "best": N_("the first of the board that day"),
                "none": (N_("none"), N_("People write without a model: nothing is asked, and no verdict is shown.")),
            },
            cards=True,
        ),
        default="one",
        title=N_("Target"),
    )
    models: tuple[str, ...] = option(kinds.texts(50, offered=True), default=(), title=N_("Models"))

    def check(self) -> Iterator[Fault]:
        """Count the models."""
        count = len(self.models)
        if self.mode == "best" and count:
            yield Fault("is given, and mode 'best' takes the first of the board; leave it out", field="models")
        if self.mode == "none" and count:
            yield Fault("is given, and mode 'none' asks no model; leave it out", field="models")
        if self.mode == "one" and count != 1:
            yield Fault("names {count} models, and mode 'one' takes exactly one", count=count, field="models")
        if self.mode in {"random", "ensemble"} and count < 2:
            yield Fault(
                "names {count} models, and mode '{mode}' takes at least two",
                count=count,
                mode=self.mode,
                field="models",
            )

    @property
    def has_model(self) -> bool:
        """Whether there is a model to fool."""
        return self.mode != "none"


@specification
class Fooled:
    """When a model counts as fooled: as the task says, another answer, token F1 below *threshold*, or by the worker."""

    rule: FooledRule = option(
        kinds.one_of(
            {
                "task": N_("as the task says"),
                "differs": N_("its answer differs from the one aimed at"),
                "token_f1": N_("token F1 stays under the threshold"),
                "worker": N_("the writer says so"),
            }
        ),
        default="task",
        title=N_("It counts as fooled when"),
        control="fooled",
    )
    threshold: float = option(
        kinds.number(0, 1, above=True),
        default=0.4,
        title=N_("Token F1 threshold"),
        help=N_("Only where token F1 decides."),
    )


@specification
class Condition:
    """A way of writing: with a *prompt* to edit, or from nothing. Workers are drawn for one by *weight*."""

    name: str = option(kinds.name(40), help="What the condition is called")
    prompt: bool = option(kinds.flag(), default=True, help="Whether writers edit a prompt, or start from nothing")
    weight: int = option(kinds.whole(1, 1000), default=1, help="How many writers are drawn for it, beside the others")


@specification
class Reward:
    """What one finished session pays (*amount*), and what an example that other people confirm adds (*bonus*)."""

    amount: int = option(
        kinds.money(),
        default=0,
        title=N_("Reward for a finished session"),
        control="reward",
    )
    bonus: int = option(kinds.money(), default=0, title=N_("Bonus for an example that others confirm"))
    currency: str = option(kinds.currency(), default="USD", title=N_("Currency"))

    @property
    def base(self) -> Money:
        """What a finished session pays, fooled or not."""
        return Money(self.amount, self.currency)


@specification
class Caps:
    """How many sessions may be begun in a day (UTC): by one worker, and in the round. None is no limit."""

    worker: int | None = option(kinds.whole(1, 10**6), default=None, title=N_("Sessions a day for one worker"))
    round: int | None = option(kinds.whole(1, 10**9), default=None, title=N_("Sessions a day for the round"))


@specification
class WritingAids:
    """What writers are shown if they wish: which words moved the model, and examples of others that fooled it."""

    occlusion: bool = option(kinds.flag(), default=False, title=N_("Show which words moved the model"))
    inspiration: bool = option(kinds.flag(), default=False, title=N_("Show examples of others that fooled it"))


@specification
class Asks:
    """What writers are asked after an attempt fools the model; a justification is asked for with every attempt."""

    confirm: bool = option(
        kinds.flag(), default=True, title=N_("a confirmation that other people would give the label")
    )
    reason: bool = option(kinds.flag(), default=False, title=N_("why the model failed"))
    tags: tuple[str, ...] = option(kinds.texts(100), default=(), title=N_("Phenomenon tags to choose from"))
    justification: bool = option(
        kinds.flag(),
        default=False,
        title=N_("with every text, one to three sentences on what makes it hard"),
        help=N_("Those that say nothing, or repeat another, are not taken."),
    )
    types: tuple[str, ...] = option(
        kinds.texts(20),
        default=(),
        title=N_("Types, of which every text must be one"),
        help=N_("The texts of a session are of different types, as long as there are some left."),
    )


@specification
class Entry:
    """How workers of a panel come in and are sent back; *completion_url* may contain {id}, {code} and {session}."""

    provider: Provider = option(
        kinds.one_of(
            {
                "prolific": "Prolific",
                "panel": N_("another panel"),
                "mturk": "Mechanical Turk (ExternalQuestion)",
                "link": N_("nobody: whoever has the link takes part"),
            }
        ),
        title=N_("Panel"),
    )
    study: str = option(
        kinds.text(200), default="", title=N_("Study"), help=N_("Only people of this study are let in; empty for any.")
    )
    id_parameter: str = option(
        kinds.text(40, 1),
        default="id",
        title=N_("Parameter with the person’s id"),
        help=N_("For another panel than Prolific or Mechanical Turk."),
    )
    completion_code: str = option(kinds.text(80), default="", title=N_("Completion code"))
    completion_url: str = option(
        kinds.address(), default="", title=N_("Completion address"), help=N_("May contain {id}, {code} and {session}.")
    )
    signed: bool = option(
        kinds.flag(),
        default=False,
        title=N_("The panel signs its links"),
        help=N_("With the key of the task; who comes by a link that is not signed is turned away."),
    )


@specification
class RoundSpec:
    """What a round asks. Made from a TOML file by `quintain.services.collect.rounds.definition.parse_round`.

    *scripts* are by their Unicode names; *qualifications* are rules of `quintain.services.work.qualify`.
    """

    task: str = option(kinds.text(80, 1), help="The task's name")
    title: str = option(kinds.text(200, 1), title=N_("Title"), section="what")
    number: int | None = option(
        kinds.whole(1, 10**6), default=None, help="Which round of the task it is; the next one by default"
    )
    instructions: str = option(
        kinds.text(MAX_TEXT),
        default="",
        title=N_("Instructions for this round"),
        help=N_("Markdown. Those of the task are shown too."),
        section="what",
    )
    targets: Targets = option(table(Targets), default=Targets(), title=N_("The model to fool"), section="models")
    fooled: Fooled = option(table(Fooled), default=Fooled(), section="models")
    conditions: tuple[Condition, ...] = option(
        tables(Condition, least=1), default=(Condition("prompt"),), title=N_("Writers start from")
    )
    aiming: Aiming = option(
        kinds.one_of(
            {
                "choose": N_("the writer chooses"),
                "assign": (N_("it is given"), N_("Labels are handed out in turn.")),
            },
            cards=True,
        ),
        default="choose",
        title=N_("The label to aim at"),
        section="what",
    )
    attempts: int = option(
        kinds.whole(1, 100), default=10, title=N_("Attempts in a session"), section="what", written=True
    )
    keep_nonfooling: bool = option(
        kinds.flag(), default=True, title=N_("Keep attempts that do not fool the model"), section="what", written=True
    )
    minutes: float = option(
        kinds.number(0, 600, above=True),
        default=5.0,
        title=N_("Minutes that a session takes"),
        help=N_("An estimate, until enough sessions have been timed."),
        section="what",
    )
    reward: Reward = option(table(Reward), default=Reward(), section="pay")
    caps: Caps = option(table(Caps), default=Caps(), section="pay", control="cap_")
    sessions: int | None = option(
        kinds.whole(1, 10**6),
        default=None,
        title=N_("Sessions of one person in all"),
        help=N_("One that was ended early counts, too, if anything was written in it."),
        section="pay",
    )
    wanted: int | None = option(
        kinds.whole(1, 10**7), default=None, title=N_("Texts after which no session begins"), section="pay"
    )
    starts: datetime | None = option(kinds.moment(), default=None, title=N_("Begins (UTC)"), section="pay")
    ends: datetime | None = option(kinds.moment(), default=None, title=N_("Ends (UTC)"), section="pay")
    content_warning: str = option(
        kinds.text(MAX_TEXT),
        default="",
        title=N_("Content warning"),
        help=N_("Shown before anything else, with a way out that costs nothing."),
        section="care",
    )
    consent: str = option(kinds.text(MAX_TEXT), default="", title=N_("Consent text"), section="care")
    scripts: tuple[str, ...] = option(
        kinds.texts(20, offered=True),
        default=(),
        title=N_("Scripts that texts may be written in"),
        help=N_("None chosen: any."),
        section="texts",
    )
    flags: tuple[str, ...] = option(
        kinds.some_of(FLAGS), default=tuple(FLAGS), title=N_("Put into your queue"), section="texts"
    )
    helps: WritingAids = option(
        table(WritingAids), default=WritingAids(), title=N_("Helps for writers"), section="care"
    )
    asks: Asks = option(table(Asks), default=Asks(), title=N_("After fooling the model, ask for"), section="care")
    quizzes: tuple[str, ...] = option(
        kinds.texts(20, offered=True), default=(), title=N_("Quizzes to pass first"), section="who"
    )
    listed: bool = option(kinds.flag(), default=True, title=N_("Everybody finds it in lists of rounds"), section="who")
    qualifications: tuple[Mapping[str, Any], ...] = option(any_tables(), default=(), title=N_("Who may write"))
    entry: Entry | None = option(
        table(Entry), default=None, title=N_("Workers from a panel"), section="entry", control="entry_"
    )

    def check(self) -> Iterator[Fault]:
        """Compare names and moments."""
        for name in twice([condition.name for condition in self.conditions]):
            yield Fault("'{name}' is given twice", name=name, field="conditions")
        if not self.targets.has_model and not self.keep_nonfooling:
            yield Fault("without a model to fool, nothing would be kept", field="keep_nonfooling")
        if self.starts and self.ends and self.starts >= self.ends:
            yield Fault("is not after 'starts'", field="ends")

    def condition(self, name: str) -> Condition:
        """Return the condition called *name*."""
        return next(condition for condition in self.conditions if condition.name == name)
