"""What studies of data sets and of errors find."""

from __future__ import annotations

from dataclasses import dataclass

from quintain.core.records.base import Record
from quintain.core.records.figures import Estimate


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
