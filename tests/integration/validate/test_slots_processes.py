"""Many processes that claim and die at random: no slot is booked twice, and no item is left behind."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections import Counter
from multiprocessing.process import BaseProcess

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.people import Actor
from quintain.services.validate.types import ValidationInfo
from quintain.store.queries.validate import slots as slot_queries
from quintain.store.tables import Judgement, JudgingPage, Offer, Slot
from tests.integration.validate.claim_worker import judge_for_a_while
from tests.validation_support import REF, judge_all, make_ground, make_judges

pytestmark = pytest.mark.both_databases
POLICY = "judgements = 3\nminimum = 2\npage_size = 5\nlease_seconds = 10\nrules = []\n"


def start(workspace: Workspace, user: int, seconds: float) -> BaseProcess:
    """Start a judge. A fork has everything imported; it opens its own connections."""
    process = multiprocessing.get_context("fork").Process(
        target=judge_for_a_while, args=(workspace.settings.database, REF, user, seconds)
    )
    process.start()
    return process


def let_them_work(workspace: Workspace, people: list[Actor], seconds: float, kills: int) -> None:
    """Run a process for each judge; kill some at random and start them anew."""
    end = time.monotonic() + seconds
    chance = random.Random(1)  # noqa: S311 - not a secret
    running = {one.user_id or 0: start(workspace, one.user_id or 0, seconds) for one in people}
    for _ in range(kills):
        time.sleep(seconds / (kills + 1))
        user = chance.choice(sorted(running))
        running[user].kill()
        running[user].join()
        running[user] = start(workspace, user, max(end - time.monotonic(), 0.2))
    for process in running.values():
        process.join(timeout=seconds + 60)
        assert process.exitcode == 0


def check_books(db: Session, ground: ValidationInfo) -> None:
    """Say that no slot was filled twice, nobody judged an item twice, and no two hold one lease."""
    db.rollback()
    filled = list(db.scalars(select(Slot.judgement_id).where(Slot.state == "filled")))
    assert len(filled) == len(set(filled))
    assert None not in filled
    pairs = db.execute(select(Judgement.item_id, Judgement.user_id)).all()
    assert len(pairs) == len(set(pairs))
    leases = db.execute(select(Offer.slot_id, Offer.generation).where(Offer.slot_id.is_not(None))).all()
    assert len(leases) == len(set(leases))
    on_time = Counter(db.scalars(select(Judgement.item_id).where(~Judgement.late)))
    assert max(on_time.values()) <= ground.policy.judgements
    assert sum(on_time.values()) == len(filled)
    by_item = db.execute(select(Slot.item_id, Judgement.item_id).join(Judgement, Judgement.id == Slot.judgement_id))
    assert all(own == judged for own, judged in by_item)


@pytest.mark.parametrize(
    ("processes", "items", "seconds", "kills"),
    [pytest.param(8, 60, 3, 6, id="8"), pytest.param(32, 400, 40, 40, id="32", marks=pytest.mark.slow)],
)
def test_processes_that_die_at_random_book_nothing_twice_and_starve_nothing(
    workspace: Workspace, db: Session, owner: Actor, processes: int, items: int, seconds: float, kills: int
) -> None:
    """After the storm the survivors finish: every item has its judgements, every slot one."""
    ground = make_ground(db, owner, items, POLICY)
    people = make_judges(db, processes)
    let_them_work(workspace, people, seconds, kills)
    check_books(db, ground)
    assert db.scalars(select(JudgingPage.id)).all()
    waited = time.monotonic() + 60
    while slot_queries.counts(db, ground.id).get("filled", 0) < 3 * items and time.monotonic() < waited:
        db.rollback()
        judge_all(db, people)
        time.sleep(0.5)
    check_books(db, ground)
    counts = slot_queries.counts(db, ground.id)
    left = counts.get("open", 0)
    seen = db.execute(
        select(Slot.item_id, Offer.user_id).join(Offer, Offer.item_id == Slot.item_id).where(Slot.state == "open")
    ).all()
    # A slot may stay open only where every judge has been shown its item.
    assert counts["filled"] + left == 3 * items
    assert all(len({user for item, user in seen if item == one}) == processes for one, _ in seen)
