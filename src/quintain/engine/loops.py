"""What goes on for as long as a process does: one way to run it, which no error ends.

A loop does one step after another. A step that fails is logged with where it failed, and tried again after a pause that
grows. A step that goes over items does so with `each`: an item that fails holds up no other one and is left alone for a
while. A loop knows when it last succeeded and failed, and a book holds all loops of a process, so that whoever looks
after it sees one that does not get on.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol, TypeVar

from quintain.core.errors import QuintainError, Unavailable
from quintain.core.untrusted import storable

LONGEST_PAUSE_S = 60.0
LONGEST_REST_S = 3600.0  # for an item that fails again and again
INTERVALS = 5  # without success, after which a loop counts as failing
LEAST_S = 300.0  # the same for loops of short intervals
REASON_CHARACTERS = 500

Item = TypeVar("Item")


class LoopEnd(Exception):
    """Raised by a step after which there is nothing left to do."""


class Each(Protocol):
    """Does something for every item; gives how many it was done for."""

    def __call__(
        self,
        items: Iterable[Item],
        do: Callable[[Item], object],
        *,
        name: Callable[[Item], str] = str,
        undo: Callable[[], object] | None = None,
    ) -> int:
        """Do it. *name* is what an item is called in the log, *undo* is called after one that failed."""


class LoopCondition(StrEnum):
    """How a loop is: it gets on, keeps failing, hangs in one step, has ended by itself, or its process is gone."""

    FINE = "fine"
    FAILING = "failing"
    STUCK = "stuck"
    STOPPED = "stopped"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class LoopState:
    """How a loop has fared. *failures* are the steps that failed in a row, *items* the items that rest after failing.

    *allowed* is how many seconds one step may take; None where what it does has limits of its own.
    """

    name: str
    every: float
    begun_at: datetime
    allowed: float | None = None
    working_since: datetime | None = None
    succeeded_at: datetime | None = None
    failed_at: datetime | None = None
    failures: int = 0
    items: int = 0
    reason: str = ""
    alive: bool = True

    def condition(self, moment: datetime) -> LoopCondition:
        """Return how it is at this *moment*."""
        patience = max(INTERVALS * self.every, LEAST_S)
        if not self.alive:
            return LoopCondition.STOPPED
        if self.working_since and self.allowed and (moment - self.working_since).total_seconds() > self.allowed:
            return LoopCondition.STUCK
        if self.failures and (moment - (self.succeeded_at or self.begun_at)).total_seconds() > patience:
            return LoopCondition.FAILING
        return LoopCondition.FINE


def straight(
    items: Iterable[Item],
    do: Callable[[Item], object],
    *,
    name: Callable[[Item], str] = str,
    undo: Callable[[], object] | None = None,
) -> int:
    """Do something for every item, for whoever waits for it: what goes wrong is theirs to hear. See `Each`."""
    number = 0
    for number, item in enumerate(items, 1):  # noqa: B007 - how many there were
        do(item)
    return number


@dataclass(slots=True)
class _Rest:
    failures: int = 0
    until: float = 0.0


class Loop:
    """One thing that goes on: *step* is done again and again, *every* so many seconds."""

    def __init__(
        self,
        name: str,
        step: Callable[[Each], float | None],
        *,
        every: float,
        longest: float | None = None,
        allowed: float | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        """Name it. A *step* may give how many seconds to wait for the next one, and raises LoopEnd after the last.

        Pauses after failures grow to *longest* seconds. *allowed* is how long one step may take before it counts as
        stuck.
        """
        self.name = name
        self._step = step
        self._longest = max(every, LONGEST_PAUSE_S) if longest is None else longest
        self._log = logger or logging.getLogger(f"quintain.loop.{name.split(maxsplit=1)[0]}")
        self._state = LoopState(name, every, datetime.now(UTC), allowed)
        self._resting: dict[str, _Rest] = {}
        self._seen: set[str] = set()  # the items of the step that is being done
        self._thread: threading.Thread | None = None

    @property
    def state(self) -> LoopState:
        """How it has fared so far."""
        alive = self._thread is None or self._thread.is_alive()
        return replace(self._state, alive=alive, items=len(self._resting))

    def run(self, stop: threading.Event, *, patience: int | None = None) -> None:
        """Do steps until *stop* is set or one says that it was the last; after *patience* failures in a row, give up.

        Without *patience* nothing that a step raises ends it.
        """
        while not stop.is_set():
            try:
                pause = self._do()
            except LoopEnd:
                return
            except Exception as error:
                if patience is not None and self._state.failures >= patience:
                    raise
                pause = self._pause()
                self._log.warning(
                    "%s goes on in %g s: %s", self.name, pause, _first_line(error), exc_info=_trace(error)
                )
            if pause:
                stop.wait(pause)

    def once(self) -> bool:
        """Do one step now; False where it failed, which is logged as if it went on."""
        try:
            self._do()
        except LoopEnd:
            return True
        except Exception as error:
            self._log.warning("%s failed: %s", self.name, _first_line(error), exc_info=_trace(error))
            return False
        return True

    def start(self, stop: threading.Event, *, after: float = 0.0) -> threading.Thread:
        """Run it in a thread of its own, *after* so many seconds."""

        def run() -> None:
            if not stop.wait(after):
                self.run(stop)

        self._thread = threading.Thread(target=run, name=self.name, daemon=True)
        self._thread.start()
        return self._thread

    def forgive(self) -> None:
        """Forget the failures so far: what fails from now on begins with the shortest pause again."""
        self._state = replace(self._state, failures=0)

    def each(
        self,
        items: Iterable[Item],
        do: Callable[[Item], object],
        *,
        name: Callable[[Item], str] = str,
        undo: Callable[[], object] | None = None,
    ) -> int:
        """Do something for every item but those that rest; see `Each`. One that fails rests, each time longer."""
        number = 0
        for item in items:
            key = name(item)
            self._seen.add(key)
            rest = self._resting.get(key)
            if rest is not None and time.monotonic() < rest.until:
                continue
            try:
                do(item)
            except Exception as error:
                self._rest(key, error)
                if undo is not None:
                    undo()
            else:
                self._resting.pop(key, None)
                number += 1
        return number

    def _rest(self, key: str, error: Exception) -> None:
        rest = self._resting.setdefault(key, _Rest())
        rest.failures += 1
        pause = min(LONGEST_REST_S, self._state.every * 2**rest.failures)
        rest.until = time.monotonic() + pause
        self._log.warning(
            "%s leaves %s alone for %g s: %s", self.name, key, pause, _first_line(error), exc_info=_trace(error)
        )
        self._state = replace(self._state, failed_at=datetime.now(UTC), reason=_reason(error, key))

    def _do(self) -> float:
        self._state = replace(self._state, working_since=datetime.now(UTC))
        self._seen.clear()
        try:
            pause = self._step(self.each)
        except LoopEnd:
            raise
        except Exception as error:
            self._state = replace(
                self._state, failed_at=datetime.now(UTC), failures=self._state.failures + 1, reason=_reason(error)
            )
            raise
        else:
            self._state = replace(self._state, succeeded_at=datetime.now(UTC), failures=0)
            self._resting = {key: rest for key, rest in self._resting.items() if key in self._seen}  # others are gone
            return self._state.every if pause is None else pause
        finally:
            self._state = replace(self._state, working_since=None)

    def _pause(self) -> float:
        return min(self._longest, self._state.every * 2.0 ** min(self._state.failures - 1, 30))


class LoopBook:
    """All loops of a process. It belongs to the workspace object that they work for."""

    def __init__(self) -> None:
        self._loops: list[Loop] = []
        self._lock = threading.Lock()

    def add(self, loop: Loop) -> Loop:
        """Write a loop down, and give it back."""
        with self._lock:
            self._loops.append(loop)
        return loop

    def remove(self, loop: Loop) -> None:
        """Strike one out that has ended as it should."""
        with self._lock:
            self._loops = [other for other in self._loops if other is not loop]

    @contextmanager
    def holding(self, loop: Loop) -> Iterator[Loop]:
        """Have a loop in the book for as long as the block runs."""
        self.add(loop)
        try:
            yield loop
        finally:
            self.remove(loop)

    def states(self) -> list[LoopState]:
        """Return how all of them have fared."""
        with self._lock:
            return [loop.state for loop in self._loops]


def _reason(error: Exception, item: str = "") -> str:
    text = str(error) if isinstance(error, QuintainError) else f"{type(error).__name__}: {error}"
    return storable(f"{item}: {text}" if item else text, REASON_CHARACTERS)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _trace(error: Exception) -> Exception | None:
    """Return the error to log where it happened; None where something outside is down, which the message says."""
    return None if isinstance(error, Unavailable) else error
