"""What processes of a model showed, and the figures that several of them make together.

A session counts while the machine works at its own pace. Where too few do, all count, and the interval is as much wider
as the machine was slower: the figure is shown, and says that it may be too low.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from quintain.engine.cutting import LEAST_SESSIONS
from quintain.engine.sandbox.process import SAMPLE_SECONDS
from quintain.stats.precision import relative_half

BOUND = 0.25  # half of its interval, as a share of it: up to it a figure ranks, past it another session is asked for
STEADY = 0.15  # share of its speed that the machine may lack while a session is timed
MOST_LATENCIES = 101  # of a session that are kept
GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Session:
    """What one process showed while it answered; memory is in bytes.

    *rate* is of all of its requests but the first, which warms it up, *rates* are those of their parts; *latencies* are
    quantiles of the seconds that one example took. *lost* is the share of its pace that the machine lacked, *busy* what
    others took of it. *later* is how many times as much work an example took after those that are timed.
    """

    rate: float
    rates: Sequence[float]
    latencies: Sequence[float]
    examples: int
    warm_up: int
    failed: int
    memory: Sequence[float]
    memory_peak: float
    memory_samples: int
    memory_loading: float
    cpu_seconds: float
    joules: float | None
    busy: float | None
    lost: float
    later: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, as it is stored with a run."""
        return asdict(self)


def read_session(stored: Mapping[str, Any]) -> Session:
    """Return a session from what `as_dict` made of it."""
    return Session(**{item.name: stored[item.name] for item in fields(Session) if item.name in stored})


def latency_quantiles(seconds: Sequence[float]) -> list[float]:
    """Return these times in order, or quantiles of them where they are many.

    >>> latency_quantiles([0.3, 0.1]), len(latency_quantiles([0.1] * 1000))
    ([0.1, 0.3], 101)
    """
    if len(seconds) <= MOST_LATENCIES:
        return sorted(seconds)
    return [float(value) for value in np.quantile(seconds, np.linspace(0, 1, MOST_LATENCIES))]


def steady_sessions(sessions: Sequence[Session]) -> tuple[Sequence[Session], float]:
    """Return the sessions in which the machine kept its pace, or all where they are too few, and what it lacked."""
    steady = [session for session in sessions if session.lost <= STEADY]
    if len(steady) >= LEAST_SESSIONS:
        return steady, 0.0
    return sessions, statistics.median(session.lost for session in sessions)


def is_sharp(sessions: Sequence[Session]) -> bool:
    """Whether enough sessions on a steady machine agree: half of the throughput's interval is within the bound."""
    if len(sessions) < LEAST_SESSIONS:
        return False
    steady, lost = steady_sessions(sessions)
    return lost <= STEADY and rate_half(steady) <= BOUND


def rate_half(sessions: Sequence[Session]) -> float:
    """Return half of the interval of the sessions' median rate, as a share of it, by their parts and by themselves."""
    parts = relative_half([session.rates for session in sessions])
    return max(parts, relative_half([[session.rate] for session in sessions]))


def pooled(sessions: Sequence[Session], batch_size: int) -> dict[str, Any]:
    """Return what the sessions make together, as plain data: examples per second, seconds, GiB.

    The throughput is the median of the sessions' rates. Each is of all of its requests: being quick in most of them and
    slow in the others gains nothing.
    """
    steady, lost = steady_sessions(sessions)
    throughput = statistics.median(session.rate for session in steady)
    repeats = [rate for session in steady for rate in session.rates]
    examples = sum(session.examples + session.warm_up for session in sessions)
    joules = [session.joules for session in sessions if session.joules is not None]
    busy = [session.busy for session in sessions if session.busy is not None]
    later = [session.later for session in sessions if session.later is not None]
    return {
        "throughput": throughput,
        "throughput_spread": statistics.stdev(repeats) if len(repeats) > 1 else 0.0,
        "throughput_half": max(rate_half(steady), lost / (1 - lost)) * throughput,
        "throughput_repeats": repeats,
        **_latencies(sessions),
        **_memory(sessions),
        "cpu_seconds_per_example": sum(session.cpu_seconds for session in sessions) / max(examples, 1),
        "joules_per_example": sum(joules) / max(examples, 1) if len(joules) == len(sessions) else None,
        "busy": max(busy) if busy else None,
        "slowed": lost,
        **({"later": max(later)} if later else {}),
        "sessions": len(sessions),
        "examples": sum(session.examples for session in sessions),
        "warm_up": sum(session.warm_up for session in sessions),
        "batch_size": batch_size,
        "failed": sum(session.failed for session in sessions),
    }


def _latencies(sessions: Sequence[Session]) -> dict[str, float | None]:
    """Return the quantiles of the seconds that a request for one example takes; None where there was none."""
    seconds = [latency for session in sessions for latency in session.latencies]
    if not seconds:
        return {"latency_p50": None, "latency_p95": None}
    return {"latency_p50": float(np.quantile(seconds, 0.5)), "latency_p95": float(np.quantile(seconds, 0.95))}


def _memory(sessions: Sequence[Session]) -> dict[str, Any]:
    """Return the memory while answering, what the model had while it loaded, and how far apart the parts are."""
    parts = [[mean / GIB for mean in session.memory] for session in sessions]
    value = statistics.fmean(statistics.fmean(session) for session in parts)
    means = [mean for session in parts for mean in session]
    return {
        "memory": value,
        "memory_spread": statistics.stdev(means) if len(means) > 1 else 0.0,
        "memory_half": relative_half(parts) * value,
        "memory_peak": max(session.memory_peak for session in sessions) / GIB,
        "memory_loading": max(session.memory_loading for session in sessions) / GIB,
        "memory_samples": sum(session.memory_samples for session in sessions),
        "memory_interval": SAMPLE_SECONDS,
    }
