"""Hand coding: what people are asked, what they said, and the shares and the agreement that come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from quintain.core.records.base import Record
from quintain.core.records.figures import Estimate


@dataclass(frozen=True, slots=True)
class CodingProgress(Record):
    """How far a coding is: of *wanted* codes, one for each item and coder, *done* are there, by *coders* people."""

    items: int
    wanted: int
    done: int
    coders: int


@dataclass(frozen=True, slots=True)
class Coding(Record):
    """A coding: what it asks and where it stands."""

    ref: str
    task: str
    name: str
    title: str
    state: str
    categories: tuple[str, ...]
    several: bool
    coders: int
    created_at: datetime
    closed_at: datetime | None
    toml: str
    progress: CodingProgress
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Codings(Record):
    """The codings of a task."""

    codings: list[Coding]
    total: int


@dataclass(frozen=True, slots=True)
class ItemToCode(Record):
    """An item in somebody's hands: what it says, and never where it is from.

    *text* is the justification, where those are coded; *alike* are texts of the same sources that are nearly the same.
    *chosen* and *note* are what this person said of it before; *mine* counts what they have coded.
    """

    id: int
    coding: str
    inputs: Mapping[str, Any]
    answer: Any
    text: str
    alike: tuple[str, ...]
    chosen: tuple[str, ...] | None
    note: str
    lease_until: datetime | None
    mine: int


@dataclass(frozen=True, slots=True)
class ToCode(Record):
    """The next item to code; None where nothing is left for this person."""

    item: ItemToCode | None


@dataclass(frozen=True, slots=True)
class CategoryFigures(Record):
    """One category: the *share* of items, each weighing alike, and how far people agree on it.

    *share* is the mean over items of the part of their coders who said so. *most* counts the items of which more than
    half of their coders did, *any* those of which at least one did.
    """

    name: str
    share: Estimate
    most: int
    any: int
    alpha: Estimate


@dataclass(frozen=True, slots=True)
class ArmFigures(Record):
    """The items of one arm, and the share of each category in it."""

    arm: str
    items: int
    shares: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class ArmDifference(Record):
    """How much larger the share of a category is in arm *first* than in arm *second*."""

    category: str
    first: str
    second: str
    difference: Estimate


@dataclass(frozen=True, slots=True)
class CodedExample(Record):
    """An item that people put into a category: *votes* of *coders* of them."""

    category: str
    arm: str
    text: str
    votes: int
    coders: int


@dataclass(frozen=True, slots=True)
class CodingFigures(Record):
    """What came of a coding, from *codes* codes of *items* items by *coders* people, as of *at*.

    *alpha* and *agreement* are of all that was said of an item at once: two agree where they chose the same categories.
    *arms*, *differences* and *examples* are there once the coding is closed.
    """

    at: datetime
    items: int
    codes: int
    coders: int
    categories: list[CategoryFigures]
    alpha: Estimate
    agreement: Estimate
    arms: list[ArmFigures]
    differences: list[ArmDifference]
    examples: list[CodedExample]


@dataclass(frozen=True, slots=True)
class CodingResults(Record):
    """A coding with its figures, once there are some."""

    coding: Coding
    figures: CodingFigures | None
