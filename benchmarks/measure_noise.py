"""How much a measurement of speed and memory differs from the next: `python benchmarks/measure_noise.py [--times 10]`.

Twelve models, which are six pairs of twins, are measured again and again on an idle machine and beside a process that
works all the time. One measurement is taken as it once was (one process, three repeats of single requests, memory from
the samples at fixed intervals) and one as it is now: the run that is scored, and further processes where it is not
sharp. The load of the machine is told beside it. Told are the relative deviation between measurements of one model,
and how often twins would have been told apart: their intervals do not overlap.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import polars as pl

from quintain.core.task import Task
from quintain.engine.jobs import CellJob, run_job
from quintain.engine.pace import Pace
from quintain.engine.runner import RunnableModel, open_runner
from quintain.engine.sandbox.limits import GIB, Limits
from quintain.engine.sessions import BOUND
from quintain.tasks.definition import parse_task

TASK = """
name = "noise"
title = "Noise"
kind = "text-classification"
labels = ["negative", "positive"]
"""
INPUTS = [{"text": f"The sentence with number {number} is here."} for number in range(618)]
PAIRS = 6
HALF_WIDTH = 1.96
CODE = """
def load(path):
    held = bytearray({held} << 20)
    for place in range(0, len(held), 4096):
        held[place] = 1

def predict(batch):
    total = 0
    for number in range({work}):
        total += number * number
    return ["positive"] * len(batch)
"""


class Figure(NamedTuple):
    """What one measurement says."""

    rate: float
    half: float
    memory: float
    sessions: int
    slowed: float = 0.0


def as_it_was(model: RunnableModel, task: Task) -> Figure:
    """Measure one process in three repeats of single requests, with the samples of memory that happened to be taken."""
    with open_runner(model, task, limits=Limits(), measured=True) as runner:
        assert runner.usage is not None
        for example in INPUTS[:8]:
            runner.predict([example])
        begun = len(runner.usage.samples)
        rates = []
        for start in range(8, 608, 200):
            taken = sum(runner.predict([example]).ns for example in INPUTS[start : start + 200])
            rates.append(200 / taken * 1e9)
        memory = runner.usage.samples[begun:] or runner.usage.samples[-1:] or [0]
    return Figure(statistics.median(rates), HALF_WIDTH * statistics.stdev(rates), statistics.fmean(memory) / GIB, 1)


def as_it_is(model: RunnableModel, task: Task, pace: Pace) -> Figure:
    """Measure as a worker does, which knows the machine from before."""
    with tempfile.TemporaryDirectory() as name:
        inputs, measurements = Path(name) / "inputs.parquet", {}
        pl.DataFrame(INPUTS).with_columns(id=pl.Series([f"{row:04}" for row in range(len(INPUTS))])).write_parquet(
            inputs
        )
        for measured in (False, True):
            job = CellJob(
                task=task,
                model=model,
                inputs=inputs,
                out=Path(name) / f"{measured}.parquet",
                measured=measured,
                scored=not measured,
                seed=0,
                limits=Limits(),
                known=measurements,
            )
            measurements = dict(run_job(job, lambda done: None, threading.Event(), pace=pace).measurements)
    return Figure(
        measurements["throughput"],
        measurements["throughput_half"],
        measurements["memory"],
        measurements["sessions"],
        measurements["slowed"],
    )


def make_models(folder: Path) -> list[RunnableModel]:
    """Make six pairs of twins, each pair slower than the one before and heavier while it loads."""
    models = []
    for number in range(2 * PAIRS):
        pair = number // 2
        path = folder / f"model-{number}"
        path.mkdir()
        (path / "handler.py").write_text(CODE.format(held=30 * pair, work=50 * 4**pair))
        models.append(RunnableModel(path, "handler"))
    return models


def spin(until: float) -> None:
    """Keep a core busy until a moment of the monotonic clock."""
    while time.monotonic() < until:
        sum(number * number for number in range(10_000))


@contextmanager
def load(workers: int) -> Iterator[None]:
    """Keep so many cores busy for as long as the block runs, an hour at most."""
    processes = [multiprocessing.Process(target=spin, args=(time.monotonic() + 3600,)) for _ in range(workers)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
            process.join()


def report(name: str, figures: Sequence[Sequence[Figure]]) -> str:
    """Say how far measurements of one model are apart, and how often twins come out as different."""
    deviations = [_deviation([figure.rate for figure in model]) for model in figures]
    memory = [_deviation([figure.memory for figure in model]) for model in figures]
    apart, orders = 0, 0
    for first, second in zip(figures[::2], figures[1::2], strict=True):
        for mine, twin in zip(first, second, strict=True):
            apart += abs(mine.rate - twin.rate) > mine.half + twin.half
            orders += 1
    ranks = [
        sorted(range(len(figures)), key=lambda model: -figures[model][turn].rate) for turn in range(len(figures[0]))
    ]
    changed = sum(before != after for before, after in pairwise(ranks))
    every = [figure for model in figures for figure in model]
    count = len(every)
    slowed = sum(figure.slowed > 0 for figure in every)
    unranked = sum(figure.half > BOUND * figure.rate for figure in every)
    sessions = statistics.fmean(figure.sessions for model in figures for figure in model)
    return (
        f"{name:<22} {100 * statistics.median(deviations):7.1f} % {100 * max(deviations):7.1f} % "
        f"{100 * max(memory):7.1f} % {100 * apart / orders:9.1f} % {changed:3}/{len(ranks) - 1} {sessions:9.1f} "
        f"{100 * slowed / count:8.1f} % {100 * unranked / count:8.1f} %"
    )


def _deviation(values: Sequence[float]) -> float:
    return statistics.stdev(values) / statistics.fmean(values)


def main() -> None:
    """Measure all models in turn, both ways, idle and loaded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10, help="measurements of each model")
    parser.add_argument("--busy", type=int, default=1, help="cores that are kept busy in the second half")
    options = parser.parse_args()
    task = parse_task(TASK)
    print("                        rate: median    worst   memory  twins apart  orders  sessions     slowed   unranked")
    with tempfile.TemporaryDirectory() as name:
        models = make_models(Path(name))
        pace = Pace()
        for title, workers in (("idle", 0), ("loaded", options.busy)):
            with load(workers):
                before: list[list[Figure]] = [[] for _ in models]
                after: list[list[Figure]] = [[] for _ in models]
                for _ in range(options.times):
                    for number, model in enumerate(models):
                        before[number].append(as_it_was(model, task))
                        after[number].append(as_it_is(model, task, pace))
                print(f"{title}: load of {os.getloadavg()[2]:.1f} on {os.cpu_count()} processors")
            print(report(f"{title}, as it was", before))
            print(report(f"{title}, as it is", after), flush=True)


if __name__ == "__main__":
    main()
