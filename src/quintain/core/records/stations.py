"""The five stations of a round: write, judge, label, release, next model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from quintain.core.records.base import Record


class StationName(StrEnum):
    """A station of a round, in the order that a text passes them."""

    WRITE = "write"
    JUDGE = "judge"
    LABEL = "label"
    RELEASE = "release"
    MODEL = "model"


class StationStep(StrEnum):
    """What is to be done at a station next."""

    OPEN = "open"  # let people write
    WRITE = "write"
    VALIDATE = "validate"  # let people judge
    JUDGE = "judge"
    ADJUDICATE = "adjudicate"
    RELEASE = "release"
    TRAIN = "train"
    NEXT_ROUND = "next_round"


@dataclass(frozen=True, slots=True)
class Station(Record):
    """One station: whether a round is past it, and how much there is.

    *count* are texts, judgements or items with a label, of *total* where that is known; *refs* the data set versions of
    the newest release, or the models that were trained on it. Where it was not *counted* yet, both are 0.
    """

    name: StationName
    done: bool
    count: int
    total: int | None
    refs: list[str]
    counted: bool = True


@dataclass(frozen=True, slots=True)
class Stations(Record):
    """Where a round stands: its stations, the one it is at, and the step to take; none where it has passed them all.

    *also* is what may be done instead: a round can be released while items are contested. The texts of a round of kind
    `harvest` come from a corpus: its first station is the harvest.
    """

    round: str
    kind: str
    stations: list[Station]
    now: StationName | None
    step: StationStep | None
    also: StationStep | None = None
