"""Judging pairs: people outside the contest are handed one, give both labels, and are paid for it.

A pair is leased to whoever is handed it, so that no more people work at one than are asked. Who is late is paid, and
settles nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.contests import ContestSpec, Phase
from quintain.core.errors import BadInput, Conflict, Fault, Forbidden
from quintain.core.people import Actor
from quintain.core.records import contests as records
from quintain.core.rounds import Money
from quintain.services.access.permissions import require_user
from quintain.services.contest.contests import ContestInfo, find_contest, require_phase
from quintain.services.contest.notices import notify_organisers
from quintain.services.contest.pair_labels import find_pair, read_labels
from quintain.services.contest.pair_outcomes import has_judges, judges_all, pair_outcomes, rules_of
from quintain.services.events import ServiceEvent, announce
from quintain.services.pay import caps, earnings, pay_notices
from quintain.services.tasks.definitions import find_row, get_task
from quintain.services.validate.judging import shared_source
from quintain.store.base import now
from quintain.store.database import lock, repeated, transaction
from quintain.store.queries.collect import guests
from quintain.store.queries.contest import contests as team_queries
from quintain.store.queries.contest import judging as queries
from quintain.store.queries.contest import pairs as pair_queries
from quintain.store.queries.contest.judging import PairFilter
from quintain.store.queries.contest.pairs import StoredPair
from quintain.store.tables import ContestJudgement, ContestLease

JUDGED_IN = (Phase.SCORE, Phase.REVIEW)
MOST_RETURNED = 20  # so many more pairs than one has judged can be given back
LEASE = timedelta(minutes=30)
MOST_SECONDS = 3600.0
SECONDS = 40.0  # that a pair takes, as long as nothing was measured
LEAST_MEASURED = 20


@repeated
def next_to_judge(db: Session, actor: Actor, ref: str) -> records.PairToJudge | None:
    """Hand *actor*, who is in no team, the next pair to judge, or the one that they have; None where no more wait."""
    info = find_contest(db, ref)
    user_id, others = _require_judge(db, actor, info)
    require_phase(info, *JUDGED_IN)
    if not has_judges(info.spec):
        return None
    with transaction(db):
        lock(db, f"judging of {info.ref}")
        moment = now()
        conditions = _pairs_to_judge(info, others)
        pair = queries.draw(db, conditions, user_id, moment)
        if pair is None:
            return None
        if queries.lease_of(db, info.id, user_id, moment) is None:
            caps.require_room(db, find_row(db, info.task).id, user_id)
        lease = _lease(db, info, pair, user_id, moment)
        row = find_pair(db, info, pair).row
        return records.PairToJudge(
            id=row.id,
            original=row.original,
            modified=row.modified,
            minimality=info.spec.minimality,
            left=queries.count(db, conditions, user_id, moment),
            lease_until=lease.lease_until,
            pay=pay_of(info.spec),
        )


@repeated
def judge_pair(
    db: Session, actor: Actor, ref: str, pair: int, original: Any, modified: Any, *, minimal: bool | None = None
) -> records.PairJudged:
    """Take down both labels of a pair that one was handed and, where asked, whether it is minimal; return the pay."""
    with transaction(db):
        info = find_contest(db, ref)
        user_id, others = _require_judge(db, actor, info)
        lock(db, f"judging of {info.ref}")
        moment = now()
        stored = find_pair(db, info, pair)
        lease = _own_lease(db, stored, user_id)
        if info.phase is not Phase.OVER or lease.lease_until <= moment:  # who began in time may finish
            require_phase(info, *JUDGED_IN)
        labels = read_labels(get_task(db, info.task), stored.row, original, modified)
        if info.spec.minimality and minimal is None:
            raise BadInput(faults=[Fault("is missing: say whether the pair is minimal", field="minimal")])
        late = (
            info.phase is Phase.OVER
            or queries.is_ruled(db, stored.row.id)
            or queries.judged_in_time(db, stored.row.id) >= info.spec.judges
        )
        taken = (moment - lease.held_since).total_seconds()
        db.add(
            ContestJudgement(
                pair_id=stored.row.id,
                user_id=user_id,
                original_label=labels[0],
                modified_label=labels[1],
                minimal=minimal if info.spec.minimality else None,
                late=late,
                seconds=taken if 0 <= taken <= MOST_SECONDS else None,
            )
        )
        pair_queries.bump(db, info.id)
        db.flush()
        earned = _pay(db, info, stored, user_id)
        _follow(db, info, stored)
        left = queries.count(db, _pairs_to_judge(info, others), user_id, moment)
    if earned.amount:
        pay_notices.notify_after_work(db, find_row(db, info.task).id, info.task, info.ref, lambda: _wage(db, info))
    return records.PairJudged(late, earned, left)


def return_pair(db: Session, actor: Actor, ref: str, pair: int) -> None:
    """Return a pair without judging it: somebody else is handed it, and one is not handed it again."""
    with transaction(db):
        info = find_contest(db, ref)
        user_id, _ = _require_judge(db, actor, info)
        lock(db, f"judging of {info.ref}")
        lease = _own_lease(db, find_pair(db, info, pair), user_id)
        returned, judged = queries.count_returned(db, info.id, user_id), queries.count_judged(db, info.id, user_id)
        if not lease.skipped and returned - judged >= MOST_RETURNED:
            raise Conflict(
                "You have given back {n} more pairs than you judged.",
                n=returned - judged,
                remedy="Judge this one, or leave it: when its time is over, somebody else gets it.",
                code="given_back_enough",
            )
        lease.skipped, lease.lease_until = True, now()


def count_to_judge(db: Session, info: ContestInfo, user_id: int) -> int:
    """Count the pairs that wait for somebody's judgement."""
    if not has_judges(info.spec):
        return 0
    others = guests.of_one_source(db, user_id, find_row(db, info.task).id)
    return queries.count(db, _pairs_to_judge(info, others), user_id, now())


def holds_a_pair(db: Session, info: ContestInfo, user_id: int) -> bool:
    """Whether somebody has a pair in hand."""
    return queries.lease_of(db, info.id, user_id, now()) is not None


def pay_of(spec: ContestSpec) -> Money:
    """Return what judging a pair pays."""
    return Money(spec.judge_pay, spec.currency)


def wage(db: Session, info: ContestInfo) -> tuple[float, Money, bool]:
    """Return how many minutes a pair takes, what an hour of judging pays, and whether that was measured."""
    seconds, measured = earnings.pace(queries.recent_seconds(db, info.id), SECONDS, LEAST_MEASURED)
    return seconds / 60, earnings.hourly(pay_of(info.spec), seconds / 60), measured


def _wage(db: Session, info: ContestInfo) -> tuple[Money, bool]:
    _, hourly, measured = wage(db, info)
    return hourly, measured


def _pairs_to_judge(info: ContestInfo, others: Sequence[int]) -> PairFilter:
    return PairFilter(info.id, not judges_all(info.spec), info.spec.judges, tuple(others))


def _lease(db: Session, info: ContestInfo, pair: int, user_id: int, moment: datetime) -> ContestLease:
    """Let a pair be somebody's for a while; who still holds it has begun when they were first handed it."""
    lease = queries.lease_on(db, pair, user_id)
    if lease is None:
        lease = ContestLease(contest_id=info.id, pair_id=pair, user_id=user_id, held_since=moment, lease_until=moment)
        db.add(lease)
    elif lease.lease_until <= moment:
        lease.held_since = moment
    lease.lease_until = moment + LEASE
    db.flush()
    return lease


def _own_lease(db: Session, stored: StoredPair, user_id: int) -> ContestLease:
    """Return somebody's lease of a pair that they have not judged; refused for others, so that nobody picks pairs."""
    if queries.judged_by(db, stored.row.id, user_id):
        raise Conflict("You have judged this pair already.")
    lease = queries.lease_on(db, stored.row.id, user_id)
    if lease is None or lease.skipped:
        raise Conflict(
            "This pair was not handed out to you.", remedy="Judge the one that is handed out next.", code="not_handed"
        )
    return lease


def _pay(db: Session, info: ContestInfo, stored: StoredPair, user_id: int) -> Money:
    money = pay_of(info.spec)
    earnings.earn(
        db,
        user_id,
        find_row(db, info.task).id,
        kind="base",
        work=f"pair:{stored.row.id}:{user_id}",
        money=money,
        what=f"Judging a pair of {info.ref}",
    )
    return money


def _follow(db: Session, info: ContestInfo, stored: StoredPair) -> None:
    """Tell the organisers where the judges disagree, and have figures computed anew."""
    task = get_task(db, info.task)
    outcome = pair_outcomes(db, info, task, [stored.row])[stored.row.id]
    if rules_of(info, task).waits(outcome):
        notify_organisers(db, info)
    announce(db, ServiceEvent.PAIR_DECIDED, info)


def _require_judge(db: Session, actor: Actor, info: ContestInfo) -> tuple[int, list[int]]:
    """Return the actor's id and who may be them under other ids; refuse them where one of these takes part."""
    user_id = require_user(actor)
    others = shared_source.people_of_same_source(db, actor, find_row(db, info.task).id)
    if any(
        team_queries.team_of(db, info.id, user) or pair_queries.wrote_some(db, info.id, user)
        for user in (user_id, *others)
    ):
        raise Forbidden("Labels are validated by people who are in no team of the contest.")
    return user_id, others
