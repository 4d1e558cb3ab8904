"""A model that cheats while it is measured gains nothing: not by its clock, by remembering, or by hiding memory."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from quintain.engine.measuring import measure
from quintain.engine.runner import ModelRunner, RunnableModel, open_runner
from quintain.engine.sandbox.limits import GIB, MIB, Limits, Outcome, RunEnded
from quintain.tasks.definition import parse_task
from tests.evaluation import TASK

LIMITS = Limits(memory_bytes=512 * MIB, wall_seconds=60, call_seconds=20)
INPUTS = [{"text": f"Sentence number {number}."} for number in range(26)]
HELD = 64 * MIB

Measuring = Callable[..., dict[str, Any]]


@pytest.fixture
def told(tmp_path: Path) -> Measuring:
    """Give a function that measures a handler in the sandbox and gives what is stored of it."""

    def run(code: str, *, files: dict[str, int] | None = None, batch_size: int = 1) -> dict[str, Any]:
        folder = tmp_path / "model"
        folder.mkdir(exist_ok=True)
        (folder / "handler.py").write_text(textwrap.dedent(code))
        for name, size in (files or {}).items():
            with (folder / name).open("wb") as stream:
                stream.truncate(size)
        model = RunnableModel(folder, "handler", batch_size=batch_size)

        def opened() -> AbstractContextManager[ModelRunner]:
            return open_runner(model, parse_task(TASK), limits=LIMITS, measured=True)

        measured = measure(opened, parse_task(TASK), INPUTS, batch_size=batch_size)
        assert measured is not None
        return measured.as_dict()

    return run


def test_a_models_own_clock_counts_for_nothing(told: Measuring) -> None:
    """A handler that stops every clock it can reach is as slow as it is: 20 ms each are at most 50 a second."""
    found = told("""
        import time
        real = time.sleep
        time.perf_counter_ns = time.monotonic_ns = time.time_ns = lambda: 0
        time.perf_counter = time.monotonic = time.time = lambda: 0.0
        def predict(batch):
            real(0.02)
            return ["positive"] * len(batch)
    """)
    assert found["throughput"] <= 50
    assert found["latency_p50"] >= 0.02


def test_forged_times_count_for_nothing(told: Measuring) -> None:
    """A guest whose replies carry times of its own, of any type, is timed from outside all the same."""
    found = told("""
        import sys, time
        main = sys.modules["__main__"]
        write = main.Pipe.write
        main.Pipe.write = lambda pipe, message: write(pipe, {**message, "ns": "none", "times": {"a": None}})
        def predict(batch):
            time.sleep(0.02)
            return ["positive"] * len(batch)
    """)
    assert found["throughput"] <= 50


def test_remembering_answers_gains_nothing(told: Measuring) -> None:
    """Every timed input is new, also where a data set has few: a cache never answers while the clock runs."""
    found = told("""
        import functools, time
        @functools.lru_cache(None)
        def answer(text):
            time.sleep(0.02)
            return "positive"
        def predict(batch): return [answer(item["text"]) for item in batch]
    """)
    assert max(found["throughput_repeats"]) <= 50
    assert (found["warm_up"], found["examples"]) == (found["sessions"], 25 * found["sessions"])
    assert found["unstable"] == 0


def test_useless_answers_end_a_measurement(told: Measuring) -> None:
    """They are checked as in any run."""
    with pytest.raises(RunEnded, match="12345") as caught:
        told("def predict(batch): return [12345] * len(batch)")
    assert caught.value.outcome is Outcome.BAD_ANSWER


def test_answers_that_change_are_counted(told: Measuring) -> None:
    """A model that answers quickly while it is timed, and otherwise when it is asked as in a run, shows itself."""
    found = told("""
        seen = set()
        def predict(batch):
            again = [item["text"] in seen for item in batch]
            seen.update(item["text"] for item in batch)
            return ["negative" if one else "positive" for one in again]
    """)
    assert found["unstable"] == found["asked_again"] == 26


@pytest.mark.parametrize(
    "load",
    [
        """
        def load(path):
            global held
            held = mmap.mmap(os.open(path + "/weights", os.O_RDONLY), SIZE, prot=mmap.PROT_READ)
            for place in range(0, SIZE, 4096): held[place]
        """,
        """
        def load(path):
            with open("/dev/shm/held", "wb") as stream:
                for _ in range(SIZE >> 20): stream.write(b"x" * (1 << 20))
        """,
        """
        def load(path):
            global held
            held = os.memfd_create("held")
            for _ in range(SIZE >> 20): os.write(held, b"x" * (1 << 20))
        """,
        """
        def load(path):
            if os.fork() == 0:
                held = mmap.mmap(os.open(path + "/weights", os.O_RDONLY), SIZE, prot=mmap.PROT_READ)
                for place in range(0, SIZE, 4096): held[place]
                time.sleep(60)
            time.sleep(0.5)
        """,
    ],
    ids=["mapped file", "shared memory", "anonymous file", "child process"],
)
def test_memory_counts_wherever_it_lies(told: Measuring, load: str) -> None:
    """64 MiB that a model touched are in its figure, though its own process allocated none of them."""
    size = HELD - 2 * MIB  # /dev/shm holds 64 MiB
    parts = ("import mmap, os, time", f"SIZE = {size}", textwrap.dedent(load), PREDICT)
    found = told("\n".join(parts), files={"weights": size})
    assert size / GIB < found["memory"] < (size + 60 * MIB) / GIB
    assert found["memory_peak"] >= found["memory"]


PREDICT = """
def predict(batch):
    time.sleep(0.01)
    return ["positive"] * len(batch)
"""


def test_memory_that_is_given_up_before_a_look_counts(told: Measuring) -> None:
    """A model that touches its weights and lets them go within each call has needed them: the kernel keeps the peak."""
    found = told(
        f"""
        import mmap, os, time
        SIZE = {HELD}
        def load(path):
            global held
            held = mmap.mmap(os.open(path + "/weights", os.O_RDONLY), SIZE, prot=mmap.PROT_READ)
        def predict(batch):
            for place in range(0, SIZE, 4096): held[place]
            held.madvise(mmap.MADV_DONTNEED)
            try:
                open("/proc/self/clear_refs", "w").write("5")
            except OSError:
                pass
            time.sleep(0.05)
            return ["positive"] * len(batch)
        """,
        files={"weights": HELD},
    )
    assert found["memory"] > 0.8 * HELD / GIB  # a look may come before the first touch of a repeat; unseen it is .01
