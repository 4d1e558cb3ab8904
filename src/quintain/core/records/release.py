"""Releases: what a validation's items became, and the number that proves each property."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from quintain.core.records.base import Record, left_out
from quintain.core.records.figures import Estimate


@dataclass(frozen=True, slots=True)
class ReleaseSplit(Record):
    """One data set of a release.

    *labels* counts items by final label, *votes* the kept votes for every label, and *flags* the items of train that
    dev and test may not have, by the reason. *f1* is the model's, by class. *agreement* is the smallest share of votes
    that any item's label has. *even* has, for every attribute that was made even, its values and how often each
    occurs in each class.
    """

    split: str
    dataset: str
    role: str
    hidden: bool
    rows: int
    labels: Mapping[str, int]
    undecided: int
    votes: Mapping[str, int]
    flags: Mapping[str, int]
    f1: Mapping[str, float]
    agreement: float | None
    writers: int
    even: Mapping[str, Mapping[str, Mapping[str, int]]]


@dataclass(frozen=True, slots=True)
class AttributeGain(Record):
    """How much better than chance an attribute predicts the class in dev and test; *even* says it was made so."""

    attribute: str
    accuracy: float
    chance: float
    gain: float
    even: bool


@dataclass(frozen=True, slots=True)
class ReleaseExample(Record):
    """A short text whose label is open: what the model said, the label (None: no majority), the votes."""

    split: str
    predicted: str
    label: str | None
    text: str
    votes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ReleasePeople(Record):
    """Who made the labels of a release, and how.

    Of *everybody* who judged, the judgements of *judges* count (of older releases only those are known): *kept* of
    *given*; *set_aside* are those of *unqualified* judges, whose rules *rules* counts. Had
    those stayed, and had their judgements not been made up for, *other_label* items would have another label,
    *no_label* none, and *new_label* one where there is none now; *compared* items have a judgement of theirs.
    *per_item*, *minimum*, *method*, *unfooled* (the share of attempts that did not fool and were judged) and *reward*
    (of a page of *page_size*) are the policy's, and so is whether the *writer* has a vote. *often* items were judged
    more often than others, by *often_judgements* people each.
    """

    writers: int
    judges: int
    given: int
    kept: int
    set_aside: int
    unqualified: int
    rules: Mapping[str, int]
    compared: int
    other_label: int
    no_label: int
    new_label: int
    seconds: float | None
    per_item: int
    minimum: int
    method: str
    unfooled: float
    reward: str
    page_size: int
    writer: bool = False
    often: int = 0
    often_judgements: int = 0
    everybody: int = 0


@dataclass(frozen=True, slots=True)
class ReleaseHuman(Record):
    """How well people do on a data set of a release, by their own judgements, and how far they agree.

    *items* have a label and judgements. The judgements of each are shuffled and dealt to so many synthetic *annotators*
    (0 where nobody was scored): *f1* of every class and its *average* are means over those, which is a conservative
    estimate. Of the *workers* who judged them, so many *never_disagreed* with a label. *split* is empty for all
    together.
    """

    split: str
    items: int
    annotators: int
    f1: Mapping[str, Estimate]
    average: Estimate
    fleiss_kappa: Estimate
    workers: int
    never_disagreed: int


@dataclass(frozen=True, slots=True)
class ReleaseReport(Record):
    """What a release is made of, and the number for every property.

    *model* is the one that is at chance, or empty. *shared_writers* have items in more than one of the data sets.
    *left_out* counts items that are in none of them, by the reason. *is_proved* says whether no larger dev and test
    exist, where they were to be as large as they can be. *examples* are random short ones for every prediction and
    label; *people* says who judged, and *human* how well they do on each split, the last over all. *answers* are those
    to the datasheet's open questions, as they were when it was made. Releases that are older have none of these.
    """

    validation: str
    items: int
    model: str
    splits: list[ReleaseSplit]
    gains: list[AttributeGain]
    shared_writers: int
    left_out: Mapping[str, int]
    is_proved: bool
    examples: list[ReleaseExample] = field(default_factory=list)
    people: ReleasePeople | None = None
    human: list[ReleaseHuman] = field(default_factory=list)
    answers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConstraintCost(Record):
    """What a constraint costs: what there would be with the next *weaker* value in place of its *value*.

    *held_out* are the items that dev and test could have together at most, and *costs_held_out* how many more these are
    than now; *kept* are the items in any of the data sets, and *costs_kept* how many more.
    """

    constraint: str
    value: str
    weaker: str
    held_out: int
    costs_held_out: int
    kept: int
    costs_kept: int


@dataclass(frozen=True, slots=True)
class ReleaseCosts(Record):
    """What dev and test could have at most (*held_out*), what is *kept* in any data set, and what constraints cost."""

    held_out: int
    kept: int
    constraints: list[ConstraintCost]


@dataclass(frozen=True, slots=True)
class Release(Record):
    """A release: by what specification, what came of it, and its data set versions by split.

    *number* is None, and there are no versions, where it was only looked at; *costs* are there only then. *new* is
    false where the same release was there already.
    """

    validation: str
    number: int | None
    spec: Mapping[str, Any]
    report: ReleaseReport
    versions: Mapping[str, str] = field(default_factory=dict)
    created_at: datetime | None = None
    new: bool = True
    costs: ReleaseCosts | None = left_out()


@dataclass(frozen=True, slots=True)
class DatasheetText(Record):
    """The answers to the open questions of a task's datasheets, as a TOML file, and those that have none.

    *revision* is what an edit brings back.
    """

    task: str
    toml: str
    open: list[str]
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Releases(Record):
    """The releases of a validation, the newest first."""

    releases: list[Release]
