"""Throughput, latency, memory and CPU time of a model, by our own clock, repeated until the figure is sharp.

Nothing that the model says about itself goes into a figure. A request is timed here, from the first byte sent to the
last byte received, and nothing is subtracted. Requests are cut as in the run that is scored, and what was answered
meanwhile is kept beside what is scored. In a session every input is new to the model: the examples are split over
warm-up and repeats, so that remembering answers gains nothing; the next session is a process that remembers nothing.
Loading is looked at apart: the marks of memory are set back before the first request.

A session counts while the machine works at its own pace. Where too few do, all count, and the interval is as much wider
as the machine was slower: the figure is shown, and says that it may be too low.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quintain.core.example import Prediction
from quintain.core.task import Task
from quintain.engine.asking import Failures
from quintain.engine.cutting import LEAST_SESSIONS, REPEATS, WARM_UP, cut_requests, session_rows
from quintain.engine.machine_load import busy_elsewhere, joules_between, machine, mark_load, read_energy
from quintain.engine.pace import Pace
from quintain.engine.runner import ModelRunner
from quintain.engine.sandbox.process import SAMPLE_SECONDS, Usage
from quintain.engine.timing import TimedRequest, ask_again, timed
from quintain.stats.bootstrap import FloatArray
from quintain.stats.precision import relative_half

PRECISE = 0.1  # half of its interval, as a share of it, at which a figure is sharp enough
MOST_SESSIONS = 6  # in which it may become so
STEADY = 0.15  # share of its speed that the machine may lack while a session is timed
ASKED_AGAIN = 60
GIB = 1 << 30

Inputs = list[dict[str, Any]]
Rows = Sequence[int]  # the numbers of the inputs that are asked for together
OpenRunner = Callable[[], AbstractContextManager[ModelRunner]]


@dataclass(frozen=True, slots=True)
class Session:
    """What one process of the model showed: requests and memory in bytes by repeat, and its memory while it loaded."""

    repeats: Sequence[Sequence[TimedRequest]]
    loading: int
    memory: Sequence[Sequence[int]]
    cpu_seconds: float
    joules: float | None
    busy: float | None
    lost: float
    failed: int
    warm_up: int

    def rates(self, batch_size: int) -> list[float]:
        """Return the examples per second of each repeat, by requests of the declared size where there are any."""
        return [_rate(repeat, batch_size) for repeat in self.repeats]


@dataclass(frozen=True, slots=True)
class Measured:
    """What one measurement found; `as_dict` is what is stored with the cell."""

    sessions: Sequence[Session]
    batch_size: int
    layers: Sequence[str] | None
    printed: str
    again: Mapping[str, int] = field(default_factory=dict)

    @property
    def answered(self) -> list[tuple[int, Prediction]]:
        """What was answered while the clock ran, with the number of the input."""
        requests = [request for session in self.sessions for repeat in session.repeats for request in repeat]
        return [pair for request in requests for pair in zip(request.rows, request.predictions, strict=True)]

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data: examples per second, seconds, GiB."""
        steady, lost = steady_sessions(self.sessions)
        rates = [session.rates(self.batch_size) for session in steady]
        requests = [request for session in self.sessions for repeat in session.repeats for request in repeat]
        examples = sum(len(request.rows) for request in requests)
        every = [rate for session in rates for rate in session]
        throughput = float(np.median(every))
        joules = [session.joules for session in self.sessions if session.joules is not None]
        busy = [session.busy for session in self.sessions if session.busy is not None]
        return {
            "throughput": throughput,
            "throughput_spread": statistics.stdev(every) if len(every) > 1 else 0.0,
            "throughput_half": max(relative_half(rates), lost / (1 - lost)) * throughput,
            "throughput_repeats": every,
            **_latencies(requests),
            **_memory(self.sessions),
            "cpu_seconds_per_example": sum(session.cpu_seconds for session in self.sessions) / examples,
            "joules_per_example": sum(joules) / examples if len(joules) == len(self.sessions) else None,
            "busy": max(busy) if busy else None,
            "slowed": lost,
            "sessions": len(self.sessions),
            "examples": examples,
            "warm_up": sum(session.warm_up for session in self.sessions),
            "batch_size": self.batch_size,
            "failed": sum(session.failed for session in self.sessions),
            **self.again,
            "machine": machine(),
        }


def measure(
    open_runner: OpenRunner,
    task: Task,
    inputs: Inputs,
    *,
    batch_size: int,
    generator: np.random.Generator | None = None,
    most_sessions: int = MOST_SESSIONS,
    pace: Pace | None = None,
    progress: Callable[[int], None] = lambda sessions: None,
) -> Measured | None:
    """Measure a model on *inputs*, in one process after the other until the figure is sharp, in at most so many.

    None where it runs out of our sight, so that nothing can be said. *progress* hears of each session that is over.
    The order of the inputs is another each time, unless a *generator* says it. *pace* knows the machine from before.
    """
    generator = generator or np.random.default_rng()
    pace = pace or Pace()
    sessions: list[Session] = []
    again: Mapping[str, int] = {}
    while True:
        with open_runner() as runner:
            if runner.usage is None or not inputs:
                return None
            sessions.append(
                _session(runner, runner.usage, task, inputs, _draw(len(inputs), batch_size, generator), pace)
            )
            if len(sessions) == 1:
                again = _asked_again(runner, task, inputs, sessions[0], batch_size)
            layers, printed = runner.layers, runner.printed()
        progress(len(sessions))
        if len(sessions) >= most_sessions or _is_sharp(sessions, batch_size):
            return Measured(sessions, batch_size, layers, printed, again)


def steady_sessions(sessions: Sequence[Session]) -> tuple[Sequence[Session], float]:
    """Return the sessions in which the machine kept its pace, or all where those are too few, and the lack then."""
    steady = [session for session in sessions if session.lost <= STEADY]
    if len(steady) >= LEAST_SESSIONS:
        return steady, 0.0
    return sessions, statistics.median(session.lost for session in sessions)


def _is_sharp(sessions: Sequence[Session], batch_size: int) -> bool:
    steady, lost = steady_sessions(sessions)
    enough = len(steady) >= LEAST_SESSIONS and lost <= STEADY
    return enough and relative_half([session.rates(batch_size) for session in steady]) <= PRECISE


def split_requests(requests: Sequence[range], batch_size: int) -> tuple[Sequence[range], list[Sequence[range]]]:
    """Return which of *requests* warm the model up, and which are in each repeat; none is in two of them.

    >>> split_requests([range(i, i + 1) for i in range(11)], 1)[0]
    [range(0, 1), range(1, 2)]
    """
    few = min(REPEATS, len(requests))
    warm_up = min(-(-WARM_UP // batch_size), (len(requests) - few) // 4)
    rest = requests[warm_up:]
    repeats = [rest[part[0] : part[-1] + 1] for part in np.array_split(np.arange(len(rest)), few)]
    return requests[:warm_up], repeats


def _draw(
    examples: int, batch_size: int, generator: np.random.Generator
) -> tuple[Sequence[Rows], Sequence[Sequence[Rows]]]:
    """Draw the examples of a session, as requests that warm the model up and those of each repeat."""
    order = [int(row) for row in generator.permutation(examples)[: session_rows(batch_size)]]
    warm_up, parts = split_requests(cut_requests(len(order), batch_size, generator), batch_size)
    return [order[request.start : request.stop] for request in warm_up], [
        [order[request.start : request.stop] for request in part] for part in parts
    ]


def _session(
    runner: ModelRunner,
    usage: Usage,
    task: Task,
    inputs: Inputs,
    drawn: tuple[Sequence[Rows], Sequence[Sequence[Rows]]],
    pace: Pace,
) -> Session:
    """Time one process. Its memory while loading ends with the look that sets the marks back."""
    warm_up, parts = drawn
    runner.observe()
    loading = usage.peak_memory
    failures = Failures(sum(len(request) for part in parts for request in part))
    for request in warm_up:
        timed(runner, task, inputs, request, Failures(len(request), allowed=len(request)))
    runner.observe()
    cpu, energy = usage.cpu_seconds, read_energy()
    load = mark_load(cpu)
    repeats, memory, lost = [], [], []
    for part in parts:
        lost.append(pace.lost())
        runner.observe()  # what the idle model held meanwhile is no part of the figure
        first = len(usage.samples)
        repeats.append([timed(runner, task, inputs, request, failures) for request in part])
        runner.observe()
        memory.append(usage.samples[first:])
    lost.append(pace.lost())
    return Session(
        repeats=repeats,
        loading=loading,
        memory=memory,
        cpu_seconds=max(usage.cpu_seconds - cpu, 0.0),
        joules=joules_between(energy, read_energy()),
        busy=busy_elsewhere(load, mark_load(usage.cpu_seconds)),
        lost=statistics.median(lost),
        failed=failures.count,
        warm_up=sum(map(len, warm_up)),
    )


def _asked_again(runner: ModelRunner, task: Task, inputs: Inputs, session: Session, batch_size: int) -> dict[str, int]:
    """Ask for some of what was timed once more, outside the time: as it was asked, and one by one."""
    chosen: list[TimedRequest] = []
    for request in (request for repeat in session.repeats for request in repeat):
        if sum(len(earlier.rows) for earlier in chosen) >= ASKED_AGAIN:
            break
        chosen.append(request)
    counts = {
        "asked_again": sum(len(request.rows) for request in chosen),
        "unstable": ask_again(runner, task, inputs, chosen),
    }
    return {**counts, "batch_differs": ask_again(runner, task, inputs, chosen, single=True) if batch_size > 1 else 0}


def _rate(requests: Sequence[TimedRequest], batch_size: int) -> float:
    whole = [request for request in requests if len(request.rows) == batch_size] or requests
    return sum(len(request.rows) for request in whole) / max(sum(request.ns for request in whole), 1) * 1e9


def _latencies(requests: Sequence[TimedRequest]) -> dict[str, float | None]:
    """Return the quantiles of the seconds that a request for one example takes; None where there was none."""
    seconds = [request.ns / 1e9 for request in requests if len(request.rows) == 1]
    if not seconds:
        return {"latency_p50": None, "latency_p95": None}
    return {"latency_p50": float(np.quantile(seconds, 0.5)), "latency_p95": float(np.quantile(seconds, 0.95))}


def _memory(sessions: Sequence[Session]) -> dict[str, Any]:
    """Return the memory while answering, what the model had while it loaded, and how far apart the repeats are."""
    repeats = [[np.asarray(repeat, dtype=float) / GIB for repeat in session.memory] for session in sessions]
    samples = np.concatenate([repeat for session in repeats for repeat in session])
    means = [[float(repeat.mean()) for repeat in session] for session in repeats]
    value = float(samples.mean())
    return {
        "memory": value,
        "memory_spread": _spread(np.concatenate([np.asarray(part) for part in means])),
        "memory_half": relative_half(means) * value,
        "memory_peak": float(samples.max()),
        "memory_loading": max(session.loading for session in sessions) / GIB,
        "memory_samples": int(samples.size),
        "memory_interval": SAMPLE_SECONDS,
    }


def _spread(values: FloatArray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0
