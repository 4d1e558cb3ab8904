"""The time of simulated people: it passes as they work, without being waited for, and never runs ahead of ours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class SimulatedClock:
    """A clock that begins at *began* and stands still but for what somebody takes.

    >>> clock = SimulatedClock(datetime(2024, 5, 1, tzinfo=UTC))
    >>> clock.wait(90)
    >>> clock.wait_until(days=1)
    >>> clock.wait_until(days=0.5)
    >>> clock().isoformat()
    '2024-05-02T00:00:00+00:00'
    """

    def __init__(self, began: datetime) -> None:
        self._began = self._moment = began

    def __call__(self) -> datetime:
        """Return the moment by this clock."""
        return self._moment

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self._go(self._moment + timedelta(seconds=seconds))

    def wait_until(self, *, days: float) -> None:
        """Let time pass until so many days after the beginning, unless it is later already."""
        self._go(self._began + timedelta(days=days))

    def _go(self, moment: datetime) -> None:
        self._moment = max(self._moment, min(moment, datetime.now(UTC)))
