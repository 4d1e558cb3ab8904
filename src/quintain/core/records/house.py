"""What waits for somebody, and what moved last: what the front page says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from quintain.core.records.base import Record


class WaitingKind(StrEnum):
    """What somebody is to do next, or to know."""

    WRITE = "write"
    JUDGE = "judge"
    OPEN = "open"  # a round that is a draft
    VALIDATE = "validate"  # let people judge what was written
    ADJUDICATE = "adjudicate"
    INPUTS = "inputs"  # decide who reads the inputs of a data set
    RELEASE = "release"
    TRAIN = "train"
    NEXT_ROUND = "next_round"
    CONTRAST = "contrast"  # edit an example of a test set
    CHECK = "check"  # check what others edited
    CODE = "code"  # sort items of a sample into categories
    SETTLE = "settle"  # decide on edits that people disagree on
    TRIAL = "trial"  # enter a trial, or go on with it
    GRADE = "grade"  # grade items of a trial by its rubric
    CLOSE_STAGE = "close_stage"  # people of a trial wait for its owner
    CONTEST = "contest"  # join a contest
    BUILD = "build"  # hand a system in
    ANSWER_PAIRS = "answer_pairs"  # hand the answers to breakers' pairs in
    BREAK = "break"  # write pairs that break systems
    JUDGE_PAIRS = "judge_pairs"
    RULE = "rule"  # decide on contested pairs
    FAILED_RUN = "failed_run"
    APPROVE_PAY = "approve_pay"
    PAID = "paid"


@dataclass(frozen=True, slots=True)
class Errand(Record):
    """One thing that waits: of which task, what it is called, and the page on which it is done.

    *begun* says that the person is in the middle of it. *count* counts items, runs or payments, where there are some;
    *money* is what they add up to.
    """

    kind: WaitingKind
    task: str
    name: str
    url: str
    begun: bool = False
    count: int | None = None
    money: str = ""


@dataclass(frozen=True, slots=True)
class Errands(Record):
    """What waits for whoever asks: first what they have begun, then work, then what they should know."""

    waiting: list[Errand]


class MovementKind(StrEnum):
    """What moves a post."""

    RELEASE = "release"
    MODEL = "model"
    ROUND = "round"


@dataclass(frozen=True, slots=True)
class Movement(Record):
    """The last thing that moved a task: a release, a model that came, a round that closed."""

    kind: MovementKind
    name: str
    at: datetime
