"""Whether what was measured may rank: it is of the answers that are scored, and it is known sharply enough.

A model that answers otherwise while it is timed has not been timed: its speed and memory are withheld. How often an
honest model changes its mind is known, because some examples were asked again outside the time; only what that does not
explain counts. A figure that the machine let nobody measure sharply is shown, and ranks once it is measured again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import scipy

from quintain.core.records.figures import Gap
from quintain.core.task import Task
from quintain.metrics.flips import same_answers
from quintain.services.evaluate.results.axis_gaps import MEASURED, gap
from quintain.tasks.contract import kind_of

CHANCE = 0.001  # that an honest model's change of mind explains what differed
WIDEST = 0.5  # half of a figure's interval, as a share of it; a wider one does not rank
BUSY = 0.1  # share of the machine that others took, from which on it is said
WITHHELD = (
    *MEASURED,
    *("throughput_spread", "throughput_half", "throughput_repeats", "latency_p50", "latency_p95"),
    *("memory_spread", "memory_half", "memory_peak", "cpu_seconds_per_example", "joules_per_example"),
)


def count_unlike(task: Task, plain: pl.DataFrame, timed: pl.DataFrame) -> dict[str, int]:
    """Count the examples that were answered otherwise while the clock ran than in the run that is scored."""
    both = timed.select("id", pl.col("prediction").alias("timed")).join(plain, on="id", how="inner")
    same = same_answers(kind_of(task).answer_type, both["timed"], both["prediction"])
    return {"compared": both.height, "unlike_scored": int((~same).sum())}


def answers_otherwise(measured: Mapping[str, Any]) -> bool:
    """Say whether more was answered otherwise than in the scored run than a changing mind explains.

    >>> answers_otherwise({"compared": 96, "unlike_scored": 78, "asked_again": 60, "unstable": 0})
    True
    >>> answers_otherwise({"compared": 96, "unlike_scored": 3, "asked_again": 60, "unstable": 0})
    False
    >>> answers_otherwise({"compared": 96, "unlike_scored": 40, "asked_again": 60, "unstable": 25})
    False
    """
    compared, unlike = measured.get("compared") or 0, measured.get("unlike_scored") or 0
    asked, unstable = measured.get("asked_again") or 0, measured.get("unstable") or 0
    if not unlike:
        return False
    # Fisher's exact test of two shares: the chance of so many on the first side, were both alike.
    return bool(scipy.stats.hypergeom.sf(unlike - 1, compared + asked, unlike + unstable, compared) < CHANCE)


def measurement_gaps(measured: Mapping[str, Any]) -> dict[str, Gap]:
    """Say which measured axes may not rank, and why."""
    if answers_otherwise(measured):
        why = gap("otherwise", n=measured["unlike_scored"], needed=measured["compared"])
        return dict.fromkeys(MEASURED, why)
    gaps = {}
    for axis in MEASURED:
        value, half = measured.get(axis), measured.get(f"{axis}_half") or 0.0
        if value and half > WIDEST * value:
            gaps[axis] = gap("uneven", n=round(100 * half / value))
    return gaps


def share_disturbed(measured: Mapping[str, Any]) -> float | None:
    """Give the share of the machine that others took meanwhile, None where it is too small to be said.

    It is what other processes are known to have worked or what the machine lacked of its own speed, whichever is more.

    >>> share_disturbed({"busy": 0.05, "slowed": 0.4}), share_disturbed({"busy": None, "slowed": 0.0})
    (0.4, None)
    """
    share = max(measured.get("busy") or 0.0, measured.get("slowed") or 0.0)
    return share if share > BUSY else None


def without_withheld(measured: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what was measured of answers that are not those that are scored."""
    if not answers_otherwise(measured):
        return dict(measured)
    return {name: value for name, value in measured.items() if name not in WITHHELD}
