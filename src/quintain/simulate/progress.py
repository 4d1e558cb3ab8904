"""How much of the demo is built: every station takes its share of the time, by how much is harvested and written there.

Milliseconds are those of the processor for one text or judgement; only what they are to each other matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

JUDGEMENT, TEXT = 0.9, 13.0
STARTER, MODEL, HARVEST, CONTEST, TRIAL = 20.0, 110.0, 250.0, 600.0, 600.0
RELEASE = 250.0  # before the model that is trained on it


@dataclass(frozen=True, slots=True)
class TimedStation:
    """A station that the demo comes to, and the milliseconds that it takes."""

    station: str
    milliseconds: float


@dataclass(slots=True)
class BuildProgress:
    """The stages of a build in their order, and how far it is; stages that are passed over count as done."""

    stages: Sequence[TimedStation]
    at: int = -1
    share: float = 0.0
    fraction: float = 0.0

    def update(self, station: str, done: int, of: int) -> float:
        """Return the fraction of the build that is done when a *station* has done so much of its work; it never falls.

        A station that reports less than before has begun anew, and is the next one of its name.
        """
        share = min(done / of, 1.0) if of else 1.0
        if not self._is_at(station) or share < self.share:
            later = range(self.at + 1, len(self.stages))
            self.at = next((place for place in later if self.stages[place].station == station), self.at)
        if self._is_at(station):
            self.share = share
            passed = sum(stage.milliseconds for stage in self.stages[: self.at])
            whole = sum(stage.milliseconds for stage in self.stages)
            reached = (passed + self.stages[self.at].milliseconds * share) / whole
            self.fraction = max(self.fraction, reached)
        return self.fraction

    def _is_at(self, station: str) -> bool:
        return self.at >= 0 and self.stages[self.at].station == station
