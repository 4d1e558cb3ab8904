"""A round of collecting: what its owner decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, get_args

from quintain.core.records.base import Record

TargetMode = Literal["one", "random", "ensemble", "best"]
FooledRule = Literal["task", "differs", "token_f1", "worker"]
Aiming = Literal["choose", "assign"]
Provider = Literal["prolific", "panel", "mturk"]

TARGET_MODES: tuple[TargetMode, ...] = get_args(TargetMode)
FOOLED_RULES: tuple[FooledRule, ...] = get_args(FooledRule)
AIMINGS: tuple[Aiming, ...] = get_args(Aiming)
FLAGS = ("offensive", "personal")
PROVIDERS: tuple[Provider, ...] = get_args(Provider)


class RoundState(StrEnum):
    """Where a round stands."""

    DRAFT = "draft"
    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Targets:
    """The model or models to fool: one, one of several at random, all of several at once, or the board's best."""

    mode: TargetMode = "one"
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fooled:
    """When a model counts as fooled: as the task says, another answer, token F1 below *threshold*, or by the worker."""

    rule: FooledRule = "task"
    threshold: float = 0.4


@dataclass(frozen=True, slots=True)
class Condition:
    """A way of writing: with a *prompt* to edit, or from nothing. Workers are drawn for one by *weight*."""

    name: str
    prompt: bool = True
    weight: int = 1


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


@dataclass(frozen=True, slots=True)
class Reward:
    """What one finished session pays (*amount*), and what an example that other people confirm adds (*bonus*)."""

    amount: int = 0
    bonus: int = 0
    currency: str = "USD"

    @property
    def base(self) -> Money:
        """What a finished session pays, fooled or not."""
        return Money(self.amount, self.currency)


@dataclass(frozen=True, slots=True)
class Caps:
    """How many sessions may be begun in a day (UTC): by one worker, and in the round. None is no limit."""

    worker: int | None = None
    round: int | None = None


@dataclass(frozen=True, slots=True)
class Helps:
    """What writers are shown if they wish: which words moved the model, and examples of others that fooled it."""

    occlusion: bool = False
    inspiration: bool = False


@dataclass(frozen=True, slots=True)
class Asks:
    """What writers are asked after an attempt fools the model."""

    confirm: bool = True
    reason: bool = False
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """How workers of a panel come in and are sent back; *completion_url* may contain {id}, {code} and {session}."""

    provider: Provider
    study: str = ""
    id_parameter: str = "id"
    completion_code: str = ""
    completion_url: str = ""


@dataclass(frozen=True, slots=True)
class RoundSpec:
    """What a round asks. Made from a TOML file by `quintain.services.collect.definition.parse_round`.

    *minutes* is how long a session takes, for the hourly wage that is shown; *scripts* are those that a text may be
    written in, by their Unicode names; *flags* are what is looked for in texts, for the owner to see; *qualifications*
    are rules of `quintain.services.work.qualify`.
    """

    task: str
    title: str
    number: int | None = None
    instructions: str = ""
    targets: Targets = field(default_factory=Targets)
    fooled: Fooled = field(default_factory=Fooled)
    conditions: tuple[Condition, ...] = (Condition("prompt"),)
    aiming: Aiming = "choose"
    attempts: int = 10
    keep_nonfooling: bool = True
    minutes: float = 5.0
    reward: Reward = field(default_factory=Reward)
    caps: Caps = field(default_factory=Caps)
    starts: datetime | None = None
    ends: datetime | None = None
    content_warning: str = ""
    consent: str = ""
    scripts: tuple[str, ...] = ()
    flags: tuple[str, ...] = FLAGS
    helps: Helps = field(default_factory=Helps)
    asks: Asks = field(default_factory=Asks)
    quizzes: tuple[str, ...] = ()
    qualifications: tuple[Mapping[str, Any], ...] = ()
    entry: Entry | None = None

    def condition(self, name: str) -> Condition:
        """Give the condition called *name*."""
        return next(one for one in self.conditions if one.name == name)
