"""Who has this machine: one run alone, whose times are taken, or several beside each other."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

TAKEN = "taken.lock"


class Hold(Protocol):
    """The machine, held by a run: for itself alone, or beside others."""

    def alone(self) -> None:
        """Wait until nothing else runs, and keep it so."""

    def share(self) -> None:
        """Let others run beside."""


class MachineHold:
    """The machine, held for one run by locks across all workers on it; `close` lets it go.

    The gate is passed by everybody and kept shut by a measurement that waits, so that a stream of short runs cannot
    keep it waiting for ever.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._gate = folder / "gate.lock"
        self._machine = os.open(folder / "machine.lock", os.O_RDWR | os.O_CREAT, 0o600)
        self._alone = False

    def alone(self) -> None:
        """Wait until nothing else runs, and keep it so."""
        if not self._alone:
            self._take(fcntl.LOCK_EX)
            self._alone = True

    def share(self) -> None:
        """Let others run beside; waits while somebody has the machine alone."""
        if self._alone:
            fcntl.flock(self._machine, fcntl.LOCK_SH)  # what waits for the gate may come in
            self._alone = False
        else:
            self._take(fcntl.LOCK_SH)

    def close(self) -> None:
        """Let the machine go."""
        os.close(self._machine)

    def _take(self, how: int) -> None:
        fcntl.flock(self._machine, fcntl.LOCK_UN)  # who waits behind the gate may wait for us
        with _locked(self._gate, fcntl.LOCK_EX):
            fcntl.flock(self._machine, how)


class NoHold:
    """A machine on which nothing else runs."""

    def alone(self) -> None:
        """Return at once."""

    def share(self) -> None:
        """Return at once."""


@contextmanager
def machine_taken(lock_folder: Path) -> Iterator[None]:
    """Mark the machine as taken for as long as the block runs: nothing can be measured on it meanwhile."""
    lock_folder.mkdir(parents=True, exist_ok=True)
    with _locked(lock_folder / TAKEN, fcntl.LOCK_SH):
        yield


def is_machine_free(lock_folder: Path) -> bool:
    """Whether nobody has taken the machine for something else than cells."""
    try:
        with _locked(lock_folder / TAKEN, fcntl.LOCK_EX | fcntl.LOCK_NB):
            return True
    except FileNotFoundError:
        return True
    except BlockingIOError:
        return False


@contextmanager
def _locked(path: Path, how: int) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, how)
        yield descriptor
    finally:
        os.close(descriptor)
