"""How training goes on: what it starts from, when it is looked at, and when it stops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from quintain.models.contract import Progress, quiet


@dataclass(slots=True)
class Schedule:
    """What a training run is told, and how it tells how far it is.

    *epochs* is how often it goes through the examples; None leaves that to the learner. After each epoch *after* is
    called with its number; it says whether to stop. *at* are shares of training, from 0 to 1, after which *kept* is
    called with the share.
    """

    seed: int = 0
    epochs: int | None = None
    progress: Progress = quiet
    after: Callable[[int], bool] | None = None
    at: Sequence[float] = ()
    kept: Callable[[float], None] | None = None
    _passed: set[float] = field(default_factory=set)

    def epoch_done(self, number: int) -> bool:
        """Whether training stops after epoch *number*, counted from 1."""
        return self.after is not None and self.after(number)

    def due(self, done: float) -> list[float]:
        """Return the shares that have been passed once *done* of training is done, each once."""
        shares = [share for share in self.at if share <= done + 1e-9 and share not in self._passed]
        self._passed.update(shares)
        return shares

    def keep(self, share: float) -> None:
        """Hand over what has been learned so far."""
        if self.kept is not None:
            self.kept(share)


class BestSoFar:
    """Remembers the best score and how many epochs it has not been beaten for.

    >>> best = BestSoFar(patience=2)
    >>> [best.seen(score) for score in (0.5, 0.4, 0.6, 0.6, 0.1)]
    [True, False, True, False, False]
    >>> best.is_over
    True
    """

    def __init__(self, patience: int | None) -> None:
        self.patience = patience
        self.score = float("-inf")
        self.since = 0

    def seen(self, score: float) -> bool:
        """Take the score of one more epoch; True where it is the best so far."""
        better = score > self.score
        self.score, self.since = (score, 0) if better else (self.score, self.since + 1)
        return better

    @property
    def is_over(self) -> bool:
        """Whether there has been no gain for as long as patience lasts."""
        return self.patience is not None and self.since >= self.patience
