"""Let a thousand simulated people take part in a trial over HTTP, and time every request.

Usage: python benchmarks/trial_load.py [--database postgresql] [--workers 1000] [--every 30] [--seconds 90]

Serves a workspace with `quintain serve` on this machine and opens a trial of two arms. Each of the simulated people
does one step every thirty seconds, as the API's answers tell them: look where they stand, enter, answer the tutorial's
quiz, begin a session, hand a text in; then they look again. They begin at moments of their own. Numbers and times are
bounded by the options, and nothing outside of this machine is asked. In the end every person must be in one arm, and
everything that was finished must be paid once.

Beside the times stand the load of the machine and the processor time that the server took for a request: on a machine
that does other things, too, that says more.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import sys
import tempfile
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
from sqlalchemy import func, select

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR
from quintain.services.access import tokens
from quintain.services.pay import ledger
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.trials import get_trial, open_trial, put_trial
from quintain.settings import Settings
from quintain.store.tables import CrowdMember, Earning
from tests.people import RoleName, make_person
from tests.postgres import PostgresServer
from write_load import DATA, served

PLACE = "/api/v1/tasks/sentiment/trials/load"
PLAIN = """
name = "plain"
[[stages]]
name = "writing"
writing = {items = 2, sessions = 50, final = true, pay = 350}
"""
TRAINED = """
name = "trained"
[[stages]]
name = "tutorial"
[stages.tutorial]
pay = 350
[[stages.tutorial.quizzes]]
name = "first"
feedback = true
[[stages.tutorial.quizzes.pairs]]
ask = "Which is harder?"
first = "It rains."
second = "It has rained before it rained."
right = "second"
[[stages]]
name = "writing"
writing = {items = 2, sessions = 50, final = true, pay = 350}
"""
WORDS = ("lantern", "orchard", "viola", "harbour", "saddle", "glacier", "kettle", "archive", "meadow", "quarry")
SLOW_MS = 300


@dataclass
class Person:
    """Somebody simulated: what their last answer told them to do next, and how long requests took."""

    client: httpx.AsyncClient
    draw: random.Random
    session: str = ""
    left: int = 0
    part: dict[str, Any] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)
    did: Counter[str] = field(default_factory=Counter)

    async def ask(self, what: str, method: str, url: str, json: dict[str, Any] | None = None) -> Any:
        """Ask the server, and note how long that took."""
        begun = time.perf_counter()
        answer = await self.client.request(method, url, json=json)
        self.times.append(time.perf_counter() - begun)
        self.did[what if answer.is_success else f"{what}: {answer.status_code}"] += 1
        return answer.json() if answer.is_success else None

    async def step(self) -> None:
        """Do what comes next."""
        if self.session:
            await self._write()
            return
        self.part = await self.ask("look", "GET", f"{PLACE}/part") or {}
        if self.part.get("what") == "enter":
            await self.ask("enter", "POST", f"{PLACE}/enter", {})
        elif self.part.get("quiz"):
            found = await self.ask("quiz", "GET", f"{PLACE}/quiz")
            if found and found["step"]:
                said = {"quiz": found["step"]["quiz"], "step": found["step"]["step"], "answer": "second"}
                await self.ask("answer", "POST", f"{PLACE}/quiz", said)
        elif self.part.get("round"):
            number = self.part["round"]
            begun = await self.ask("begin", "POST", f"/api/v1/tasks/sentiment/rounds/{number}/sessions")
            if begun:
                self.session, self.left = begun["key"], begun["allowed"]

    async def _write(self) -> None:
        text = " ".join(self.draw.choices(WORDS, k=9)) + f" {uuid.uuid4().hex}"
        body = {"inputs": {"text": text}, "target": "positive", "token": uuid.uuid4().hex}
        if await self.ask("write", "POST", f"/api/v1/sessions/{self.session}/attempts", body) is not None:
            self.left -= 1
        if self.left <= 0:
            self.session = ""


def prepare(settings: Settings, workers: int) -> tuple[Workspace, list[str]]:
    """Make a workspace with an open trial, and people with tokens."""
    workspace = create_workspace(settings)
    with workspace.session() as db:
        put_task(db, OPERATOR, (DATA / "task.toml").read_text(encoding="utf-8"))
        put_trial(db, OPERATOR, "sentiment", "load", [PLAIN, TRAINED], title="Load")
        open_trial(db, workspace.blobs, OPERATOR, "sentiment", "load")
        people = [make_person(db, f"worker-{number}", RoleName.WORKER) for number in range(workers)]
        return workspace, [tokens.create_token(db, person, "load")[0] for person in people]


async def load(url: str, found: list[str], options: argparse.Namespace) -> list[Person]:
    """Let everybody do a step every so often, begun at different moments, until the time is over."""
    limits = httpx.Limits(max_connections=len(found))
    async with httpx.AsyncHTTPTransport(limits=limits) as shared:
        people = [
            Person(
                httpx.AsyncClient(
                    base_url=url, transport=shared, timeout=60, headers={"authorization": f"Bearer {token}"}
                ),
                random.Random(number),
            )
            for number, token in enumerate(found)
        ]
        end = time.perf_counter() + options.seconds

        async def one(person: Person) -> None:
            await asyncio.sleep(person.draw.uniform(0, options.every))
            while time.perf_counter() < end:
                begun = time.perf_counter()
                await person.step()
                await asyncio.sleep(max(0.0, options.every - (time.perf_counter() - begun)))

        await asyncio.gather(*(one(person) for person in people))
    return people


def processor_seconds(pid: int) -> float:
    """Read how much processor time a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check(workspace: Workspace, people: list[Person]) -> None:
    """Compare what people did with what stands in the books."""
    with workspace.session() as db:
        get_trial(db, OPERATOR, "sentiment", "load")  # what was finished last is put on record
        members = db.scalar(select(func.count()).select_from(CrowdMember)) or 0
        works = db.scalar(select(func.count(Earning.id))) or 0
        apart = db.scalar(select(func.count(func.distinct(Earning.work)))) or 0
        differs = ledger.check(db, OPERATOR).discrepancies
    entered = sum(one.did["enter"] for one in people)
    print(f"  {members} members, {entered} entered; {works} earnings, {apart} different; {len(differs)} differences")
    if members != entered or works != apart or differs:
        sys.exit("Somebody was lost, or something was paid twice.")


def race(kind: str, settings: Settings, options: argparse.Namespace) -> None:
    """Measure one database."""
    workspace, found = prepare(settings, options.workers)
    with served(settings) as (url, pid):
        before = processor_seconds(pid)
        people = asyncio.run(load(url, found, options))
        spent = processor_seconds(pid) - before
    times = np.array([one for person in people for one in person.times]) * 1000
    p50, p99 = np.percentile(times, [50, 99])
    did = sum((person.did for person in people), Counter[str]())
    print(
        f"{kind}: {options.workers} people, a step each {options.every:g} s for {options.seconds:g} s: "
        f"{len(times)} requests, p50 {p50:.0f} ms, p99 {p99:.0f} ms ({'under' if p99 < SLOW_MS else 'over'} {SLOW_MS})"
    )
    print(f"  {spent / len(times) * 1000:.1f} ms of the server's processor a request; load {os.getloadavg()[0]:.1f}")
    print("  " + ", ".join(f"{name} {count}" for name, count in sorted(did.items())))
    check(workspace, people)
    workspace.close()


def main() -> None:
    """Measure the databases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", nargs="+", default=["postgresql"], choices=["sqlite", "postgresql"])
    parser.add_argument("--workers", type=int, default=1_000)
    parser.add_argument("--every", type=float, default=30.0, help="seconds between two steps of one person")
    parser.add_argument("--seconds", type=float, default=90.0)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="quintain-trial-load-", dir="/tmp"))
    folder.chmod(0o755)
    server = None
    try:
        for kind in options.database:
            url = ""
            if kind == "postgresql":
                (folder / "pg").mkdir()
                server = PostgresServer(folder / "pg")
                server.start()
                url = server.create(template=None)
            race(kind, Settings(workspace=folder / kind, database_url=url), options)
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
