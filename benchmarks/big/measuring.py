"""What a request costs the server: its processor time as the kernel counts it, the answer's size, the memory."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2 as httpx
import numpy as np

from big.building import Place, do_jobs
from big.pages import Page
from quintain.settings import settings_environment

WARM = 20
PROCESS_CLOCK = 2  # as Linux numbers the clocks of other processes, see clock_getcpuclockid(3)
HEAVY = 1
PENDING = 503
SECONDS = 1200.0
LONG_MS = 5000.0  # a request that takes so long is not repeated


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of the server's processor: the first request after a restart, then the middle and the slowest."""

    cold: float
    p50: float
    p99: float
    size: int
    status: int
    memory: int


def used_ms(process: int) -> float:
    """Give the processor time of *process* so far, with that of threads that have ended, in milliseconds."""
    clock = (~process << 3) | PROCESS_CLOCK
    return time.clock_gettime(clock) * 1000


def peak_mb(process: int) -> int:
    """Give the most memory that *process* has held, in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 // 10**6


@contextmanager
def served(place: Place) -> Iterator[tuple[str, int]]:
    """Run `quintain serve` without workers, and give its address and its process."""
    environment = {**settings_environment(place.settings), "QUINTAIN_LOG_LEVEL": "error", "QUINTAIN_WORKERS": "0"}
    environment = {**environment, "QUINTAIN_MODEL_CALLS": "1000000"}
    command = [sys.executable, "-m", "quintain", "serve", "--port", "0", "--json"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        said = "".join(iter(process.stdout.readline, "}\n"))
        yield str(json.loads(said + "}")["url"]), process.pid
    finally:
        process.terminate()
        process.wait(60)


def measure(place: Place, pages: Sequence[Page], *, warm: int = WARM, restart: bool = False) -> Iterator[Cost]:
    """Open each of *pages* for the first time, then again and again; with *restart* on a server of its own."""
    groups = [[page] for page in pages] if restart else [list(pages)]
    for group in groups:
        with served(place) as (url, process), httpx.Client(base_url=url, timeout=SECONDS) as client:
            client.get("/help").raise_for_status()  # what every server loads once is no page's cost
            for page in group:
                yield _measure(client, process, place, page, warm)


def _measure(client: httpx.Client, process: int, place: Place, page: Page, warm: int) -> Cost:
    headers = {"accept-encoding": "identity"}
    if page.who:
        headers["cookie"] = f"quintain_session={place.cookies[page.who]}"
    costs = []
    for _ in range(1 + (HEAVY if page.heavy else warm)):
        before = used_ms(process)
        answer = client.get(page.path.format(**place.names), headers=headers)
        costs.append(used_ms(process) - before)
        if answer.status_code == PENDING:  # a worker is wanted; this one stands beside the server
            do_jobs(place.settings)
        if costs[-1] > LONG_MS:
            break
    middle, slowest = np.quantile(costs[1:] or costs, [0.5, 0.99])
    size, memory = len(answer.content), peak_mb(process)
    return Cost(costs[0], float(middle), float(slowest), size, answer.status_code, memory)
