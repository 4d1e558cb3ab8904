"""A model that looks for signs of being timed gains nothing: all of its processes are alike, and all count."""

from __future__ import annotations

import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from quintain.engine.jobs import CellJob, run_job
from quintain.engine.runner import RunnableModel
from quintain.engine.sandbox.limits import MIB, Limits
from quintain.services.evaluate.results.measurement_gaps import count_unlike, measured_figures, measurement_gaps
from quintain.tasks.definition import parse_task
from tests.evaluation import TASK

LIMITS = Limits(memory_bytes=512 * MIB, wall_seconds=120, call_seconds=20)
COSTLY = 0.004  # seconds that a right answer takes
ROWS = 60
CHEAT = """
import os, resource, sys, time

def right(text):
    time.sleep({costly})
    return "positive" if int(text.split()[1]) % 2 else "negative"

SEEN = {{"at": None, "n": 0, "begun": time.monotonic()}}
{setup}
def predict(batch):
    now, SEEN["n"] = time.perf_counter(), SEEN["n"] + len(batch)
    timed = bool({tell})
    answers = ["negative" if timed else right(item["text"]) for item in batch]
    SEEN["at"] = time.perf_counter()
    return answers
"""
TOUCHES = """
def load(path):
    held = bytearray(64 << 20)
    for place in range(0, len(held), 4096): held[place] = 1
"""
CALLER = """
def asked_alone():
    frame = sys._getframe(2)
    while frame is not None:
        names = {**frame.f_locals}
        if any(word in str(name) for name in names for word in ("time", "measure", "clock", "metered")): return True
        frame = frame.f_back
    return False
"""
PROCESS = """
def looks_metered():
    told = open("/proc/self/status").read() + open("/proc/self/cmdline").read() + str(dict(os.environ))
    peak = int(told.partition("VmHWM:")[2].split()[0])
    return peak < 48 << 10 or "measure" in told or "timed" in told
"""


class Outcome(NamedTuple):
    """What is known of a model: the share of right answers, examples per second, and what may not rank."""

    right: float
    measured: dict[str, Any]
    gaps: dict[str, str]


Evaluating = Callable[..., Outcome]


@pytest.fixture
def evaluated(tmp_path: Path) -> Evaluating:
    """A function that runs a handler as a cell that is scored and one that is measured."""

    def run(code: str, *, batch_size: int = 1, later: str | None = None, rows: int = ROWS) -> Outcome:
        task, inputs = parse_task(TASK), tmp_path / "inputs.parquet"
        texts = [f"Number {number}" for number in range(rows)]
        pl.DataFrame({"id": [f"{number:04}" for number in range(rows)], "text": texts}).write_parquet(inputs)
        known: dict[str, Any] = {}
        found = {}
        for name, source in (("scored", code), ("measured", later or code)):
            folder, out = tmp_path / f"model-{name}", tmp_path / f"{name}.parquet"
            folder.mkdir(exist_ok=True)
            (folder / "handler.py").write_text(textwrap.dedent(source))
            job = CellJob(
                task=task,
                model=RunnableModel(folder, "handler", batch_size=batch_size),
                inputs=inputs,
                out=out,
                measured=name == "measured",
                scored=name == "scored",
                seed=1,
                limits=LIMITS,
                known=known,
            )
            result = run_job(job, lambda done: None, threading.Event())
            known = known or dict(result.measurements)
            found[name] = result.measurements, pl.read_parquet(out) if out.exists() else None
        plain, timed = found["scored"][1], found["measured"][1]
        assert plain is not None
        unlike = count_unlike(task, plain, plain.clear() if timed is None else timed)
        told = measured_figures(found["measured"][0], known, unlike)
        gold = ["positive" if int(identifier) % 2 else "negative" for identifier in plain["id"]]
        right = float((plain["prediction"] == pl.Series(gold)).mean() or 0.0)  # type: ignore[arg-type]
        return Outcome(right, told, {axis: why.kind for axis, why in measurement_gaps(told).items()})

    return run


def gained(outcome: Outcome) -> bool:
    """Whether the model has speed that it did not have while it answered what is scored.

    Half of what it guesses is right. What it computed took it its time, which is in the figure.
    """
    computed = max(2 * outcome.right - 1, 0.0)
    possible = 1 / (computed * COSTLY) if computed else float("inf")
    return outcome.measured["throughput"] > 1.1 * possible and "throughput" not in outcome.gaps


TELLS = {
    "peak of memory": (TOUCHES, "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 48 << 10"),
    "pause between requests": ("", 'SEEN["at"] is not None and now - SEEN["at"] > 0.003'),
    "few requests so far": ("", 'SEEN["n"] <= 30'),
    "many requests so far": ("", 'SEEN["n"] > 30'),
    "one example alone": ("", "len(batch) == 1"),
    "its caller": (CALLER, "asked_alone()"),
    "the clock": ("", 'time.monotonic() - SEEN["begun"] < 0.2'),
    "its own process": (TOUCHES + PROCESS, "looks_metered()"),
}
QUICK = {"peak of memory", "pause between requests"}


@pytest.mark.parametrize(
    "tell", [pytest.param(tell, marks=() if tell in QUICK else pytest.mark.slow) for tell in TELLS]
)
def test_who_looks_for_being_timed_gains_nothing(evaluated: Evaluating, tell: str) -> None:
    """Whatever it looks at, its speed is that of the very answers that are scored."""
    setup, condition = TELLS[tell]
    outcome = evaluated(
        CHEAT.format(costly=COSTLY, setup=setup, tell=condition), batch_size=8 if tell == "one example alone" else 1
    )
    assert not gained(outcome), outcome


@pytest.mark.slow
def test_what_no_longer_counts_cannot_be_told_by_counting(evaluated: Evaluating) -> None:
    """On data for three processes, all requests of each are timed: being slow in the last of them shows."""
    outcome = evaluated(CHEAT.format(costly=COSTLY, setup="", tell='SEEN["n"] <= 206'), rows=900)
    assert outcome.measured["sessions"] >= 3
    assert not gained(outcome), outcome


def test_who_can_tell_nonetheless_has_its_figures_withheld(evaluated: Evaluating) -> None:
    """A model that, by a sign that nobody has thought of, answers otherwise in the further processes is caught."""
    costly = CHEAT.format(costly=COSTLY, setup="", tell="False")
    outcome = evaluated(costly, later=CHEAT.format(costly=COSTLY, setup="", tell="True"))
    assert outcome.right == 1
    assert outcome.gaps == {"throughput": "otherwise", "memory": "otherwise"}


@pytest.mark.parametrize(
    "chance",
    [
        "SALT = os.urandom(8)\ndef mood(text): return hashlib.sha256(SALT + text.encode()).digest()[0] < 50",
        pytest.param("def mood(text): return os.urandom(1)[0] < 50", marks=pytest.mark.slow),
    ],
    ids=["random at load", "random at each call"],
)
def test_chance_is_no_cheating(evaluated: Evaluating, chance: str) -> None:
    """A model that draws lots, once when it is loaded or at each call, is honest: so is every process of it."""
    outcome = evaluated(f"""import hashlib, os\n{chance}\ndef predict(batch):
    return ["positive" if int(item["text"].split()[1]) % 2 != mood(item["text"]) else "negative" for item in batch]
""")
    assert outcome.measured["unlike_scored"] > 5
    assert outcome.measured["unstable"] > 5
    assert "otherwise" not in outcome.gaps.values()
