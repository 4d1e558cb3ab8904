"""Throughput, latency, memory and CPU time of a model: one example per request, by our own clock, with spread.

Nothing that the model says about itself goes into a figure. A request is timed here, from the first byte sent to the
last byte received, and nothing is subtracted. Every input is new to the model: the examples are split over warm-up and
repeats, so that remembering answers gains nothing. Some are asked again afterwards, outside the time, to see whether
the answers stay.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from quintain.core.example import Prediction
from quintain.core.task import Task
from quintain.engine.asking import Failures, ask, read_answer
from quintain.engine.runner import ModelRunner
from quintain.engine.sandbox.limits import AnswersLost
from quintain.engine.sandbox.process import SAMPLE_SECONDS
from quintain.stats.bootstrap import FloatArray

WARM_UP = 8
REPEATS = 3
PER_REPEAT = 200
MEASURED_ROWS = WARM_UP + REPEATS * PER_REPEAT  # what a measurement takes of a data set that has so many
ASKED_AGAIN = 60
GIB = 1 << 30
POWERCAP = Path("/sys/class/powercap")  # one counter of microjoules for each processor, where it may be read

Inputs = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Timed:
    """The time of each request of one repeat in nanoseconds, and what was answered."""

    times: Sequence[int]
    predictions: Sequence[Prediction]

    @property
    def rate(self) -> float:
        """Examples per second."""
        return len(self.times) / max(sum(self.times), 1) * 1e9


@dataclass(frozen=True, slots=True)
class Measured:
    """What one measurement found; `as_dict` is what is stored with the cell."""

    repeats: Sequence[Timed]
    warm_up: int
    memory: Sequence[int]
    memory_by_repeat: Sequence[float]
    cpu_seconds: float
    batch_size: int
    differing: int
    failed: int
    asked_again: int
    unstable: int
    joules: float | None

    @property
    def answered(self) -> list[Prediction]:
        """What was answered while the clock ran, to the examples after those of the warm-up."""
        return [prediction for repeat in self.repeats for prediction in repeat.predictions]

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data: examples per second, seconds, GiB."""
        rates = np.array([repeat.rate for repeat in self.repeats])
        seconds = np.concatenate([repeat.times for repeat in self.repeats]) / 1e9
        memory = np.asarray(self.memory, dtype=float) / GIB
        return {
            "throughput": float(np.median(rates)),
            "throughput_spread": _spread(rates),
            "throughput_repeats": rates.tolist(),
            "latency_p50": float(np.quantile(seconds, 0.5)),
            "latency_p95": float(np.quantile(seconds, 0.95)),
            "memory": float(memory.mean()) if memory.size else None,
            "memory_spread": _spread(np.asarray(self.memory_by_repeat) / GIB),
            "memory_peak": float(memory.max()) if memory.size else None,
            "memory_samples": int(memory.size),
            "memory_interval": SAMPLE_SECONDS,
            "cpu_seconds_per_example": self.cpu_seconds / len(seconds),
            "joules_per_example": None if self.joules is None else self.joules / len(seconds),
            "examples": len(seconds),
            "warm_up": self.warm_up,
            "batch_size": self.batch_size,
            "batch_differs": self.differing,
            "failed": self.failed,
            "asked_again": self.asked_again,
            "unstable": self.unstable,
            "machine": machine(),
        }


def split(rows: int, repeats: int = REPEATS) -> list[range]:
    """Say which of *rows* examples warm the model up, and which are in each repeat; none is in two of them.

    >>> split(11)
    [range(0, 2), range(2, 5), range(5, 8), range(8, 11)]
    """
    repeats = min(repeats, rows)
    warm_up = min(WARM_UP, (rows - repeats) // 4)
    size = min(PER_REPEAT, (rows - warm_up) // repeats)
    return [range(warm_up), *(range(start, start + size) for start in range(warm_up, warm_up + size * repeats, size))]


def measure(
    runner: ModelRunner, task: Task, inputs: Inputs, *, batch_size: int, repeats: int = REPEATS
) -> Measured | None:
    """Measure *runner* on *inputs*; None where it runs out of our sight, so that nothing can be said."""
    usage = runner.usage
    if usage is None or not inputs:
        return None
    warm_up, *parts = (inputs[part.start : part.stop] for part in split(len(inputs), repeats))
    failures = Failures(sum(map(len, parts)))
    _timed(runner, task, warm_up, Failures(len(warm_up), allowed=len(warm_up)))
    found: list[Timed] = []
    means: list[float] = []
    before_cpu, before_energy, before_samples = usage.cpu_seconds, _energy(), len(usage.samples)
    for part in parts:
        begun = len(usage.samples)
        found.append(_timed(runner, task, part, failures))
        if taken := usage.samples[begun:]:
            means.append(sum(taken) / len(taken))
    joules = _joules(before_energy, _energy())
    memory = usage.samples[before_samples:] or usage.samples[-1:]
    used = max(usage.cpu_seconds - before_cpu, 0.0)
    asked = [one for part in parts for one in part]
    alone = [prediction for timed in found for prediction in timed.predictions]
    again = slice(None, None, -(-len(asked) // ASKED_AGAIN))
    return Measured(
        repeats=found,
        warm_up=len(warm_up),
        memory=memory,
        memory_by_repeat=means,
        cpu_seconds=used,
        batch_size=batch_size,
        differing=_differing(runner, task, asked[:PER_REPEAT], alone[:PER_REPEAT], batch_size) if batch_size > 1 else 0,
        failed=failures.count,
        asked_again=len(asked[again]),
        unstable=_differing(runner, task, asked[again], alone[again], 1),
        joules=joules,
    )


def _timed(runner: ModelRunner, task: Task, inputs: Inputs, failures: Failures) -> Timed:
    """Ask for one example after the other. One that fails has taken its time too."""
    times: list[int] = []
    predictions: list[Prediction] = []
    for one in inputs:
        start = time.perf_counter_ns()
        try:
            reply = runner.predict([one])
        except AnswersLost as error:
            times.append(time.perf_counter_ns() - start)
            predictions.append(failures.mark(error))
            continue
        times.append(reply.ns)
        predictions.append(read_answer(runner, task, one, reply.answers[0], failures))
    return Timed(times, predictions)


def machine() -> Mapping[str, Any]:
    """Say on what was measured."""
    names = [
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "cpu": names[0] if names else platform.processor(),
        "cpus": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def _differing(runner: ModelRunner, task: Task, inputs: Inputs, before: Sequence[Prediction], batch_size: int) -> int:
    """Ask again as a run does, in batches or one by one, and count the examples that are answered otherwise."""
    size = batch_size if batch_size > 1 else len(inputs)
    failures = Failures(len(inputs), allowed=len(inputs))
    again: list[Prediction] = []
    for start in range(0, len(inputs), size):
        again += ask(runner, task, inputs[start : start + size], failures, single=batch_size == 1)
    return sum(first.answer != second.answer for first, second in zip(before, again, strict=True))


def _spread(values: FloatArray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def _energy() -> dict[Path, tuple[int, int]]:
    """Read the counter of each processor and where it begins anew; nothing where one of them may not be read."""
    try:
        return {
            place: (int((place / "energy_uj").read_text()), int((place / "max_energy_range_uj").read_text()))
            for place in sorted(POWERCAP.glob("intel-rapl:[0-9]"))
        }
    except (OSError, ValueError):
        return {}


def _joules(before: Mapping[Path, tuple[int, int]], after: Mapping[Path, tuple[int, int]]) -> float | None:
    """Add up what the processors took; a counter that has begun anew meanwhile is behind by its range."""
    if not before or before.keys() != after.keys():
        return None
    used = [
        after[place][0] - start + (most if after[place][0] < start else 0) for place, (start, most) in before.items()
    ]
    return sum(used) / 1e6
