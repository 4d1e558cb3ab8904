"""Throughput, latency, memory and CPU time of a model: batch size one, after warm-up, repeated, with spread."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from quintain.core.task import Task
from quintain.engine.predicting import parse_answers
from quintain.engine.runner import Runner
from quintain.engine.sandbox.process import SAMPLE_SECONDS
from quintain.stats.bootstrap import FloatArray
from quintain.tasks.contract import kind_of

WARM_UP = 8
REPEATS = 3
GIB = 1 << 30
POWERCAP = Path("/sys/class/powercap")  # one counter of microjoules for each processor, where it may be read


@dataclass(frozen=True, slots=True)
class Measured:
    """What one measurement found; `as_dict` is what is stored with the cell."""

    throughput: Sequence[float]
    latencies: Sequence[float]
    memory: Sequence[int]
    memory_by_repeat: Sequence[float]
    cpu_seconds: float
    examples: int
    batch_size: int
    differing: int
    joules: float | None

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data: examples per second, seconds, GiB."""
        rates = np.asarray(self.throughput)
        memory = np.asarray(self.memory, dtype=float) / GIB
        return {
            "throughput": float(rates.mean()),
            "throughput_spread": _spread(rates),
            "throughput_repeats": [float(rate) for rate in rates],
            "latency_p50": float(np.quantile(self.latencies, 0.5)),
            "latency_p95": float(np.quantile(self.latencies, 0.95)),
            "memory": float(memory.mean()) if memory.size else None,
            "memory_spread": _spread(np.asarray(self.memory_by_repeat) / GIB),
            "memory_peak": float(memory.max()) if memory.size else None,
            "memory_samples": int(memory.size),
            "memory_interval": SAMPLE_SECONDS,
            "cpu_seconds_per_example": self.cpu_seconds / self.examples,
            "joules_per_example": None if self.joules is None else self.joules / self.examples,
            "examples": self.examples,
            "batch_size": self.batch_size,
            "batch_differs": self.differing,
            "machine": machine(),
        }


def measure(
    runner: Runner, task: Task, inputs: list[dict[str, Any]], *, batch_size: int, repeats: int = REPEATS
) -> Measured | None:
    """Measure *runner* on *inputs*; None where it runs out of our sight, so that nothing can be said."""
    usage = runner.usage
    if usage is None or not inputs:
        return None
    warm_up = runner.predict(inputs[:WARM_UP], single=True)
    rates: list[float] = []
    times: list[int] = []
    singles: list[Any] = []
    means: list[float] = []
    before_cpu, before_energy, before_samples = usage.cpu_seconds, _energy(), len(usage.samples)
    for _ in range(repeats):
        begun = len(usage.samples)
        reply = runner.predict(inputs, single=True)
        if taken := usage.samples[begun:]:
            means.append(sum(taken) / len(taken))
        rates.append(len(inputs) / max(sum(reply.times), 1) * 1e9)
        times += reply.times
        singles = reply.answers
    joules = _joules(before_energy, _energy())
    memory = usage.samples[before_samples:] or usage.samples[-1:]
    return Measured(
        throughput=rates,
        latencies=[time / 1e9 for time in times],
        memory=memory,
        memory_by_repeat=means,
        cpu_seconds=max(usage.cpu_seconds - before_cpu, 0.0),
        examples=len(inputs) * repeats,
        batch_size=batch_size,
        differing=_differing(runner, task, inputs, singles or warm_up.answers, batch_size),
        joules=joules,
    )


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


def _differing(runner: Runner, task: Task, inputs: list[dict[str, Any]], singles: list[Any], batch_size: int) -> int:
    """Count the examples that are answered differently in a batch than alone."""
    if batch_size == 1:
        return 0
    kind = kind_of(task)
    together: list[Any] = []
    for start in range(0, len(inputs), batch_size):
        together += runner.predict(inputs[start : start + batch_size]).answers
    alone = parse_answers(kind, task, inputs, singles)
    grouped = parse_answers(kind, task, inputs, together)
    return sum(first.answer != second.answer for first, second in zip(alone, grouped, strict=True))


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
