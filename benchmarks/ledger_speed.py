"""How long a balance takes among a million entries, and how fast entries come in, on both databases.

Usage: python benchmarks/ledger_speed.py [--entries 1000000]

One round owes half of all entries, as a popular round does, and a thousand workers the other half: the balance of the
round, of workers and of the task's day are each asked for 200 times, with tails that are not folded yet. Then earnings
are booked one by one, each in a transaction of its own, as they arrive.

The time is that on a clock, from asking to having it. Beside it stand the processor time of who asks and, for
PostgreSQL, the time that the server says it took: on a machine that does other things, too, those say more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sqlalchemy import insert
from sqlalchemy.orm import Session

sys.path.insert(0, str(Path(__file__).parent.parent))

from quintain.core.ledger import Account, PaidPiece, earned
from quintain.store.base import now, table_of
from quintain.store.database import connect, refresh_statistics, transaction
from quintain.store.migrate import upgrade
from quintain.store.queries.pay import ledger
from quintain.store.tables import LedgerAccount, LedgerEntry, LedgerTransaction
from tests.postgres import PostgresServer

WORKERS = 1_000
CHUNK = 20_000
ASKED = 200


def fill(db: Session, entries: int) -> None:
    """Write a million entries as years of work leave them: in pairs, folded."""
    at, count = now(), entries // 2
    with transaction(db):
        db.execute(
            insert(table_of(LedgerAccount)),
            [{"id": 1, "holder": "round:1", "name": "base.pending", "currency": "USD", "balance": -10 * count}]
            + [
                {"id": 2 + n, "holder": f"worker:{n}", "name": "base.pending", "currency": "USD", "balance": 0}
                for n in range(WORKERS)
            ],
        )
    for first in range(0, count, CHUNK):
        numbers = range(first + 1, min(first + CHUNK, count) + 1)
        with transaction(db):
            db.execute(
                insert(table_of(LedgerTransaction)),
                [{"id": n, "key": f"old:{n}", "kind": "earned", "created_at": at} for n in numbers],
            )
            db.execute(
                insert(table_of(LedgerEntry)),
                [
                    {"id": 2 * n + side, "transaction_id": n, "account_id": account, "amount": amount}
                    for n in numbers
                    for side, account, amount in ((0, 1, -10), (1, 2 + n % WORKERS, 10))
                ],
            )
    with transaction(db):
        ledger.rebuild(db)
        if db.get_bind().dialect.name == "postgresql":
            for table in ("ledger_transactions", "ledger_entries", "ledger_accounts"):
                db.connection().exec_driver_sql(
                    f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"  # noqa: S608
                )


def server_time(db: Session, account: Account) -> str:
    """Ask PostgreSQL how long it plans and runs the statement, the 99th percentile of many times."""
    if db.get_bind().dialect.name != "postgresql":
        return ""
    asked = ledger.one_account().compile(dialect=db.get_bind().dialect)
    values = asked.params | {"of": account.holder, "called": account.name, "money": account.currency}
    took = []
    for _ in range(ASKED):
        told = db.connection().exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {asked}", values).scalar_one()[0]
        took.append(told["Planning Time"] + told["Execution Time"])
    return f", server p99 {np.quantile(took, 0.99):.2f} ms"


def measure(url: str, entries: int) -> None:
    """Fill a database, ask it, and print what that took."""
    engine = connect(url)
    upgrade(engine)
    name = engine.dialect.name
    with Session(engine) as db:
        fill(db, entries)
        refresh_statistics(engine)
        if name == "postgresql":
            with transaction(db):
                db.connection().exec_driver_sql("ANALYZE")
        booking = []
        for number in range(1_000):
            piece = PaidPiece(10**8 + number, number % WORKERS, 1, 1, "base", 10, "USD", now())
            begun = time.perf_counter()
            with transaction(db):
                ledger.book(db, [earned(piece)], now())
            booking.append(time.perf_counter() - begun)
        for what, account in (
            ("the round's", Account("round:1", "base.pending", "USD")),
            ("a worker's", Account("worker:7", "base.pending", "USD")),
            ("the day's", Account("task:1", f"day.{now():%Y-%m-%d}", "USD")),
        ):
            times, spent = [], time.process_time()
            for _ in range(ASKED):
                begun = time.perf_counter()
                ledger.balance(db, account)
                times.append(time.perf_counter() - begun)
            own = (time.process_time() - spent) / ASKED * 1000
            low, high = np.quantile(np.array(times) * 1000, [0.5, 0.99])
            print(
                f"{name}: balance of {what} account among {entries:,} entries: {low:.2f} ms, p99 {high:.2f} ms "
                f"(processor {own:.2f} ms{server_time(db, account)})"
            )
        low, high = np.quantile(np.array(booking) * 1000, [0.5, 0.99])
        print(f"{name}: booking one earning: {low:.2f} ms, p99 {high:.2f} ms")
    engine.dispose()


def main() -> None:
    """Measure both databases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000)
    entries = parser.parse_args().entries
    with tempfile.TemporaryDirectory(prefix="quintain-pg-", dir="/tmp") as folder:
        measure(f"sqlite:///{folder}/ledger.db", entries)
        server = PostgresServer(Path(folder))
        server.start()
        try:
            measure(server.create(template="template0"), entries)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
