"""The ledger: it follows every fact, is counted again, and people who are paid at once do not wait for each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import Forbidden
from quintain.core.ledger import Account
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.records.base import plain
from quintain.core.records.pay import Earnings
from quintain.core.rounds import Money
from quintain.services.pay import earnings, ledger
from quintain.services.pay.earnings import decide, earn, list_earnings, my_earnings, my_totals
from quintain.services.tasks.definitions import find_row, put_task
from quintain.store.base import table_of
from quintain.store.database import transaction
from quintain.store.queries.pay import ledger as queries
from quintain.store.tables import Earning, EarningStanding, LedgerAccount, LedgerTail
from tests.collecting import TASK
from tests.people import make_person

pytestmark = pytest.mark.both_databases


def earn_some(db: Session, task_id: int, user_id: int, count: int, start: int = 0) -> None:
    """Let somebody earn 10 cents *count* times; every fourth is a bonus in euros."""
    with transaction(db):
        for number in range(start, start + count):
            kind, money = ("bonus", Money(10, "EUR")) if number % 4 == 3 else ("base", Money(10, "USD"))
            earn(db, user_id, task_id, kind=kind, work=f"w:{user_id}:{number}", money=money)  # type: ignore[arg-type]


def test_earnings_are_written_some_at_a_time(
    db: Session, owner: Actor, worker: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file has the record of all that somebody earned, newest first, however few are read at once."""
    monkeypatch.setattr(earnings, "CHUNK", 3)
    for count in (0, 7):
        if count:
            put_task(db, owner, TASK)
            earn_some(db, find_row(db, "mood").id, worker.user_id or 0, count)
            earn_some(db, find_row(db, "mood").id, owner.user_id or 0, 2)
        assert earnings.export_my_earnings(db, worker, tmp_path / "earnings.json") == count
        mine = my_earnings(db, worker)
        wanted = json.dumps(Earnings(mine, count), ensure_ascii=False, indent=2, default=plain)
        assert (tmp_path / "earnings.json").read_text() == wanted


def test_the_books_follow_the_facts(db: Session, owner: Actor, worker: Actor) -> None:
    """Earning, approving and setting aside are booked as they happen; the recount finds nothing, then what is wrong."""
    put_task(db, owner, TASK)
    task_id = find_row(db, "mood").id
    earn_some(db, task_id, worker.user_id or 0, 8)
    ids = sorted(one.id for one in my_earnings(db, worker))
    decide(db, owner, "mood", ids[:4])
    decide(db, owner, "mood", ids[:1], approved=False, reason="A test account.")
    totals = {(one.kind, one.status, one.currency): one.amount for one in my_totals(db, worker)}
    assert totals == {
        ("base", "approved", "USD"): 20,
        ("base", "declined", "USD"): 10,
        ("base", "pending", "USD"): 30,
        ("bonus", "approved", "EUR"): 10,
        ("bonus", "pending", "EUR"): 10,
    }
    found = ledger.check(db, OPERATOR)
    assert (found.ok, found.transactions) == (True, 13)
    with pytest.raises(Forbidden):
        ledger.check(db, owner)
    with transaction(db):
        db.execute(update(table_of(LedgerAccount)).where(LedgerAccount.name == "base.pending").values(balance=7))
    wrong = ledger.check(db, OPERATOR).discrepancies
    assert any("base.pending" in one.place and one.counted == "0.30 USD" for one in wrong)
    assert ledger.check(db, OPERATOR, rebuild=True).ok
    with transaction(db):
        changed = update(table_of(EarningStanding)).where(EarningStanding.earning_id == ids[5])
        db.execute(changed.values(status="approved"))
    assert [one.place for one in ledger.check(db, OPERATOR).discrepancies] == [f"earning {ids[5]}"]


def test_lists_page_and_sort(db: Session, owner: Actor, worker: Actor) -> None:
    """Earnings come in pages, in the order asked for, with how many there are in all."""
    put_task(db, owner, TASK)
    task_id = find_row(db, "mood").id
    earn_some(db, task_id, worker.user_id or 0, 7)
    page = list_earnings(db, owner, "mood", order="oldest", limit=3, offset=3)
    every = list_earnings(db, owner, "mood", order="newest")
    assert ([one.id for one in page.earnings], page.total) == ([one.id for one in every.earnings[::-1][3:6]], 7)
    decide(db, owner, "mood", [page.earnings[0].id])
    assert list_earnings(db, owner, "mood", status="pending").total == 6
    assert [one.id for one in list_earnings(db, owner, "mood", status="approved").earnings] == [page.earnings[0].id]


def test_people_who_are_paid_at_once(workspace: Workspace) -> None:
    """Many earn from one task at the same time: nothing is lost, balances are exact whatever was folded."""
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        put_task(db, owner, TASK)
        task_id = find_row(db, "mood").id
        people = [make_person(db, f"worker-{n}", RoleName.WORKER).user_id or 0 for n in range(4)]

    def work(user_id: int) -> None:
        with workspace.session() as db:
            for number in range(30):
                earn_some(db, task_id, user_id, 1, number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, people))
    with workspace.session() as db:
        assert queries.balance(db, Account(f"task:{task_id}", "base.pending", "USD")) == -10 * 92
        assert db.scalar(select(LedgerAccount.balance).where(LedgerAccount.balance != 0).limit(1)) is not None
        assert ledger.check(db, OPERATOR).ok
        with transaction(db):
            for account_id in db.scalars(select(LedgerAccount.id)).all():
                assert queries.fold(db, account_id)
        assert db.scalar(select(LedgerTail.entry_id).limit(1)) is None
        assert queries.balance(db, Account(f"task:{task_id}", "base.pending", "USD")) == -10 * 92


def test_commands_show_the_books(
    workspace: Workspace,
    db: Session,
    owner: Actor,
    worker: Actor,
    cli: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`pay check` counts again and says so by its exit status; `pay books` lists accounts and lines."""
    monkeypatch.setenv("QUINTAIN_WORKSPACE", str(workspace.settings.workspace))
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    put_task(db, owner, TASK)
    earn_some(db, find_row(db, "mood").id, worker.user_id or 0, 2)
    assert json.loads(cli("pay", "check", "--json").stdout)["discrepancies"] == []
    assert json.loads(cli("pay", "books", "mood", "--json").stdout)["total"] == 0
    assert cli("pay", "books", "mood/7").exit_code == 1
    with transaction(db):
        db.execute(update(table_of(LedgerAccount)).values(balance=1))
    db.commit()
    assert cli("pay", "check").exit_code == 1
    assert db.scalar(select(Earning.id).limit(1)) is not None


def test_every_account_has_its_turn_to_be_folded() -> None:
    """Whatever place an account has in its transactions, its tail is folded after a few hundred entries at most."""
    for step in range(1, 9):
        for place in range(step):
            turns = [
                n for n, number in enumerate(range(10**6 + place, 10**6 + 4000 * step, step)) if queries.folds(number)
            ]
            assert turns, (step, place)
            assert max(np.diff([0, *turns, 4000])) < 600, (step, place)
