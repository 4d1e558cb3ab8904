"""What studies of data sets and of errors find."""

from __future__ import annotations

from dataclasses import dataclass

from quintain.core.records.base import Record
from quintain.core.records.figures import Estimate

MOST_SETS = 12  # data sets that are compared at a time


@dataclass(frozen=True, slots=True)
class TransferCell(Record):
    """Learned from one data set and tried on another: mean over seeds with an interval over contexts, and deviation.

    *own* marks the diagonal, which is over folds; *outside* a data set that is only learned from (zero-shot).
    """

    train: str
    test: str
    accuracy: Estimate
    deviation: float
    runs: tuple[float, ...]
    own: bool = False
    outside: bool = False


@dataclass(frozen=True, slots=True)
class ErrorSlice(Record):
    """A part of the examples in which a model is weak, by a tag, an answer, a length or a word.

    *elsewhere* is how often it is right on all others, *z* how far both are apart in standard errors, *tested* how many
    slices were looked at, and *rows* the places of its examples.
    """

    kind: str
    name: str
    examples: int
    accuracy: Estimate
    elsewhere: float
    z: float
    tested: int
    rows: list[int]


@dataclass(frozen=True, slots=True)
class ModelPair(Record):
    """Two models on the same examples: who is right, where both are wrong alike or not, and whether one is better.

    *agree* is how often they say the same, *difference* that of their shares of right answers, *p* McNemar's.
    """

    examples: int
    both: int
    only_first: int
    only_second: int
    wrong_alike: int
    wrong_apart: int
    agree: Estimate
    difference: Estimate
    p: float


@dataclass(frozen=True, slots=True)
class CalibrationBin(Record):
    """Answers that a model gives about the same probability: their mean, and the share of people who give them."""

    believed: float
    people: Estimate
    answers: int


@dataclass(frozen=True, slots=True)
class HumanCalibration(Record):
    """A model's probabilities against people's shares.

    *error* is the calibration error against shares, *correlation* that of the entropies (Spearman), *divergence*
    Kullback and Leibler's in bits, *distance* the total variation and *floor* what it would be for a model that knew
    people's true shares; *people_on_top* is the share of people who give the model's answer, *confidence* its own.
    """

    examples: int
    error: Estimate
    correlation: Estimate
    divergence: Estimate
    distance: Estimate
    floor: float
    people_on_top: Estimate
    confidence: Estimate
    bins: list[CalibrationBin]
