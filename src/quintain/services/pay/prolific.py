"""Paying through Prolific: submissions are approved, which pays their reward; the rest goes as bonuses.

Of what somebody earned in a study, approving their submission pays the study's reward, neither more nor less. So the
base pay that fits under it is paid by the approval, whatever is left goes into the bonuses, and where the reward is
more than what was earned, the difference is an earning of its own: nobody is cheated, and the books stay right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy.orm import Session

from quintain.adapters.contract import Outside
from quintain.core.errors import Conflict
from quintain.core.people import Actor
from quintain.core.records.pay import PayoutRecord
from quintain.core.rounds import Money
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.pay import dispatch, payouts
from quintain.services.pay.earnings import decide, earn
from quintain.services.pay.payouts import MOST_LINES, PayoutPart
from quintain.services.pay.providers import STEPS, prolific_of
from quintain.services.tasks.definitions import find_row
from quintain.store.database import lock, transaction
from quintain.store.queries.pay import earnings as earning_queries
from quintain.store.queries.pay import payouts as queries

NAME = "prolific"


def plan_approvals(db: Session, actor: Actor, task: str, outside: Outside, *, currency: str) -> list[PayoutRecord]:
    """Plan to approve the submissions of people who have completed their work, with the base pay that they cover."""
    row = find_row(db, task)
    require_owner(actor, task)
    task_id = row.id
    waiting = _waiting(db, task_id)
    with prolific_of(db, task_id, task, outside) as prolific:
        rewards = {study: int(prolific.study(study).get("reward", 0)) for study in {one.study for one in waiting}}
    with transaction(db):
        lock(db, f"pay of {task_id}")
        made = [
            payouts.put(db, actor, task_id, parts, provider=NAME, step="approve", study=study, currency=currency)
            for study, parts in _parts(db, actor, task, task_id, currency, rewards)
        ]
        audit.record(db, actor, "payout.plan", task, payouts=[one.id for one in made])
        if not made:
            raise Conflict(
                "No submission waits to be approved.",
                remedy="People complete their work first, and you approve what they earned.",
            )
        return [payouts.record(db, task, one) for one in made]


def send(db: Session, actor: Actor, payout_id: int, outside: Outside) -> PayoutRecord:
    """Send a payout through Prolific, or go on where somebody left it (owners)."""
    row, task = payouts.find(db, actor, payout_id)
    if row.step not in STEPS:
        raise Conflict(
            "Payout {number} is paid by hand.",
            number=payout_id,
            remedy="Download its file, pay it there, and say here that it is paid.",
        )
    make = STEPS[row.step]
    with prolific_of(db, row.task_id, task, outside) as prolific:
        return dispatch.dispatch(db, actor, payout_id, make(prolific))


def _waiting(db: Session, task_id: int) -> list[queries.Stay]:
    """List completed stays that no payout has approved."""
    done = queries.approved_stays(db, task_id)
    return [one for one in queries.stays(db, task_id, NAME) if one.completed and one.study and one.ref not in done]


def _parts(
    db: Session, actor: Actor, task: str, task_id: int, currency: str, rewards: dict[str, int]
) -> list[tuple[str, list[PayoutPart]]]:
    """Give what each approval covers: the base pay that fits under the reward, and the difference as an earning."""
    base: defaultdict[int, list[queries.Payable]] = defaultdict(list)
    for one in queries.payable(db, task_id, currency, NAME):
        if one.earning.kind == "base":
            base[one.earning.user_id].append(one)
    by_study: defaultdict[str, list[PayoutPart]] = defaultdict(list)
    for stay in _waiting(db, task_id):
        reward = rewards.get(stay.study, 0)
        covered = _covered(base[stay.user_id], reward)
        if not base[stay.user_id] and not covered:
            continue  # what they earned is not approved yet
        base[stay.user_id] = [one for one in base[stay.user_id] if one not in covered]
        ids = [one.earning.id for one in covered]
        rest = reward - sum(one.earning.amount for one in covered)
        if rest:
            ids.append(_top_up(db, actor, task, task_id, stay, Money(rest, currency)))
        by_study[stay.study].append(PayoutPart(stay.user_id, tuple(ids), reward, stay.ref))
    return [
        (study, parts[first : first + MOST_LINES])
        for study, parts in by_study.items()
        for first in range(0, len(parts), MOST_LINES)
    ]


def _covered(found: Sequence[queries.Payable], reward: int) -> list[queries.Payable]:
    covered, total = [], 0
    for one in found:
        if total + one.earning.amount <= reward:
            covered.append(one)
            total += one.earning.amount
    return covered


def _top_up(db: Session, actor: Actor, task: str, task_id: int, stay: queries.Stay, money: Money) -> int:
    """Add what the reward of a study is more than what was earned, approved; give its number."""
    work = f"reward:{stay.ref}"
    earn(
        db,
        stay.user_id,
        task_id,
        kind="base",
        work=work,
        money=money,
        what="The rest of the study’s reward",
        round_id=stay.round_id,
    )
    number = earning_queries.by_work(db, work)
    decide(db, actor, task, [number])
    return number
