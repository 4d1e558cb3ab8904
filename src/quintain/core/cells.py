"""A cell of evaluation: where it stands."""

from __future__ import annotations

from enum import StrEnum


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
