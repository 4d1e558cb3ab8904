"""What a request costs: the server's processor time for each of a few kinds, one after another.

Usage: python benchmarks/request_cost.py [--database sqlite postgresql] [--requests 300] [--hold]

Serves a workspace with `quintain serve` and sends every kind of request by itself on one open connection. The cost is
what the serving process has used of the processors, as the kernel counts it, divided by the requests; what the client
and a PostgreSQL server use is not in it. A bare route of the framework on the same server is measured beside them.
`--hold` keeps sending attempts until it is interrupted, so that a sampling profiler can look on; the process to look at
is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx

sys.path.insert(0, str(Path(__file__).parent.parent))

from quintain.settings import Settings
from tests.postgres import PostgresServer
from write_load import DATA, SEE_OTHER, Writer, prepare, served

AIMS_MS = {"status": 1.5, "session start": 5.0, "attempt": 6.0}
BARE = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.get("/")
def bare() -> dict[str, bool]:
    return {"ok": True}
uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False)
"""
WARM = 30
PRAISE = ["wonderful", "great", "lovely", "excellent", "delightful", "superb", "charming", "brilliant"]
TICKS = os.sysconf("SC_CLK_TCK")

Request = Callable[[], Awaitable[None]]


def used_ms(process: int) -> float:
    """Give the processor time of *process* so far, in milliseconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / TICKS


async def cost(process: int, request: Request, times: int) -> float:
    """Send *request* *times* times and give what one of them cost, in milliseconds."""
    for _ in range(WARM):
        await request()
    before = used_ms(process)
    for _ in range(times):
        await request()
    return (used_ms(process) - before) / times


@contextmanager
def bare_server(port: int) -> Iterator[int]:
    """Run one route of the framework with nothing around it."""
    process = subprocess.Popen([sys.executable, "-c", BARE, str(port)])
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(30)


async def bare_cost(times: int) -> float:
    """Measure a route that does nothing."""
    with bare_server(18_765) as process:
        async with httpx.AsyncClient(base_url="http://127.0.0.1:18765") as client:

            async def ask() -> None:
                (await client.get("/")).raise_for_status()

            for _ in range(100):
                try:
                    await ask()
                    break
                except httpx.ConnectError:
                    await asyncio.sleep(0.1)
            return await cost(process, ask, times)


class Praise(random.Random):
    """Draws words of praise among the others: the model is rarely fooled by them, and the session goes on."""

    def choices(self, population: Sequence[str], *args: Any, k: int = 1, **options: Any) -> list[str]:  # type: ignore[override]
        """Draw *k* words."""
        return super().choices(population, k=k - len(PRAISE)) + self.sample(PRAISE, len(PRAISE))


def requests_of(url: str, people: Sequence[tuple[str, str]], writer: Writer) -> dict[str, Request]:
    """List the kinds of request that are measured. A session is begun by somebody new each time."""
    client = writer.client
    newcomers = iter(people)

    async def status() -> None:
        (await client.get("/api/v1/status")).raise_for_status()

    async def start() -> None:
        token, csrf = next(newcomers)
        headers = {"cookie": f"quintain_session={token}"}
        answer = await bare.post("/tasks/sentiment/rounds/1/write", data={"csrf": csrf}, headers=headers)
        assert answer.status_code == SEE_OTHER, answer.text[-500:]

    async def page() -> None:
        (await client.get(writer.address)).raise_for_status()

    bare = httpx.AsyncClient(base_url=url, timeout=60)
    return {"status": status, "session start": start, "session page": page, "attempt": writer.write}


async def measure(url: str, process: int, people: list[tuple[str, str]], options: argparse.Namespace) -> None:
    """Measure every kind of request and print it beside its aim."""
    words = sorted({word for line in (DATA / "train.jsonl").open() for word in re.findall(r"[a-z]{3,}", line)})
    token, csrf = people[0]
    async with httpx.AsyncClient(base_url=url, timeout=60, cookies={"quintain_session": token}) as client:
        writer = Writer(client, csrf, words, Praise(1))
        await writer.begin()
        for name, request in requests_of(url, people[1:], writer).items():
            found = await cost(process, request, options.requests)
            aim = f" (aim {AIMS_MS[name]:g})" if name in AIMS_MS else ""
            print(f"  {name}: {found:.2f} ms{aim}", flush=True)
        while options.hold:
            await writer.write()


def main() -> None:
    """Measure the databases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", nargs="+", default=["sqlite", "postgresql"], choices=["sqlite", "postgresql"])
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--hold", action="store_true", help="go on with attempts until interrupted")
    options = parser.parse_args()
    print(f"a bare route: {asyncio.run(bare_cost(options.requests)):.2f} ms")
    folder = Path(tempfile.mkdtemp(prefix="quintain-cost-", dir="/tmp"))
    server = None
    try:
        for kind in options.database:
            url = ""
            if kind == "postgresql":
                folder.chmod(0o755)
                (folder / "pg").mkdir()
                server = PostgresServer(folder / "pg")
                server.start()
                url = server.create(template=None)
            settings = Settings(workspace=folder / kind, database_url=url)
            workspace, people = prepare(settings, 1 + WARM + options.requests)
            workspace.close()
            with served(settings) as (address, process):
                print(f"{kind} (process {process}):", flush=True)
                asyncio.run(measure(address, process, people, options))
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
