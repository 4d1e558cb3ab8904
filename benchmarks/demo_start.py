"""How soon a stranger can look round: the demo's first page, every board on all five axes, all runs.

Usage: python benchmarks/demo_start.py [--workspace FOLDER]

Starts `quintain demo` in a new folder and waits until all runs are done. The home page is asked for as soon as the
address is printed; nothing else is asked before the end, so that nobody is disturbed. When a board had its last figure
is read from the runs themselves: the last of those that its axes need. Then each board is asked whether it ranks all
its models. Seconds are those of the clock since the command; beside them stand the processor's seconds of the demo and
its worker by then (models that are measured run in processes of their own, which are counted as starts), and the load
of the machine before: on two quiet cores home is to be there within 10 seconds, and every board within 40.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2 as httpx
from sqlalchemy import select

from quintain.client import Client
from quintain.compose import open_workspace
from quintain.core.cells import MEASURE, PLAIN, WAITING
from quintain.services.evaluate.results.variants import counted_variants
from quintain.services.tasks.board_settings import board_spec
from quintain.settings import Settings
from quintain.store.queries.evaluate.cells import CellRow, rows
from quintain.store.tables import Cell

PATIENCE = 900.0
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Watch:
    """The clock since the command, and what the processes have used of the processor at each second."""

    demo: int
    begun: float = field(default_factory=time.time)
    used: list[tuple[float, float]] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)

    def look(self) -> None:
        """Note each second what the demo and its worker have used."""
        while not self._over.wait(1.0):
            self.used.append((time.time() - self.begun, sum(map(seconds_of, [self.demo, *children(self.demo)]))))

    def end(self) -> None:
        """Look no more."""
        self._over.set()

    def by(self, moment: float) -> float:
        """Give the processor's seconds that were used by *moment*."""
        return max((used for at, used in self.used if at <= moment + 1), default=0.0)


def seconds_of(process: int) -> float:
    """Give the processor's seconds of a process, 0 where it is gone."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def children(process: int) -> list[int]:
    """List the processes that a process has started by itself."""
    found = Path(f"/proc/{process}/task").glob("*/children")
    try:
        return [int(one) for path in found for one in path.read_text().split()]
    except OSError:
        return []


@contextmanager
def demo(folder: Path) -> Iterator[tuple[str, Watch]]:
    """Run the demo in *folder*, give its address when it is served, and end it."""
    command = [sys.executable, "-m", "quintain", "demo", "--port", "0", "--no-open", "--json", "-w", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        watch = Watch(process.pid)
        threading.Thread(target=watch.look, daemon=True).start()
        try:
            assert process.stdout is not None
            text = "".join([*iter(process.stdout.readline, "}\n"), "}"])  # the object ends where a brace stands alone
            yield json.loads(text)["url"], watch
        finally:
            watch.end()
            process.terminate()
            process.wait(30)


def main() -> None:
    """Start the demo and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workspace", type=Path, help="a folder that is not there yet; by default a temporary one")
    given = parser.parse_args().workspace
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as scratch:
        folder = given or Path(scratch) / "demo"
        with demo(folder) as (url, watch):
            httpx.get(url).raise_for_status()
            home = time.time() - watch.begun
            wait_for_runs(folder)
            finished = runs(folder)
            boards, unranked = ask_boards(url)
        print(f"load before: {load:.1f} on {os.cpu_count()} cores")
        needed = [row for row in finished if row.needed]
        told = {"home served": home, "every board ranked": latest(needed, watch), "all done": latest(finished, watch)}
        for what, moment in told.items():
            by = [row for row in finished if row.ended - watch.begun <= moment]
            used, starts = watch.by(moment), sum(row.variant == MEASURE for row in by)
            print(f"{what:20} {moment:6.1f} s  {used:6.1f} s of processor  {len(by):5} runs, {starts} measured")
        print(f"{len(needed)} runs make the boards of {', '.join(boards)}; unranked: {'; '.join(unranked) or 'none'}")


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that is over, and whether a board needs it."""

    variant: str
    ended: float
    needed: bool


def latest(ended: Sequence[Ended], watch: Watch) -> float:
    """Say when the last of some runs was over."""
    return max(one.ended for one in ended) - watch.begun


def wait_for_runs(folder: Path) -> None:
    """Wait until no run is queued or at work."""
    workspace = open_workspace(Settings(workspace=folder))
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with workspace.session() as db:
            left = db.scalar(select(Cell.id).where(Cell.state.in_(WAITING)).limit(1))
            if left is None and db.scalar(select(Cell.id).limit(1)) is not None:
                return
        time.sleep(1)
    raise TimeoutError("The demo's runs did not end.")


def runs(folder: Path) -> list[Ended]:
    """List the runs, and say which the boards need."""
    workspace = open_workspace(Settings(workspace=folder))
    counted = {PLAIN, MEASURE, *counted_variants()}
    with workspace.session() as db:
        found: Sequence[CellRow] = rows(db)
        scoring = {name: board_spec(db, name).datasets for name in {row.task.name for row in found}}
        return [
            Ended(
                row.cell.variant,
                row.cell.finished_at.timestamp() if row.cell.finished_at else 0.0,
                row.cell.variant in counted and bool(scoring[row.task.name].get(row.dataset.name)),
            )
            for row in found
        ]


def ask_boards(url: str) -> tuple[list[str], list[str]]:
    """Return the boards there are, and which models have no place on theirs, and why."""
    client = Client(url)
    names = [summary.name for summary in client.tasks()]
    boards = {name: client.rank(name).models for name in names}
    assert all(boards.values()), boards
    return names, [f"{row.model}: {row.reason}" for models in boards.values() for row in models if not row.rank]


if __name__ == "__main__":
    main()
