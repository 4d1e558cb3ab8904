"""Paying through Prolific: submissions are approved, which pays their reward; the rest goes as bonuses.

Of what somebody earned in a study, approving their submission pays the study's reward, neither more nor less. So the
base pay that fits under it is paid by the approval, and what the reward is more than that is paid ahead of the next
earning, whose rest goes into the bonuses with all others. Only where the reward is more than everything they earned,
and all of it is decided on, the difference is an earning of its own, because the study promised it: what people get is
in any case what the ledger says that they earned.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.adapters.contract import Outside
from quintain.adapters.panels.contract import PanelStanding
from quintain.adapters.panels.prolific import Prolific, standing_of
from quintain.core.errors import Conflict, Forbidden, Unavailable
from quintain.core.people import Actor
from quintain.core.records.pay import PayoutRecord
from quintain.core.rounds import Money
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.pay import dispatch, payouts
from quintain.services.pay.earnings import decide, earn
from quintain.services.pay.held_pay import confirm_by_submissions, refuse_if_held
from quintain.services.pay.overpaid import book_overpaid
from quintain.services.pay.payouts import MOST_LINES, PayoutPart
from quintain.services.pay.providers import STEPS, prolific_of
from quintain.services.tasks.definitions import find_row
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.pay import earnings as earning_queries
from quintain.store.queries.pay import payouts as queries
from quintain.store.queries.pay.held import held_of

NAME = "prolific"


def plan(
    db: Session, actor: Actor, task: str, outside: Outside, *, provider: str, currency: str, approvals: bool = False
) -> list[PayoutRecord]:
    """Plan payouts through any provider: of Prolific, the approvals that pay base pay, or the bonuses (owners).

    What Prolific says of open submissions is asked first: one that was returned or has timed out is paid by bonuses.
    """
    if approvals:
        return plan_approvals(db, actor, task, outside, currency=currency)
    if provider == NAME:
        require_owner(actor, task)
        with suppress(Conflict, Forbidden, Unavailable):  # then all that may be open counts as open
            _refresh_stays(db, task, outside)
    return payouts.plan(db, actor, task, provider=provider, currency=currency)


def plan_approvals(db: Session, actor: Actor, task: str, outside: Outside, *, currency: str) -> list[PayoutRecord]:
    """Plan to approve the submissions of people who have completed their work, with the base pay that they cover."""
    row = find_row(db, task)
    require_owner(actor, task)
    task_id = row.id
    _refresh_stays(db, task, outside)
    waiting = _waiting(db, task_id)
    with prolific_of(db, task_id, task, outside) as prolific:
        rewards = {study: _reward(prolific, study) for study in sorted({one.study for one in waiting})}
    held = held_of(db, task_id, [one.user_id for one in waiting])
    waiting = [one for one in waiting if one.user_id not in held]
    records = []
    for study, reward in rewards.items():
        stays = [one for one in waiting if one.study == study]
        for first in range(0, len(stays), MOST_LINES):
            some = stays[first : first + MOST_LINES]
            records += _plan_some(db, actor, task, some, reward=Money(reward, currency))
        approved = [stay for stay in stays if stay.standing == PanelStanding.APPROVED]
        records += book_overpaid(db, task, task_id, approved, provider=NAME, reward=Money(reward, currency))
    if not records:
        refuse_if_held(db, task_id, currency)
        raise Conflict(
            "No submission waits to be approved.",
            remedy="People complete their work first, and you approve what they earned.",
        )
    return records


def _plan_some(
    db: Session, actor: Actor, task: str, stays: Sequence[queries.Stay], *, reward: Money
) -> list[PayoutRecord]:
    """Plan the approval of some submissions of a study, in a transaction of its own; none where nobody's turn it is."""
    with transaction(db):
        task_id = find_row(db, task).id
        lock(db, f"pay of {task_id}")
        done = queries.approved_stays(db, task_id)  # somebody else may have planned some meanwhile
        parts = _parts(db, actor, task, [stay for stay in stays if stay.ref not in done], reward)
        if not parts:
            return []
        about = {"provider": NAME, "step": "approve", "study": stays[0].study, "currency": reward.currency}
        payout = payouts.put_payout(db, actor, task_id, parts, **about)
        audit.record(db, actor, "payout.plan", task, payouts=[payout.id])
        return [payouts.payout_record(db, task, payout)]


def book_approvals(db: Session, task: str, outside: Outside) -> list[PayoutRecord]:
    """Book approvals that were made on Prolific for what had been paid already; for other services, after a message."""
    task_id = find_row(db, task).id
    approved = [one for one in _waiting(db, task_id) if one.standing == PanelStanding.APPROVED]
    approved = [one for one in approved if not earning_queries.has_base_to_pay(db, task_id, one.user_id)]
    approved = [one for one in approved if not one.graded]
    if not approved:
        return []
    with prolific_of(db, task_id, task, outside) as prolific:
        rewards = {study: _reward(prolific, study) for study in sorted({one.study for one in approved})}
        currency = prolific.currency()
    booked = []
    for study, reward in rewards.items():
        here = [one for one in approved if one.study == study]
        booked += book_overpaid(db, task, task_id, here, provider=NAME, reward=Money(reward, currency))
    return booked


def _reward(prolific: Prolific, study: str) -> int:
    return int(prolific.study(study).get("reward", 0))


def _refresh_stays(db: Session, task: str, outside: Outside) -> None:
    """Keep what Prolific says of the submissions of a task that no payout approves."""
    task_id = find_row(db, task).id
    done = queries.approved_stays(db, task_id)
    stays = [stay for stay in queries.stays(db, task_id, NAME) if stay.study and stay.ref not in done]
    names = queries.outside_names(db, sorted({stay.user_id for stay in stays}), NAME)
    standings: dict[str, str] = {}
    with prolific_of(db, task_id, task, outside) as prolific:
        confirm_by_submissions(db, task_id, stays, prolific, NAME)
        for study in sorted({stay.study for stay in stays}):
            known = prolific.submissions(study)
            by_person = {str(one.get("participant_id")): one for one in known.values()}
            for stay in (stay for stay in stays if stay.study == study):
                # An address can be changed by hand: then it is what the panel has of the person that counts.
                submission = known.get(stay.submission) or by_person.get(names.get(stay.user_id, ""))
                status = str(submission.get("status", "")) if submission else "RETURNED"
                standings[stay.ref] = standing_of(status).value
    changed = {stay.ref: standings[stay.ref] for stay in stays if standings[stay.ref] != stay.standing}
    with transaction(db):
        queries.set_standings(db, changed, now())


def _require_no_open_submission(db: Session, payout_id: int, task_id: int) -> None:
    """Refuse to pay base pay as a bonus to somebody whose submission may still be approved."""
    users = {one.user_id for one in queries.earnings_in(db, payout_id) if one.kind == "base"}
    waiting = users & payouts.people_with_submissions(db, task_id) if users else set()
    if waiting:
        raise Conflict(
            "Payout {number} holds base pay of {n} people whose submissions may still be approved, which pays it.",
            number=payout_id,
            n=len(waiting),
            remedy="Cancel it, plan approvals, and plan the rest anew.",
            code="waits_for_approval",
        )


def send(db: Session, actor: Actor, payout_id: int, outside: Outside) -> PayoutRecord:
    """Send a payout through Prolific, or go on where somebody left it (owners)."""
    row, task = payouts.find_payout(db, actor, payout_id)
    if row.step not in STEPS:
        raise Conflict(
            "Payout {number} is paid by hand.",
            number=payout_id,
            remedy="Download its file, pay it there, and say here that it is paid.",
        )
    if row.step == "bonus" and row.state in payouts.OPEN:
        _require_no_open_submission(db, payout_id, row.task_id)
    make = STEPS[row.step]
    with prolific_of(db, row.task_id, task, outside) as prolific:
        return dispatch.dispatch(db, actor, payout_id, make(prolific))


def _waiting(db: Session, task_id: int) -> list[queries.Stay]:
    """List completed stays that no payout has approved."""
    done = queries.approved_stays(db, task_id)
    return [stay for stay in queries.stays(db, task_id, NAME) if stay.completed and stay.study and stay.ref not in done]


def _parts(db: Session, actor: Actor, task: str, stays: Sequence[queries.Stay], reward: Money) -> list[PayoutPart]:
    """Return what the approval of each submission covers of what its person earned."""
    task_id, users = find_row(db, task).id, sorted({stay.user_id for stay in stays})
    base: defaultdict[int, list[queries.Payable]] = defaultdict(list)
    for earning in queries.payable(db, task_id, reward.currency, NAME, users):
        if earning.kind == "base":
            base[earning.user_id].append(earning)
    unpaid = queries.uncovered(db, task_id, users)
    parts = []
    for stay in stays:
        mine, known = base[stay.user_id], unpaid.get(stay.user_id, queries.Uncovered(0, undecided=False))
        if not mine and (known.number or not stay.graded):
            continue  # what they earned is not approved yet, was set aside, or is paid otherwise; or they did nothing
        covered = cover([one.left for one in mine], reward.amount)
        if covered.rest and known.undecided:
            continue  # what they earned beyond this may be approved yet: then the reward is no more than that
        ids = [mine[number].id for number in covered.whole]
        unpaid[stay.user_id] = queries.Uncovered(known.number - len(ids), known.undecided or covered.part is not None)
        if covered.rest:
            more = Money(covered.rest, reward.currency)
            ids.append(_top_up(db, actor, task, stay, reward=reward.amount, money=more))
        ahead = () if covered.part is None else ((mine[covered.part].id, covered.amount),)
        parts.append(PayoutPart(stay.user_id, tuple(ids), reward.amount, stay.ref, ahead))
        gone = {*covered.whole, covered.part}
        base[stay.user_id] = [one for number, one in enumerate(mine) if number not in gone]
    return parts


@dataclass(frozen=True, slots=True)
class Covered:
    """What a reward pays: the earnings that it pays *whole*, the *amount* that it pays of one more, and what is left.

    The *rest* is what it is more than all earnings together.
    """

    whole: tuple[int, ...]
    part: int | None = None
    amount: int = 0
    rest: int = 0


def cover(amounts: Sequence[int], reward: int) -> Covered:
    """Return which of the *amounts* that somebody earned a reward pays, the oldest first.

    >>> cover([350, 350], 500)
    Covered(whole=(0,), part=1, amount=150, rest=0)
    >>> cover([350], 500).rest, cover([350], 300).amount
    (150, 300)
    """
    whole, left = [], reward
    for number, amount in enumerate(amounts):
        if amount <= left:
            whole.append(number)
            left -= amount
    part = next((number for number in range(len(amounts)) if number not in whole), None)
    if part is None or not left:
        return Covered(tuple(whole), rest=left)
    return Covered(tuple(whole), part, left)


def _top_up(db: Session, actor: Actor, task: str, stay: queries.Stay, *, reward: int, money: Money) -> int:
    """Add what the *reward* of a study is more than what was earned, approved; give its number."""
    work = f"reward:{stay.ref}:{reward}"  # a study's reward can be raised while it runs
    what = "The rest of the study’s reward" if money.amount < reward else "The study’s reward"
    task_id = find_row(db, task).id
    earn(db, stay.user_id, task_id, kind="base", work=work, money=money, what=what, round_id=stay.round_id)
    number = earning_queries.by_work(db, work)
    decide(db, actor, task, [number])
    return number
