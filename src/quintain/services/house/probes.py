"""Whether all parts work, within a moment whatever hangs: each part is tried in a thread of its own.

A part that does not answer in time counts as one that does not work, and is not tried again before it has answered: any
number of people may ask meanwhile, and none of them waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field

from quintain.services.house.health import HealthCheck, HouseReadiness

FRESH_S = 1.0  # how long an answer holds: each look writes to the disk
PATIENCE_S = 1.5  # orchestrators wait for two seconds, or even one
log = logging.getLogger("quintain")

Probe = Callable[[], HouseReadiness]


@dataclass(slots=True)
class Trial:
    """One try of a part: when it began, and what comes of it."""

    begun: float = field(default_factory=time.monotonic)
    outcome: Future[HouseReadiness] = field(default_factory=Future)
    reported: bool = False  # that it hangs stands in the log

    @property
    def is_over(self) -> bool:
        """Whether there is an answer that is no news any more."""
        return self.outcome.done() and time.monotonic() >= self.begun + FRESH_S

    @property
    def patience(self) -> float:
        """For how many seconds more somebody may be let wait for it."""
        return max(0.0, self.begun + PATIENCE_S - time.monotonic())


class Watch:
    """Remembers for a moment whether all parts work; *probes* try a part each, by its name."""

    def __init__(self, probes: Mapping[str, Probe]) -> None:
        self._probes = probes
        self._lock = threading.Lock()
        self._trials: dict[str, Trial] = {}

    def readiness(self) -> HouseReadiness:
        """Return what was seen a moment ago, or is seen within PATIENCE_S."""
        trials = self._begin()
        pending = _pending(trials)
        wait([trial.outcome for trial in pending], timeout=_patience(pending))
        return self._answer(trials)

    async def readiness_beside(self) -> HouseReadiness:
        """Return the same without holding a thread, of which requests that hang may have taken all."""
        trials = self._begin()
        pending = _pending(trials)
        if pending:
            await asyncio.wait([asyncio.wrap_future(trial.outcome) for trial in pending], timeout=_patience(pending))
        return self._answer(trials)

    def _begin(self) -> dict[str, Trial]:
        """Begin to try those parts whose last answer is old."""
        with self._lock:
            for name, probe in self._probes.items():
                if name not in self._trials or self._trials[name].is_over:
                    trial = self._trials[name] = Trial()
                    threading.Thread(
                        target=_try, args=(probe, trial.outcome), name=f"probe {name}", daemon=True
                    ).start()
            return dict(self._trials)

    def _answer(self, trials: Mapping[str, Trial]) -> HouseReadiness:
        parts = [_seen(name, trial) for name, trial in trials.items()]
        return HouseReadiness(
            [check for part in parts for check in part.checks], [loop for part in parts for loop in part.loops]
        )


def _try(probe: Probe, outcome: Future[HouseReadiness]) -> None:
    try:
        part = probe()
    except Exception as error:  # whatever it is, whoever asks hears that this part does not work
        outcome.set_exception(error)
        return
    for check in part.checks:
        if not check.ok:  # who asks for it from outside is not told where things are
            log.warning("%s: %s", check.name, check.detail)
    outcome.set_result(part)


def _seen(name: str, trial: Trial) -> HouseReadiness:
    """Return what came of a try; of one that still goes on, that it does not answer."""
    if not trial.outcome.done():
        if not trial.reported:
            log.warning("%s: has not answered for %s seconds", name, PATIENCE_S)
        trial.reported = True
        return HouseReadiness([HealthCheck(name, False, "does not answer", "does not answer")], [])
    error = trial.outcome.exception()
    if error is not None:
        return HouseReadiness([HealthCheck(name, False, type(error).__name__, "failed")], [])
    return trial.outcome.result()


def _pending(trials: Mapping[str, Trial]) -> list[Trial]:
    """List those that are worth waiting for: one that has hung for too long already is not."""
    return [trial for trial in trials.values() if not trial.outcome.done() and trial.patience > 0]


def _patience(pending: Sequence[Trial]) -> float:
    return max((trial.patience for trial in pending), default=0.0)
