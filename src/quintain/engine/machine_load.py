"""What the machine is, what its processors take, and what else keeps them busy while a model is measured."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

POWERCAP = Path("/sys/class/powercap")  # one counter of microjoules for each processor, where it may be read
STAT = Path("/proc/stat")
WORKING = (0, 1, 2, 5, 6, 7)  # user, nice, system, irq, softirq and stolen time, among the columns of a processor
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class LoadMark:
    """The processors' time at one moment: in all, ours, and by the clock."""

    worked: float | None
    ours: float
    at: float


def mark_load(model_seconds: float) -> LoadMark:
    """Note what the processors have worked so far; *model_seconds* of it is the measured model's."""
    return LoadMark(_worked(), time.process_time() + model_seconds, time.monotonic())


def busy_elsewhere(before: LoadMark, after: LoadMark) -> float | None:
    """Return the share of the processors that others kept busy between two marks; None where none can tell.

    The kernel counts in ticks, so that a moment of few ticks is told as the share of those few.
    """
    seconds = (after.at - before.at) * (os.cpu_count() or 1)
    if before.worked is None or after.worked is None or seconds <= 0:
        return None
    others = (after.worked - before.worked) - (after.ours - before.ours)
    return min(max(others / seconds, 0.0), 1.0)


def _worked() -> float | None:
    try:
        fields = STAT.read_text().split("\n", 1)[0].split()[1:]
        return sum(int(fields[column]) for column in WORKING) / TICKS
    except (OSError, ValueError, IndexError):
        return None


def machine() -> Mapping[str, Any]:
    """Return what was measured on: processor, number of them, memory."""
    models = [
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "cpu": models[0] if models else platform.processor(),
        "cpus": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def read_energy() -> dict[Path, tuple[int, int]]:
    """Read the counter of each processor and where it begins anew; nothing where one of them may not be read."""
    try:
        return {
            counter: (int((counter / "energy_uj").read_text()), int((counter / "max_energy_range_uj").read_text()))
            for counter in sorted(POWERCAP.glob("intel-rapl:[0-9]"))
        }
    except (OSError, ValueError):
        return {}


def joules_between(before: Mapping[Path, tuple[int, int]], after: Mapping[Path, tuple[int, int]]) -> float | None:
    """Add up what the processors took; a counter that has begun anew meanwhile is behind by its range."""
    if not before or before.keys() != after.keys():
        return None
    used = [
        after[counter][0] - start + (most if after[counter][0] < start else 0)
        for counter, (start, most) in before.items()
    ]
    return sum(used) / 1e6
