"""Processes that send the same payouts at once and are killed in the middle of calls pay everybody exactly once."""

from __future__ import annotations

import multiprocessing
import random
import threading

import pytest
from sqlalchemy import select

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.core.rounds import Money
from quintain.services.pay import ledger, payouts
from quintain.services.pay.earnings import decide, earn, list_earnings
from quintain.services.tasks.definitions import find_row, put_task
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.tables import Earning, PanelPerson, Payout
from tests.collecting import TASK
from tests.payout_senders import send_all
from tests.people import make_person
from tests.prolific_fake import FakeProlific, prolific_server

pytestmark = pytest.mark.both_databases
PEOPLE, STUDIES, GENERATIONS = 12, 4, 4


def add_work(workspace: Workspace, fake: FakeProlific) -> dict[str, list[int]]:
    """Plan a payout for each of some studies; give what everybody is owed."""
    owed: dict[str, list[int]] = {}
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        put_task(db, owner, TASK)
        task_id = find_row(db, "mood").id
        for number in range(PEOPLE):
            person = make_person(db, f"p-{number}", RoleName.WORKER).user_id or 0
            fake.arrive(f"study{number % STUDIES}", f"pid{number}")
            owed[f"pid{number}"] = [100 + number]
            with transaction(db):
                db.add(
                    PanelPerson(
                        user_id=person,
                        provider="prolific",
                        outside_id=f"pid{number}",
                        confirmed_at=now(),
                        confirmed_by="panel",
                    )
                )
                earn(db, person, task_id, kind="bonus", work=f"b{number}", money=Money(100 + number))
        decide(db, owner, "mood", [one.id for one in list_earnings(db, owner, "mood").earnings])
        with transaction(db):
            by_study: dict[int, list[payouts.PayoutPart]] = {}
            for place, one in enumerate(list_earnings(db, owner, "mood", order="oldest").earnings):
                person = db.get_one(Earning, one.id).user_id
                by_study.setdefault(place % STUDIES, []).append(payouts.PayoutPart(person, (one.id,), one.amount))
            for study, parts in by_study.items():
                payouts.put_payout(
                    db,
                    owner,
                    task_id,
                    parts,
                    provider="prolific",
                    step="bonus",
                    study=f"study{study}",
                    currency="USD",
                )
    return owed


def test_kills_pay_nobody_twice(workspace: Workspace) -> None:
    """Two processes at a time, killed at random calls: in the end all are paid once, and the books agree."""
    chance = random.Random(7)  # noqa: S311 - no secret
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.payout_senders"])
    database = workspace.engine.url.render_as_string(hide_password=False)
    with prolific_server() as fake:
        owed = add_work(workspace, fake)
        alive: list[multiprocessing.process.BaseProcess] = []
        guard = threading.Lock()

        def kill_some(method: str, path: str) -> None:
            with guard:
                if method == "POST" and chance.random() < 0.4:
                    for process in alive:
                        process.kill()

        fake.hook = kill_some
        killed = 0
        for _ in range(GENERATIONS):
            with guard:
                alive[:] = [context.Process(target=send_all, args=(database, fake.url, 2)) for _ in range(2)]
                for process in alive:
                    process.start()
            for process in alive:
                process.join(60)
                killed += process.exitcode == -9
        assert killed > 0
        fake.hook = None
        settle_the_rest(workspace, fake, database)
        assert fake.bonuses() == owed
        with workspace.session() as db:
            assert ledger.check(db, OPERATOR).ok
            assert {one.status for one in list_earnings(db, OPERATOR, "mood").earnings} == {"paid"}


def settle_the_rest(workspace: Workspace, fake: FakeProlific, database: str) -> None:
    """Go on with what was left; of what stays unclear the owner looks at the panel, and says what is there."""
    for _ in range(3):
        fake.tick()
        with workspace.session() as db, transaction(db):
            for row in db.scalars(select(Payout).where(Payout.state != "sent")):
                row.lease_until = None
        send_all(database, fake.url, 1)
        with workspace.session() as db:
            for row in db.scalars(select(Payout).where(Payout.state == "unknown")).all():
                people = [line.person for line in payouts.get_payout(db, OPERATOR, row.id).lines]
                payouts.resolve(db, OPERATOR, row.id, paid=bool(fake.bonuses()[people[0]]))
