"""Counts that are kept as facts arrive: always what a recount finds, repaired and reported where they are not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, Actor
from quintain.core.rounds import Money
from quintain.services.access.actors import find_user
from quintain.services.collect.rounds.round_figures import counters
from quintain.services.collect.writing.list_attempts import flag_queue, report
from quintain.services.collect.writing.sessions import start_session
from quintain.services.house.job_kinds import count_kinds
from quintain.services.jobs import figures
from quintain.services.pay import ledger, payouts
from quintain.services.pay.earnings import decide, earn, list_earnings, my_totals
from quintain.services.pay.report import cost_report
from quintain.services.tasks.definitions import find_row
from quintain.services.validate.judging.retraction import decide_flag
from quintain.store.base import table_of
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.jobs import counts
from quintain.store.queries.jobs.counts import CountKey, round_count
from quintain.store.tables import CountTail, EarningStanding, FlagStanding, KeptCount, LedgerAccount, OwedPay
from tests.collecting import add_round, submit

pytestmark = pytest.mark.both_databases


def recount(db: Session, blobs: Blobs) -> list[str]:
    """Compare every count with its facts; give what was wrong."""
    return [f"{one.kind}: {one.subject}" for one in figures.check(db, blobs, OPERATOR, (), count_kinds()).faults]


def test_a_round_is_counted_as_it_is_written(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """Attempts, prompts, flags: each number is there at once, and what a recount finds, also after a decision."""
    info = add_round(db, blobs, owner, tmp_path)
    key = start_session(db, blobs, worker, info.ref).key
    made = [submit(db, blobs, worker, key, f"It was bad in ways that {n * 977} cannot tell.") for n in range(2)]
    for one in made:
        report(db, owner, one.attempt_id, "This says too much.")
    known = counts.of_round(db, info.id)
    assert (known["attempts"], known["flags.open"], known["prompts.used"]) == (2, 2, 1)
    found = counters(db, owner, info.ref)
    assert (found.flags, found.prompts["used"], found.prompts["leased"]) == (2, 1, 1)
    assert found.prompts["unused"] == found.prompts["prompts"] - 1
    (first, _), total = (listed := flag_queue(db, owner, info.ref)).flags, listed.total
    assert total == 2
    for withhold in (True, False):  # the second time changes what was decided, and no number
        decide_flag(db, owner, first.id, withhold=withhold)
    open_ones, decided = flag_queue(db, owner, info.ref), flag_queue(db, owner, info.ref, decided=True)
    assert (open_ones.total, [one.attempt_id for one in open_ones.flags]) == (1, [made[1].attempt_id])
    assert (decided.total, [one.withhold for one in decided.flags]) == (1, [False])
    assert flag_queue(db, owner, info.ref, decided=None).total == 2
    assert cost_report(db, owner, info.task).groups[0].texts == 2
    assert recount(db, blobs) == []


def test_what_is_owed_follows_decisions_and_payouts(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """Approving owes, a payout takes it up, cancelling owes it again, paying ends it; numbers follow each time."""
    info = add_round(db, blobs, owner, tmp_path)
    _earn(db, worker, info.id, 4)
    ids = sorted(one.id for one in list_earnings(db, owner, info.task).earnings)
    steps: list[tuple[int, ...]] = []

    def look() -> None:
        owed = payouts.owed(db, owner, info.task)
        totals = [list_earnings(db, owner, info.task, status=one).total for one in ("pending", "approved", "paid")]
        assert recount(db, blobs) == []
        steps.append((*totals, *((owed[0].people, owed[0].amount) if owed else (0, 0))))

    look()
    decide(db, owner, info.task, ids[:3])
    decide(db, owner, info.task, ids[:1], approved=False, reason="Not his.")
    look()
    (made,) = payouts.plan(db, owner, info.task, provider="hand", currency="USD")
    look()
    payouts.cancel(db, owner, made.id)
    look()
    (made,) = payouts.plan(db, owner, info.task, provider="hand", currency="USD")
    payouts.resolve(db, owner, made.id, paid=True)
    look()
    assert steps == [(4, 0, 0, 0, 0), (1, 2, 0, 1, 200), (1, 2, 0, 0, 0), (1, 2, 0, 1, 200), (1, 0, 2, 0, 0)]
    assert list_earnings(db, owner, info.task, round_id=info.id).total == 4


def _earn(db: Session, worker: Actor, round_id: int, number: int, name: str = "piece") -> None:
    with transaction(db):
        for place in range(number):
            task_id, user_id = find_row(db, "mood").id, worker.user_id or 0
            money = Money(100, "USD")
            earn(db, user_id, task_id, kind="base", work=f"{name}:{place}", money=money, round_id=round_id)


def test_what_is_wrong_is_repaired_and_reported(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """A number that disagrees with its facts is named once, and right from then on; rebuilding does the same."""
    info = add_round(db, blobs, owner, tmp_path)
    made = submit(
        db, blobs, worker, start_session(db, blobs, worker, info.ref).key, "It was bad in more ways than one."
    )
    report(db, owner, made.attempt_id, "This says too much.")
    _earn(db, worker, info.id, 2)
    decide(db, owner, info.task, [list_earnings(db, owner, info.task).earnings[0].id])
    with transaction(db):
        counts.change(db, {round_count(info.id, "attempts"): 5, CountKey("round:9999", "flags.open"): 1})
        db.execute(update(table_of(OwedPay)).values(amount=7))
        db.execute(delete(table_of(FlagStanding)))
    wrong = recount(db, blobs)
    assert {line.split(":")[0] for line in wrong} == {"where flags stand", "flags", "attempts", "owed"}
    assert f"attempts: round:{info.id} attempts" in wrong
    assert recount(db, blobs) == []
    assert flag_queue(db, owner, info.ref).total == 1
    with transaction(db):
        for table in (KeptCount, CountTail, FlagStanding, OwedPay):
            db.execute(delete(table_of(table)))
    figures.rebuild(db, blobs, OPERATOR, (), count_kinds())
    assert recount(db, blobs) == []
    assert counts.of_round(db, info.id)["earnings.approved"] == 1


def test_what_pay_rests_on_is_recounted_from_facts(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """Where earnings stand and what accounts hold is set right first, and with it every sum that rests on them."""
    info = add_round(db, blobs, owner, tmp_path)
    _earn(db, worker, info.id, 5)
    ids = sorted(one.id for one in list_earnings(db, owner, info.task).earnings)
    decide(db, owner, info.task, ids[:3])
    (made,) = payouts.plan(db, owner, info.task, provider="hand", currency="USD")
    payouts.resolve(db, owner, made.id, paid=True)
    decide(db, owner, info.task, ids[3:4])
    stands, balances = table_of(EarningStanding), table_of(LedgerAccount)
    before = my_totals(db, worker), payouts.owed(db, owner, info.task)
    with transaction(db):
        db.execute(update(stands).where(stands.c.earning_id == ids[0]).values(status="pending"))
        db.execute(update(stands).where(stands.c.earning_id == ids[3]).values(decision_id=None))
        db.execute(delete(stands).where(stands.c.earning_id == ids[4]))
        db.execute(update(balances).where(balances.c.holder == f"round:{info.id}").values(balance=7))
    assert not ledger.check(db, OPERATOR).ok
    wrong = recount(db, blobs)
    assert {f"where earnings stand: earning {number}" for number in (ids[0], ids[3], ids[4])} <= {*wrong}
    assert f"balances of accounts: round:{info.id} base.paid USD" in wrong
    assert recount(db, blobs) == []
    assert ledger.check(db, OPERATOR).ok
    assert (my_totals(db, worker), payouts.owed(db, owner, info.task)) == before
    found = {one.id: one.status for one in list_earnings(db, owner, info.task).earnings}
    assert [found[number] for number in ids] == ["paid", "paid", "paid", "approved", "pending"]


def test_many_count_at_once(workspace: Workspace, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path) -> None:
    """Those who write at the same time wait for nobody and lose nothing, whatever was folded."""
    with workspace.session() as db:
        info = add_round(db, blobs, owner, tmp_path)

    def work(name: int) -> None:
        with workspace.session() as db:
            for place in range(20):
                _earn(db, worker, info.id, 1, f"{name}:{place}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    with workspace.session() as db:
        assert list_earnings(db, owner, info.task).total == 80
        assert (db.scalar(select(func.count()).select_from(CountTail)) or 0) < 160
        assert recount(db, blobs) == []
        assert db.scalar(select(func.count()).select_from(EarningStanding)) == 80
        assert find_user(db, worker.name)
