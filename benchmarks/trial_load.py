"""Let a thousand simulated people take part in a trial over HTTP, and time every request.

Usage: python benchmarks/trial_load.py [--database postgresql] [--workers 1000] [--every 30] [--seconds 120]
       [--processes 1]

Serves a workspace with `quintain serve` on this machine and opens a trial of two arms. Each of the simulated people
does one step every thirty seconds, as the API's answers tell them: look where they stand and enter, answer the
tutorial's quiz, begin a session, hand a text in; after the last text of a session they look again, and begin the next.
They begin at moments of their own. Numbers and times are bounded by the options, and nothing outside of this machine is
asked. In the end every person must be in one arm, and everything that was finished must be paid once.

Beside the times stand the load of the machine and the processor time that the server took for a request, by kind of
request where one process serves: on a machine that does other things, too, that says more. `--alone` measures only
that, with requests one after another and a few people.
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
from quintain.core.people import OPERATOR, Scope
from quintain.services.access import tokens
from quintain.services.pay import ledger
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.trials import get_trial, open_trial, put_trial
from quintain.settings import Settings
from quintain.store.database import transaction
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
TELL_S = 10.0  # between two lines on how far it is
ALONE_STEPS = 12


@dataclass
class Person:
    """Somebody simulated: what their last answer told them to do next, and how long requests took."""

    client: httpx.AsyncClient
    token: str
    draw: random.Random
    session: str = ""
    left: int = 0
    part: dict[str, Any] = field(default_factory=dict)
    quiz: dict[str, Any] | None = None
    times: dict[str, list[float]] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)

    async def ask(self, what: str, method: str, url: str, json: dict[str, Any] | None = None) -> Any:
        """Ask the server, and note how long that took."""
        begun = time.perf_counter()
        headers = {"authorization": f"Bearer {self.token}"}
        answer = await self.client.request(method, url, json=json, headers=headers)
        self.times.setdefault(what, []).append(time.perf_counter() - begun)
        if not answer.is_success:
            self.failed[f"{what}: {answer.status_code}"] += 1
        return answer.json() if answer.is_success else None

    async def step(self) -> None:
        """Do what comes next."""
        if self.session:
            await self._write()
        elif self.quiz:
            said = {"quiz": self.quiz["quiz"], "step": self.quiz["step"], "answer": "second"}
            self.quiz = (await self.ask("answer", "POST", f"{PLACE}/quiz", said) or {}).get("step")
        else:
            await self._go_on()

    async def _go_on(self) -> None:
        """Look where one stands, and begin what can be done."""
        part = await self.ask("look", "GET", f"{PLACE}/part") or {}
        if part.get("what") == "enter":
            await self.ask("enter", "POST", f"{PLACE}/enter", {})
        elif part.get("quiz"):
            self.quiz = (await self.ask("quiz", "GET", f"{PLACE}/quiz") or {}).get("step")
        elif part.get("round"):
            begun = await self.ask("begin", "POST", f"/api/v1/tasks/sentiment/rounds/{part['round']}/sessions")
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
        with transaction(db):  # one for all of them
            people = [make_person(db, f"worker-{number}", RoleName.WORKER) for number in range(workers)]
            return workspace, [tokens.create_token(db, person, "load", scopes=[Scope.WORK])[0] for person in people]


async def load(url: str, found: list[str], options: argparse.Namespace) -> list[Person]:
    """Let everybody do a step every so often, begun at different moments, until the time is over."""
    limits = httpx.Limits(max_connections=len(found), max_keepalive_connections=len(found))
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=60, trust_env=False) as client:
        people = [Person(client, token, random.Random(number)) for number, token in enumerate(found)]
        begun = time.perf_counter()
        end = begun + options.seconds

        async def one(person: Person) -> None:
            await asyncio.sleep(person.draw.uniform(0, options.every))
            while time.perf_counter() < end:
                due = time.perf_counter() + options.every
                await person.step()
                await asyncio.sleep(max(0.0, min(due, end) - time.perf_counter()))

        async def tell() -> None:
            while time.perf_counter() < end:
                await asyncio.sleep(min(TELL_S, max(0.0, end - time.perf_counter())))
                done = sum(len(each) for person in people for each in person.times.values())
                print(f"  {time.perf_counter() - begun:4.0f} s: {done} requests", flush=True)

        await asyncio.gather(tell(), *(one(person) for person in people))
    return people


async def alone(url: str, pid: int, found: list[str]) -> list[Person]:
    """Let a few people go through the trial one after another, and print what a request of each kind costs."""
    spent: dict[str, list[float]] = {}
    async with httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as client:
        people = [Person(client, token, random.Random(number)) for number, token in enumerate(found)]
        for step in range(ALONE_STEPS):
            for person in people:
                before, asked = processor_seconds(pid), Counter({one: len(t) for one, t in person.times.items()})
                await person.step()
                now = Counter({one: len(t) for one, t in person.times.items()})
                if step:  # the first step warms up
                    spent.setdefault(" + ".join(sorted(now - asked)), []).append(processor_seconds(pid) - before)
    for what, each in sorted(spent.items()):
        print(f"  {what}: {sum(each) / len(each) * 1000:.1f} ms of the server's processor ({len(each)} times)")
    return people


def processor_seconds(pid: int) -> float:
    """Read how much processor time a process has taken, and those that it started."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    threads = Path(f"/proc/{pid}/task").iterdir()  # each knows those that it started
    children = [one for thread in threads for one in (thread / "children").read_text(encoding="utf-8").split()]
    return own + sum(processor_seconds(int(one)) for one in children)


def check(workspace: Workspace, people: list[Person]) -> None:
    """Compare what people did with what stands in the books."""
    with workspace.session() as db:
        get_trial(db, OPERATOR, "sentiment", "load")  # what was finished last is put on record
        members = db.scalar(select(func.count()).select_from(CrowdMember)) or 0
        works = db.scalar(select(func.count(Earning.id))) or 0
        apart = db.scalar(select(func.count(func.distinct(Earning.work)))) or 0
        differs = ledger.check(db, OPERATOR).discrepancies
    entered = sum(len(one.times.get("enter", ())) for one in people)
    print(f"  {members} members, {entered} entered; {works} earnings, {apart} different; {len(differs)} differences")
    if members != entered or works != apart or differs:
        sys.exit("Somebody was lost, or something was paid twice.")


def race(kind: str, settings: Settings, options: argparse.Namespace) -> None:
    """Measure one database."""
    begun = time.perf_counter()
    workspace, found = prepare(settings, options.workers)
    print(f"{kind}: {options.workers} people in {time.perf_counter() - begun:.0f} s", flush=True)
    with served(settings, "--processes", str(options.processes)) as (url, pid):
        before = processor_seconds(pid)
        run = alone(url, pid, found) if options.alone else load(url, found, options)
        people = asyncio.run(run)
        spent = processor_seconds(pid) - before
    times = {
        what: np.array([one for person in people for one in person.times.get(what, ())]) * 1000
        for what in sorted({what for person in people for what in person.times})
    }
    every = np.concatenate([*times.values()])
    for what, each in [*times.items(), ("all", every)]:
        p50, p99 = np.percentile(each, [50, 99])
        print(f"  {what}: {len(each)} requests, p50 {p50:.0f} ms, p99 {p99:.0f} ms, worst {each.max():.0f} ms")
    p99 = float(np.percentile(every, 99))
    print(f"{kind}: p99 {p99:.0f} ms ({'under' if p99 < SLOW_MS else 'over'} {SLOW_MS})")
    print(f"  {spent / len(every) * 1000:.1f} ms of the server's processor a request; load {os.getloadavg()[0]:.1f}")
    failed = sum((person.failed for person in people), Counter[str]())
    print("  refused: " + (", ".join(f"{name} {count}" for name, count in sorted(failed.items())) or "none"))
    check(workspace, people)
    workspace.close()


def main() -> None:
    """Measure the databases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", nargs="+", default=["postgresql"], choices=["sqlite", "postgresql"])
    parser.add_argument("--workers", type=int, default=1_000)
    parser.add_argument("--every", type=float, default=30.0, help="seconds between two steps of one person")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--processes", type=int, default=1, help="that serve")
    parser.add_argument("--alone", action="store_true", help="one after another: what a request costs")
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
