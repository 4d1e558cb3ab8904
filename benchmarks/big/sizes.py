"""How large the workspace is: the full size, or a part of it."""

from __future__ import annotations

from dataclasses import dataclass

TASK = "big"
DATASETS = 5
SLOTS = 5
PAGE = 10  # items of a judging page, the last of them gold
REGULAR = PAGE - 1
ALLOWED = 10  # attempts of a writing session
PER_SESSION = 5  # of which so many were used
JUDGEMENTS = 1_100_000  # at full size, about


@dataclass(frozen=True, slots=True)
class Size:
    """Numbers of everything: *share* of the full size, and *judging* times that of what is written and judged."""

    share: float
    judging: float = 1.0

    def _part(self, full: int) -> int:
        return max(int(full * self.share), 1)

    @property
    def models(self) -> int:
        """Models on the board, with a version each."""
        return self._part(1000)

    @property
    def files(self) -> int:
        """Different files of predictions for each data set: models that answer alike share one."""
        return self._part(200)

    @property
    def rows(self) -> int:
        """Rows of each data set."""
        return self._part(200_000)

    @property
    def judged(self) -> int:
        """Attempts of the first round: every one of them is an item."""
        return int(self._part(200_000) * self.judging) // PER_SESSION * PER_SESSION

    @property
    def attempts(self) -> int:
        """Attempts of both rounds."""
        return self.judged + self._part(10_000) // PER_SESSION * PER_SESSION

    @property
    def writers(self) -> int:
        """People who wrote."""
        return self._part(5000)

    @property
    def judges(self) -> int:
        """People who judged: more of them where there is more to judge, since nobody meets a gold item twice."""
        return max(int(self._part(2000) * max(self.judging, 1.0)), SLOTS)

    @property
    def builders(self) -> int:
        """People whose models are on the board."""
        return self._part(200)

    @property
    def accounts(self) -> int:
        """All people, whatever they did."""
        return max(self._part(20_000), self.writers + self.judges + self.builders)

    @property
    def messages(self) -> int:
        """Messages to somebody who was here from the beginning."""
        return self._part(20_000)

    @property
    def pairs(self) -> int:
        """Pairs of a contest."""
        return self._part(20_000)

    @property
    def gold(self) -> int:
        """Gold items."""
        return max(self._part(1000), 60)
