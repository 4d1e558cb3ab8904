"""Building in steps: what was done is kept with what came of it, so that a build that was ended goes on from there."""

from __future__ import annotations

import os
import pickle
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

Found = TypeVar("Found")
Given = TypeVar("Given")

PROCESSES = 2
SAID = 20  # times that a long step says how far it is


class Steps:
    """The steps of one build, after the first of which it is *begun*.

    Each is whole or was not done at all: what it writes, it writes in one transaction.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.begun = any(folder.glob("*.pickle"))
        self._number = 0

    def do(self, name: str, work: Callable[[], Found]) -> Found:
        """Do a step, or give what came of it when it was done before."""
        self._number += 1
        path = self._folder / f"{self._number:02}.pickle"
        if path.exists():
            print(f"  {name}: done before", file=sys.stderr, flush=True)
            known: Found = pickle.loads(path.read_bytes())  # noqa: S301 # this builder wrote it
            return known
        with timed(name):
            found = work()
        self._folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_bytes(pickle.dumps(found))
        part.rename(path)
        return found


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Say what is done, how long it took, and how much of the processor."""
    started, used = time.perf_counter(), used_seconds()
    print(f"  {name} …", end=" ", file=sys.stderr, flush=True)
    yield
    seconds, processor = time.perf_counter() - started, used_seconds() - used
    print(f"{seconds:.1f} s ({processor:.1f} s of processor)", file=sys.stderr, flush=True)


def used_seconds() -> float:
    """Give the processor time of this process and of those that it has ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def told(items: Sequence[Given]) -> Iterator[Given]:
    """Give the items one after the other, and say from time to time how far that is."""
    every = max(len(items) // SAID, 1)
    for number, item in enumerate(items, 1):
        yield item
        if number % every == 0 and len(items) > SAID:
            print(f"{100 * number // len(items)} %", end=" ", file=sys.stderr, flush=True)


def side_by_side(work: Callable[[Given], Found], items: Iterable[Given]) -> list[Found]:
    """Do *work* for every item in two processes; where there are few, here."""
    todo = list(items)
    if len(todo) <= SAID:
        return [work(item) for item in todo]
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # of the processes that are started: each has a core
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        running = [pool.submit(work, item) for item in todo]
        return [one.result() for one in told(running)]
