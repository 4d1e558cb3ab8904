"""One process of a model, watched from its first request to its last: the same looks and pauses in every run.

Whether a process is scored, timed once more, asked again or meets perturbed examples, it is watched by this code: the
kernel's marks of memory are set back after loading and after the first request, in which many models load the rest of
themselves, and about once in a second, between two requests, we look at its memory and at the pace of the machine. So
nothing that happens to a model tells it which run it is in.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from quintain.engine.cutting import REPEATS
from quintain.engine.machine_load import LoadMark, busy_elsewhere, joules_between, mark_load, read_energy
from quintain.engine.pace import Pace
from quintain.engine.runner import ModelRunner
from quintain.engine.sandbox.process import Usage
from quintain.engine.sessions import Session, latency_quantiles

MARK_SECONDS = 1.0  # between two looks


@dataclass(frozen=True, slots=True)
class _Moment:
    """The counters at one moment."""

    cpu: float
    energy: dict[Path, tuple[int, int]]
    load: LoadMark


@dataclass(slots=True)
class SessionWatch:
    """What is seen of one process, which has just loaded its model; `begin` it before the first request.

    Its first *rows* examples are timed; *timed_out* is called once when they are over, and there are more.
    """

    runner: ModelRunner
    usage: Usage
    batch_size: int
    pace: Pace
    rows: int
    timed_out: Callable[[], None] = lambda: None
    _requests: list[tuple[int, int]] = field(default_factory=list)  # examples and nanoseconds
    _asked: int = 0  # examples that are timed
    _later: list[int] = field(default_factory=lambda: [0, 0])
    _lost: list[float] = field(default_factory=list)
    _lost_later: list[float] = field(default_factory=list)
    _failed: int = 0
    _loaded: int = 0  # samples of memory that were taken while it loaded
    _warmed: int = 0  # samples that were taken until its first request was over
    _looked: float = 0.0
    _start: _Moment | None = None
    _end: _Moment | None = None

    def begin(self) -> SessionWatch:
        """Take note that it has loaded, and set the marks of memory back."""
        self.runner.observe()
        self._loaded = len(self.usage.samples)
        self._lost.append(self.pace.lost())
        self._start = self._moment()
        self._looked = time.monotonic()
        return self

    def note(self, examples: int, ns: int, failed: int = 0) -> None:
        """Note a request that is over; now and then, look at the process."""
        self._failed += failed
        if self._end is not None:
            self._later[0] += examples
            self._later[1] += ns
        else:
            self._requests.append((examples, ns))
            self._asked += examples
        if not self._warmed:
            self.runner.observe()
            self._warmed = len(self.usage.samples)
        if self._end is None and self._asked >= self.rows:
            self._observe()
            self._end = self._moment()
            self.timed_out()
        elif time.monotonic() - self._looked >= MARK_SECONDS:
            self._observe()

    def finish(self) -> Session:
        """Look a last time, and return what was seen."""
        self._observe()
        last = self._moment()
        start, end = self._start or last, self._end or last
        timed = self._requests[1:] or self._requests
        alone = [ns / 1e9 for examples, ns in timed if examples == 1]
        parts = [part for part in np.array_split(np.arange(len(timed)), REPEATS) if len(part)]
        # What warms a model up counts in no rate and in no memory, unless it is all that it was asked.
        beginning = self._warmed if len(self._requests) > 1 else self._loaded
        loading = max(self.usage.samples[:beginning], default=0)
        samples = self.usage.samples[beginning:]
        return Session(
            rate=_rate(timed, self.batch_size),
            rates=[_rate([timed[number] for number in part], self.batch_size) for part in parts],
            latencies=latency_quantiles(alone),
            examples=sum(examples for examples, _ in timed),
            warm_up=self._asked - sum(examples for examples, _ in timed),
            failed=self._failed,
            memory=_means(samples or [loading]),
            memory_peak=max(samples, default=loading),
            memory_samples=len(samples),
            memory_loading=loading,
            cpu_seconds=max(end.cpu - start.cpu, 0.0),
            joules=joules_between(start.energy, end.energy),
            busy=busy_elsewhere(start.load, end.load),
            lost=statistics.median(self._lost),
            later=self._slower_later(start, end, last),
        )

    def _observe(self) -> None:
        """Look at the process and at the machine's pace, between two requests."""
        (self._lost if self._end is None else self._lost_later).append(self.pace.lost())
        self.runner.observe()
        self._looked = time.monotonic()

    def _moment(self) -> _Moment:
        return _Moment(self.usage.cpu_seconds, read_energy(), mark_load(self.usage.cpu_seconds))

    def _slower_later(self, start: _Moment, end: _Moment, last: _Moment) -> float | None:
        """Return how many times as much work an example took after the timed ones; None where there were none.

        It is by the clock or by the processor's time, whichever says less: others slow the clock, and the processor's
        time, too, while the machine lacks pace.
        """
        examples, ns = self._later
        if not examples or self._end is None:
            return None
        before = sum(ns for _, ns in self._requests)
        clock = (ns / examples) / max(before / self._asked, 1.0)
        worked = ((last.cpu - end.cpu) / examples) / max((end.cpu - start.cpu) / self._asked, 1e-9)
        lost = statistics.median(self._lost_later) if self._lost_later else 0.0
        return min(clock, worked * (1 - lost))


def _means(samples: Sequence[int]) -> list[float]:
    """Return the mean bytes of each part of the samples."""
    parts = np.array_split(np.asarray(samples, dtype=float), REPEATS)
    return [float(part.mean()) for part in parts if len(part)]


def _rate(requests: Sequence[tuple[int, int]], batch_size: int) -> float:
    """Return the examples per second of batches; of all requests where there were none."""
    batches = [request for request in requests if request[0] > 1 or batch_size == 1] or requests
    return sum(examples for examples, _ in batches) / max(sum(ns for _, ns in batches), 1) * 1e9
