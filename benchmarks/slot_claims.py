"""Claim pages of slots at a steady rate from many processes, with more and more open slots, on both databases.

Usage: python benchmarks/slot_claims.py [--rate 200] [--processes 32] [--seconds 15] [--open 10000 100000 1000000]

Every claim is by another person, and every page is given back at once, which is not timed: as many slots stay open.
The time of a claim is that of the whole service call: looking up the validation and
the person, waiting for the lock, leasing ten slots, writing down what is shown to whom, reading it.
PostgreSQL runs as it does in earnest, with every commit on the disk. Each process claims a few pages before the clock
starts: a steady rate is that of servers whose statements are prepared.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import insert, text
from sqlalchemy.orm import Session

sys.path.insert(0, str(Path(__file__).parent.parent))

from quintain.core.people import OPERATOR, Actor, Grant, RoleName
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import manage as validate
from quintain.services.validate.judging.claim_page import claim_page, return_page
from quintain.services.validate.types import ValidationInfo, slot_rows
from quintain.store.base import now
from quintain.store.database import connect, transaction
from quintain.store.migrate import upgrade
from quintain.store.queries.validate.slots import NEW
from quintain.store.tables import User
from tests.postgres import PostgresServer

TASK = """
name = "mood"
kind = "text-classification"
title = "Mood"
[[labels]]
name = "negative"
[[labels]]
name = "positive"
"""
REF = "mood/check"
JUDGE = frozenset({Grant(RoleName.WORKER)})
CHUNK = 20_000
WARM_UP = 12  # claims of each process before its time is taken


def load(db: Session, table: str, rows: list[dict[str, Any]]) -> None:
    """Put rows into a table the quickest way that its database has."""
    names = list(rows[0])
    marks = ", ".join("?" * len(names))
    values = [tuple(row.values()) for row in rows]
    driver: Any = db.connection().connection.driver_connection
    if db.get_bind().dialect.name == "sqlite":
        into = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"  # noqa: S608 - names of ours
        driver.executemany(into, values)
        return
    with driver.cursor() as cursor, cursor.copy(f"COPY {table} ({', '.join(names)}) FROM STDIN") as copy:
        for row in values:
            copy.write_row(row)


def fill(db: Session, ground: ValidationInfo, open_slots: int) -> None:
    """Add items with five open slots each."""
    moment = now().replace(tzinfo=None).isoformat(" ")
    for start in range(0, open_slots // 5, CHUNK):
        numbers = range(start, min(start + CHUNK, open_slots // 5))
        items = [
            {
                "id": number + 1,
                "validation_id": ground.id,
                "hash": f"{number:032x}",
                "inputs": json.dumps({"text": f"text number {number}"}),
                "batch": 0,
                "author_id": None,
                "aim": "",
                "predictions": "[]",
                "gold_note": "",
                "created_at": moment,
            }
            for number in numbers
        ]
        slots = slot_rows(ground, [number + 1 for number in numbers], items, 0, [5] * len(items))
        with transaction(db):
            load(db, "validation_items", items)
            named = [dict(zip(NEW, row, strict=True)) for row in slots]
            load(db, "validation_slots", [{**row, "state": "open", "generation": 0} for row in named])


def prepare(url: str, open_slots: int, people: int) -> list[int]:
    """Make a database with so many open slots, five to an item, and so many people."""
    engine = connect(url)
    upgrade(engine)
    with Session(engine, expire_on_commit=False) as db:
        tasks.put_task(db, OPERATOR, TASK)
        fill(db, validate.open_validation(db, OPERATOR, REF, f"batch_size = {10**7}"), open_slots)
        with transaction(db):
            made = insert(User).returning(User.id, sort_by_parameter_order=True)
            users = list(db.scalars(made, [{"name": f"p{number}"} for number in range(people)]))
    if engine.dialect.name == "postgresql":
        # What the server does by itself after such a load, and not while claims are timed. Tables that are empty are
        # left alone, as it would: told that nothing is in them, it would plan to read them whole, and keep that plan.
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE validation_items, validation_slots, users"))
            connection.execute(text("CHECKPOINT"))
    else:
        with engine.connect() as connection:
            connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    engine.dispose()
    os.sync()  # a gigabyte on its way to the disk belongs to the load, not to a steady rate
    return users


def work(url: str, users: list[int], gap: float, begin: float, times: multiprocessing.Queue[list[float]]) -> None:
    """Claim one page for each of *users*, one every *gap* seconds."""
    engine = connect(url)
    taken = []
    with Session(engine, expire_on_commit=False) as db:
        for _ in range(WARM_UP):  # a server that has run for a while has its statements prepared and planned
            page = claim_page(db, Actor(users[0], "p", JUDGE), REF)
            assert page is not None
            return_page(db, Actor(users[0], "p", JUDGE), page.token)
        for turn, user in enumerate(users[1:]):
            wait = begin + turn * gap - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            start = time.perf_counter()
            page = claim_page(db, Actor(user, "p", JUDGE), REF)
            taken.append(time.perf_counter() - start)
            assert page is not None
            return_page(db, Actor(user, "p", JUDGE), page.token)  # so that as many slots stay open
    times.put(taken)
    engine.dispose()


def hold(url: str, open_slots: int, rate: float, processes: int, seconds: float) -> tuple[np.ndarray, float]:
    """Run the processes; give the times of all claims in milliseconds, and the rate that was held."""
    each = max(int(rate * seconds / processes), 2)
    begin = time.monotonic()
    users = prepare(url, open_slots, processes * (each + 1))
    print(f"  {open_slots:,} open slots made in {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    context = multiprocessing.get_context("fork")
    times: multiprocessing.Queue[list[float]] = context.Queue()
    gap = processes / rate
    begin = time.monotonic() + 8
    running = [
        context.Process(
            target=work,
            args=(url, users[number * (each + 1) : (number + 1) * (each + 1)], gap, begin + number / rate, times),
        )
        for number in range(processes)
    ]
    for one in running:
        one.start()
    taken = np.concatenate([times.get(timeout=seconds * 4 + 120) for _ in running])
    elapsed = time.monotonic() - begin
    for one in running:
        one.join()
    return taken * 1000, len(taken) / elapsed


def main() -> None:
    """Print one line for each database and number of open slots."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--open", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgres"])
    given = parser.parse_args()
    print(
        f"{given.processes} processes, {given.rate:g} claims a second, {os.cpu_count()} cores, load before "
        f"{os.getloadavg()[0]:.1f}; aimed at: p99 under 25 ms on SQLite and 50 ms on PostgreSQL, whatever the number",
        flush=True,
    )
    print("database   open slots   claims   rate/s   p50 ms   p95 ms   p99 ms   max ms", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="quintain-claims-", dir="/tmp"))
    server = PostgresServer(folder / "pg", durable=True)
    if "postgres" in given.databases:
        server.folder.mkdir()
        folder.chmod(0o755)
        server.start()
        server.create(template=None)  # what the others are copies of
    try:
        for kind in given.databases:
            for count in given.open:
                url = f"sqlite:///{folder}/{count}.db" if kind == "sqlite" else server.create()
                taken, rate = hold(url, count, given.rate, given.processes, given.seconds)
                middle = "   ".join(f"{value:6.1f}" for value in np.percentile(taken, [50, 95, 99, 100]))
                print(f"{kind:9}  {count:10,}   {len(taken):6}   {rate:6.0f}   {middle}", flush=True)
    finally:
        if "postgres" in given.databases:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
