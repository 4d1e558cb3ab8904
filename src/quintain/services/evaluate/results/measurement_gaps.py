"""Whether what was measured may rank: it is of the answers that are scored, and it is known sharply enough.

A submitted model is timed in the run that is scored. Further processes of the same kind make the figure sharper: where
one of them answers otherwise than the scored run, by more than the model is seen to change its mind, it was no run of
the same kind, and speed and memory are withheld. How often an honest model changes its mind is known because a fresh
process, alike as well, is asked again for some of the examples. A figure that the machine let nobody measure sharply is
shown, and ranks once it is measured again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from quintain.core.records.figures import Gap
from quintain.core.task import Task
from quintain.engine.sessions import BOUND
from quintain.metrics.flips import same_answers
from quintain.services.evaluate.results.axis_gaps import MEASURED, gap
from quintain.stats.exact import share_interval
from quintain.tasks.contract import kind_of

SLOWER = 2.0  # times as much work on the examples that are not timed, from which on the others were no example of them
AGAIN = ("asked_again", "unstable", "batch_differs")
BUSY = 0.1  # share of the machine that others took, from which on it is said
WITHHELD = (
    *MEASURED,
    *("throughput_spread", "throughput_half", "throughput_repeats", "latency_p50", "latency_p95"),
    *("memory_spread", "memory_half", "memory_peak", "cpu_seconds_per_example", "joules_per_example"),
)


def count_unlike(task: Task, plain: pl.DataFrame, timed: pl.DataFrame) -> dict[str, int]:
    """Count the examples that were answered otherwise while the clock ran than in the run that is scored."""
    both = timed.select("id", pl.col("prediction").alias("timed")).join(plain, on="id", how="inner")
    same = same_answers(kind_of(task).answer_type, both["timed"], both["prediction"], task.language)
    return {"compared": both.height, "unlike_scored": int((~same).sum())}


def measured_figures(
    measured: Mapping[str, Any], scored: Mapping[str, Any], unlike: Mapping[str, int]
) -> dict[str, Any]:
    """Return what was measured, with what the *scored* run says of it, and how many answers were *unlike* it.

    How often the model changes its mind is known from the scored run, where that was timed, and so is how much work it
    had with the examples after those that were timed.
    """
    later = [session.get("later") for session in scored.get("timing", {}).get("sessions", ())]
    slower = {"later": max(value for value in later if value is not None)} if any(later) else {}
    return {**measured, **{name: scored[name] for name in AGAIN if name in scored}, **slower, **unlike}


def answers_otherwise(measured: Mapping[str, Any]) -> bool:
    """Whether more was answered otherwise than in the scored run than a changing mind explains.

    It is so where the 95 % interval of the share that differed lies above that of the share that changed when a fresh
    process was asked again. Where nothing was asked again, anything may be a change of mind.

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
    return share_interval(unlike, compared)[0] > share_interval(unstable, asked)[1]


def measurement_gaps(measured: Mapping[str, Any]) -> dict[str, Gap]:
    """Return which measured axes may not rank, and why."""
    if answers_otherwise(measured):
        why = gap("otherwise", n=measured["unlike_scored"], needed=measured["compared"])
        return dict.fromkeys(MEASURED, why)
    gaps = {}
    if (measured.get("later") or 0.0) > SLOWER:
        gaps["throughput"] = gap("slower", n=round(measured["later"]))
    for axis in MEASURED:
        value, half = measured.get(axis), measured.get(f"{axis}_half") or 0.0
        if axis not in gaps and value and half > BOUND * value:
            gaps[axis] = gap("uneven", n=round(100 * half / value))
    return gaps


def keeps_known(known: Mapping[str, Any], measured: Mapping[str, Any]) -> bool:
    """Return whether a *known* measurement stands where it was *measured* again on the same class of machine.

    It does where the new one is too uneven to rank, and more so: a machine that is busy later takes no rank away.

    >>> sharp, noisy = ({"throughput": 10.0, "throughput_half": half} for half in (1.0, 6.0))
    >>> keeps_known(sharp, noisy), keeps_known(noisy, sharp), keeps_known({}, noisy)
    (True, False, False)
    """
    if not known or known.get("machine_class") != measured.get("machine_class"):
        return False
    return _unevenness(measured) > max(_unevenness(known), (0, 0.0))


def _unevenness(measured: Mapping[str, Any]) -> tuple[int, float]:
    """Return how many axes are too uneven to rank, and how uneven the worst of them is."""
    shares = [(measured.get(f"{axis}_half") or 0.0) / measured[axis] for axis in MEASURED if measured.get(axis)]
    uneven = [share for share in shares if share > BOUND]
    return len(uneven), max(uneven, default=0.0)


def share_disturbed(measured: Mapping[str, Any]) -> float | None:
    """Return the share of the machine that others took meanwhile, None where it is too small to be said.

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
