"""A cell of evaluation: where it stands, and the variants of data that are not perturbed."""

from __future__ import annotations

from enum import StrEnum

PLAIN = "plain"
MEASURE = "measure"  # a sample, run while nothing else does


class CellState(StrEnum):
    """Where a cell stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether nobody works on it any more, or will."""
        return self not in WAITING


WAITING = (CellState.QUEUED, CellState.RUNNING)
