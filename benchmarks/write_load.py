"""Let many people write at a live model at once, and time it from submitting to the verdict.

Usage: python benchmarks/write_load.py [--database sqlite postgresql] [--writers 100] [--every 10] [--seconds 60]
       [--rates 10 20 40 80]

Serves a workspace with `quintain serve` on this machine. First each writer submits another text every ten seconds;
then texts come at growing rates, whoever is free sends them, until the 99th percentile passes one second. The time is
that of the whole request, as the page sends it, until the last byte of the verdict. In the end every verdict that was
given must be one attempt in the database, and every attempt a verdict. (PostgreSQL runs without fsync, in a folder of
its own.)

Writers begin at moments of their own, so that several may submit at once; at a rate, texts come evenly spaced. The
same number a second is therefore harder in the first measurement. Whoever fools the model (about every second text
of random words does) opens a new session at once, which is two requests more. Before the clock starts a few writers
write, so that the model is loaded and what is compiled once is compiled.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2 as httpx
import numpy as np
from sqlalchemy import func, select

sys.path.insert(0, str(Path(__file__).parent.parent))

from quintain.compose import Workspace, create_workspace
from quintain.core.example import Role
from quintain.core.people import OPERATOR
from quintain.data.plan import ImportPlan
from quintain.services.access.sign_in import start_session
from quintain.services.collect.rounds.manage import open_round, put_round
from quintain.services.data.datasets import import_dataset
from quintain.services.models.train import train
from quintain.services.tasks.definitions import put_task
from quintain.settings import Settings
from quintain.store.tables import Attempt
from tests.people import RoleName, make_person
from tests.postgres import PostgresServer

DATA = Path(__file__).parent.parent / "src" / "quintain" / "demo_data" / "sentiment"
ROUND = """
task = "sentiment"
title = "Load"
attempts = 100
[[conditions]]
name = "blank"
prompt = false
[targets]
models = ["sentiment/ngram"]
[asks]
confirm = false
"""
TOKEN = re.compile(r'name="token" value="([^"]+)"')
LIMIT_S = 1.0
WARM = 10  # writers who write once before the clock starts
OK = 200
SEE_OTHER = 303


@dataclass
class Writer:
    """Somebody who writes: a browser's cookie, the session's address, the token of the form."""

    client: httpx.AsyncClient
    csrf: str
    words: list[str]
    draw: random.Random
    address: str = ""
    token: str = ""
    verdicts: int = 0
    refused: int = 0
    resent: int = 0
    times: list[float] = field(default_factory=list)

    async def begin(self) -> None:
        """Begin a session and open its page."""
        place = "/tasks/sentiment/rounds/1/write"
        answer = await self.client.post(place, data={"csrf": self.csrf})
        assert answer.status_code == SEE_OTHER, answer.text[-500:]
        self.address = answer.headers["location"]
        self.token = TOKEN.search((await self.client.get(self.address)).text)[1]  # type: ignore[index] # every page has one

    async def _send(self, data: dict[str, str]) -> httpx.Response:
        """Send a form as browsers do: once more, where a connection that was kept open turns out to be closed."""
        for _ in range(3):
            try:
                return await self.client.post(f"{self.address}/try", data=data, headers={"hx-request": "true"})
            except (httpx.ReadError, httpx.RemoteProtocolError):
                self.resent += 1
        raise RuntimeError("The server closes every connection.")

    async def write(self) -> None:
        """Submit a text that nobody has written, and read the verdict."""
        text = " ".join(self.draw.choices(self.words, k=14))
        data = {"csrf": self.csrf, "token": self.token, "in-text": text, "answer": "positive"}
        started = time.perf_counter()
        answer = await self._send(data)
        self.times.append(time.perf_counter() - started)
        if answer.status_code != OK:
            self.refused += 1
            return
        self.verdicts += 1
        if answer.headers["hx-retarget"] == "#writing":  # fooled, or the last try: the session is over
            await self.begin()
        else:
            self.token = TOKEN.search(answer.text)[1]  # type: ignore[index] # every verdict has one


def prepare(settings: Settings, writers: int) -> tuple[Workspace, list[tuple[str, str]]]:
    """Make a workspace with a trained model, an open round, and people who are signed in."""
    workspace = create_workspace(settings)
    with workspace.session() as db:
        put_task(db, OPERATOR, (DATA / "task.toml").read_text(encoding="utf-8"))
        plan = ImportPlan(role=Role.TRAIN)
        import_dataset(db, workspace.blobs, OPERATOR, "sentiment", "train", DATA / "train.jsonl", plan)
        train(db, workspace.blobs, OPERATOR, "sentiment", "ngram", ["sentiment/train"])
        open_round(db, OPERATOR, put_round(db, OPERATOR, ROUND).ref)
        people = [make_person(db, f"writer-{number}", RoleName.WORKER) for number in range(writers)]
        started = [start_session(db, person) for person in people]
    return workspace, [(one.token, one.csrf) for one in started]


@contextmanager
def served(settings: Settings, *options: str) -> Iterator[tuple[str, int]]:
    """Run `quintain serve` as a process, and give its address and the process's id."""
    environment = {**os.environ, "QUINTAIN_WORKSPACE": str(settings.workspace), "QUINTAIN_LOG_LEVEL": "error"}
    if settings.database_url:
        environment["QUINTAIN_DATABASE_URL"] = settings.database_url
    command = [sys.executable, "-m", "quintain", "serve", "--port", "0", "--json", *options]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        said = "".join(iter(process.stdout.readline, "}\n"))
        yield str(json.loads(said + "}")["url"]), process.pid
    finally:
        process.terminate()
        process.wait(30)


async def steadily(writers: list[Writer], every: float, seconds: float) -> None:
    """Let each writer submit every so many seconds, begun at different moments."""
    end = time.perf_counter() + seconds

    async def one(writer: Writer) -> None:
        await asyncio.sleep(writer.draw.uniform(0, every))
        while time.perf_counter() < end:
            started = time.perf_counter()
            await writer.write()
            await asyncio.sleep(max(0.0, every - (time.perf_counter() - started)))

    await asyncio.gather(*(one(writer) for writer in writers))


async def at_rate(writers: list[Writer], rate: float, seconds: float) -> float:
    """Send texts at a rate, each by a writer who is free, and give the rate that was reached."""
    free: asyncio.Queue[Writer] = asyncio.Queue()
    for writer in writers:
        free.put_nowait(writer)

    async def one() -> None:
        arrived = time.perf_counter()
        writer = await free.get()
        waited = time.perf_counter() - arrived
        await writer.write()
        writer.times[-1] += waited  # who finds nobody free has waited, too
        free.put_nowait(writer)

    started = time.perf_counter()
    running = []
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, started + number / rate - time.perf_counter()))
        running.append(asyncio.create_task(one()))
    await asyncio.gather(*running)
    return len(running) / (time.perf_counter() - started)


def summary(writers: list[Writer]) -> str:
    """Say how long it took, and forget it for the next measurement."""
    times = np.array([seconds for writer in writers for seconds in writer.times]) * 1000
    for writer in writers:
        writer.times.clear()
    p50, p99 = np.percentile(times, [50, 99])
    return f"n {len(times)}, p50 {p50:.0f} ms, p99 {p99:.0f} ms, worst {times.max():.0f} ms"


async def measure(url: str, people: list[tuple[str, str]], options: argparse.Namespace) -> tuple[int, int]:
    """Run both measurements, and give how many verdicts and refusals there were."""
    words = sorted({word for line in (DATA / "train.jsonl").open() for word in re.findall(r"[a-z]{3,}", line)})
    limits = httpx.Limits(max_connections=4 * len(people))
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits) as shared:
        writers = []
        for number, (token, csrf) in enumerate(people):
            client = httpx.AsyncClient(base_url=url, timeout=60, cookies={"quintain_session": token})
            writers.append(Writer(client, csrf, words, random.Random(number)))
        await shared.get("/healthz")
        for writer in writers:
            await writer.begin()
        for writer in writers[:WARM]:
            await writer.write()
            writer.times.clear()
        await steadily(writers, options.every, options.seconds)
        print(f"  {len(writers)} writers, one text each {options.every:g} s: {summary(writers)}", flush=True)
        for rate in options.rates:
            reached = await at_rate(writers, rate, options.seconds / 3)
            worst = float(np.percentile([s for writer in writers for s in writer.times], 99))
            print(f"  {rate:g} texts a second (reached {reached:.1f}): {summary(writers)}", flush=True)
            if worst > LIMIT_S:
                break
        for writer in writers:
            await writer.client.aclose()
        print(f"  {sum(writer.resent for writer in writers)} forms were sent twice")
        return sum(writer.verdicts for writer in writers), sum(writer.refused for writer in writers)


def race(kind: str, settings: Settings, options: argparse.Namespace) -> None:
    """Measure one database, and compare verdicts with attempts."""
    print(f"{kind}:", flush=True)
    workspace, people = prepare(settings, options.writers)
    with served(settings) as (url, _):
        verdicts, refused = asyncio.run(measure(url, people, options))
    with workspace.session() as db:
        stored = db.scalar(select(func.count()).select_from(Attempt)) or 0
        texts = db.scalar(select(func.count(func.distinct(Attempt.text_key)))) or 0
    workspace.close()
    lost, doubled = max(0, verdicts - stored), stored - texts
    print(f"  {verdicts} verdicts, {stored} attempts, {refused} refused; lost {lost}, doubled {doubled}")
    if verdicts != stored or doubled:
        sys.exit("Attempts were lost or doubled.")


def main() -> None:
    """Measure the databases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", nargs="+", default=["sqlite", "postgresql"], choices=["sqlite", "postgresql"])
    parser.add_argument("--writers", type=int, default=100)
    parser.add_argument("--every", type=float, default=10.0, help="seconds between two texts of one writer")
    parser.add_argument("--seconds", type=float, default=60.0, help="length of the steady measurement")
    parser.add_argument("--rates", type=float, nargs="*", default=[10, 20, 40, 80, 160], help="texts a second")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="quintain-load-", dir="/tmp"))
    server = None
    try:
        for kind in options.database:
            place = folder / kind
            url = ""
            if kind == "postgresql":
                pg_folder = folder / "pg"
                pg_folder.mkdir()
                folder.chmod(0o755)
                server = PostgresServer(pg_folder)
                server.start()
                url = server.create(template=None)
            race(kind, Settings(workspace=place, database_url=url), options)
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
