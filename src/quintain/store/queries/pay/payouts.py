"""Questions about payouts: what can be paid, who is at one, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import case, func, or_, select, update
from sqlalchemy.orm import Session

from quintain.store.base import table_of
from quintain.store.queries.pay import ahead, held, owed
from quintain.store.tables import (
    CrowdArm,
    CrowdEvent,
    CrowdMember,
    CrowdTrial,
    Earning,
    EarningStanding,
    PanelPerson,
    PanelStay,
    PanelVisit,
    Payout,
    PayoutCall,
    Round,
    TaskRow,
    User,
    Validation,
)

_payouts, _standings = table_of(Payout), table_of(EarningStanding)
CHUNK = 500


class Payable(NamedTuple):
    """An approved earning that is in no payout yet, and how much of it is *left* to be paid."""

    id: int
    user_id: int
    kind: str
    left: int


class Stay(NamedTuple):
    """Somebody's arrival from a panel: a round's (`visit:3`) or another place's (`stay:3`).

    *graded* is whether they are an expert who has graded there, which may pay nothing by itself; *standing* is what
    the panel said last of the submission.
    """

    ref: str
    user_id: int
    study: str
    submission: str
    round_id: int | None
    completed: bool
    graded: bool = False
    standing: str = ""


def payable(
    db: Session, task_id: int, currency: str, provider: str | None, users: Sequence[int] | None = None
) -> list[Payable]:
    """List approved earnings of people whom *provider* knows, or of those whom none does, the oldest first.

    One of which a payout that is not over pays a part waits for that, and those of people from panels whom nobody has
    confirmed are held. With *users*, which are few, only theirs.
    """
    query = (
        select(Earning.id, Earning.user_id, Earning.kind, ahead.left())
        .join(EarningStanding, EarningStanding.earning_id == Earning.id)
        .join(User, User.id == Earning.user_id)
        .where(EarningStanding.task_id == task_id, EarningStanding.status == "approved")
        .where(EarningStanding.payout_id.is_(None), Earning.currency == currency, User.deleted_at.is_(None))
        .where(~ahead.underway(), held.confirmed(Earning.user_id, task_id))
        .order_by(Earning.id)
    )
    if users is not None:
        query = query.where(EarningStanding.user_id.in_(users))
    known = select(PanelPerson.id).where(PanelPerson.user_id == Earning.user_id)
    fits = ~known.exists() if provider is None else known.where(PanelPerson.provider == provider).exists()
    return [Payable(*row[:3], int(row[3])) for row in db.execute(query.where(fits))]


def take(db: Session, payout_id: int, ids: Sequence[int], parts: Sequence[tuple[int, int]] = ()) -> int:
    """Put earnings into a new payout that are approved and in no other; give how many were.

    *parts* are earnings of which it pays so much, and not all.
    """
    ahead.add(db, payout_id, parts)
    taken = 0
    for first in range(0, len(ids), CHUNK):
        free = update(_standings).where(
            _standings.c.earning_id.in_(ids[first : first + CHUNK]),
            _standings.c.payout_id.is_(None),
            _standings.c.status == "approved",
        )
        taken += len(db.execute(free.values(payout_id=payout_id).returning(_standings.c.earning_id)).all())
    owed.change(db, {key: -amount for key, amount in owed.of_payout(db, payout_id).items()})
    return taken


def release(db: Session, payout_id: int) -> None:
    """Take all earnings out of a payout: they are owed again."""
    owed.change(db, owed.of_payout(db, payout_id))
    ahead.drop(db, payout_id)
    db.execute(update(_standings).where(_standings.c.payout_id == payout_id).values(payout_id=None))


def earnings_in(db: Session, payout_id: int) -> list[Earning]:
    """Return the earnings of a payout."""
    query = select(Earning).join(EarningStanding, EarningStanding.earning_id == Earning.id)
    return list(db.scalars(query.where(EarningStanding.payout_id == payout_id).order_by(Earning.id)))


def find(db: Session, payout_id: int) -> tuple[Payout, str] | None:
    """Return a payout as the database has it now, with the name of its task; None without one."""
    query = select(Payout, TaskRow.name).join(TaskRow, TaskRow.id == Payout.task_id).where(Payout.id == payout_id)
    row = db.execute(query.execution_options(populate_existing=True)).first()
    return (row[0], row[1]) if row else None


def page(db: Session, task_id: int, *, limit: int, offset: int) -> tuple[list[Payout], int]:
    """List payouts of a task, the newest first, and say how many there are."""
    query = select(Payout).where(Payout.task_id == task_id)
    total = db.scalar(select(func.count()).select_from(query.subquery())) or 0
    return list(db.scalars(query.order_by(Payout.id.desc()).limit(limit).offset(offset))), total


def claim(
    db: Session, payout_id: int, moment: datetime, until: datetime, *, holder: str, dead: str | None = None
) -> int | None:
    """Hold a payout for *holder* where nobody holds it, or somebody who is *dead*; give the fencing number."""
    free = or_(_payouts.c.lease_until.is_(None), _payouts.c.lease_until < moment)
    if dead:
        free = or_(free, _payouts.c.holder == dead)
    held = update(_payouts).where(_payouts.c.id == payout_id, free)
    held = held.values(lease_until=until, generation=_payouts.c.generation + 1, holder=holder)
    generation: int | None = db.scalar(held.returning(_payouts.c.generation))
    return generation


def change(db: Session, payout_id: int, states: Sequence[str], generation: int | None = None, **values: Any) -> bool:
    """Change a payout that is in one of *states* and, where given, held under *generation*; say whether it was."""
    where = [_payouts.c.id == payout_id, _payouts.c.state.in_(states)]
    if generation is not None:
        where.append(_payouts.c.generation == generation)
    return db.execute(update(_payouts).where(*where).values(**values).returning(_payouts.c.id)).first() is not None


def set_standings(db: Session, standings: Mapping[str, str], at: datetime) -> None:
    """Keep what a panel says of submissions, by their stays; one that waits to be approved, or was, is complete."""
    for ref, status in standings.items():
        kind, _, number = ref.partition(":")
        table = PanelVisit if kind == "visit" else PanelStay
        db.execute(update(table).where(table.id == int(number)).values(standing=status))
        if status in {"waiting", "approved"}:
            db.execute(
                update(table).where(table.id == int(number), table.completed_at.is_(None)).values(completed_at=at)
            )


def calls(db: Session, payout_id: int) -> list[PayoutCall]:
    """List the calls that were made for a payout."""
    return list(db.scalars(select(PayoutCall).where(PayoutCall.payout_id == payout_id).order_by(PayoutCall.id)))


def outside_names(db: Session, users: Sequence[int], provider: str) -> dict[int, str]:
    """Return what a provider calls people."""
    query = select(PanelPerson.user_id, PanelPerson.outside_id).where(PanelPerson.provider == provider)
    return {row[0]: row[1] for row in db.execute(query.where(PanelPerson.user_id.in_(users)))}


def stays(db: Session, task_id: int, provider: str) -> list[Stay]:
    """List the arrivals of a provider's people at rounds and other places of a task, the oldest first."""
    visits = (
        select(PanelVisit.id, PanelVisit.user_id, PanelVisit.study, PanelVisit.outside_session, PanelVisit.round_id)
        .add_columns(PanelVisit.completed_at, PanelVisit.standing)
        .join(Round, Round.id == PanelVisit.round_id)
        .where(Round.task_id == task_id, PanelVisit.provider == provider)
        .order_by(PanelVisit.id)
    )
    places = select(Validation.id, Validation.round_id).where(Validation.task_id == task_id)
    rounds: dict[str, int | None] = {f"validation:{number}": round_id for number, round_id in db.execute(places)}
    for number in db.scalars(select(CrowdTrial.id).where(CrowdTrial.task_id == task_id)):
        rounds |= {f"trial:{number}": None, f"grading:{number}": None}
    others = select(PanelStay).where(PanelStay.provider == provider, PanelStay.place.in_(rounds))
    graders = _graders(db, task_id)
    panel_stays = [
        Stay(f"visit:{row[0]}", row[1], row[2], row[3], row[4], row[5] is not None, standing=row[6])
        for row in db.execute(visits)
    ]
    panel_stays += [
        Stay(
            *(f"stay:{o.id}", o.user_id, o.study, o.outside_session, rounds[o.place], o.completed_at is not None),
            graded=(o.place, o.user_id) in graders,
            standing=o.standing,
        )
        for o in db.scalars(others.order_by(PanelStay.id))
    ]
    return panel_stays


def _graders(db: Session, task_id: int) -> set[tuple[str, int]]:
    """Return who has done something in the trials of a task without taking part, by place: experts, who grade."""
    member = select(CrowdMember.id).where(
        CrowdMember.trial_id == CrowdArm.trial_id, CrowdMember.user_id == CrowdEvent.user_id
    )
    query = (
        select(CrowdArm.trial_id, CrowdEvent.user_id)
        .join(CrowdArm, CrowdArm.id == CrowdEvent.arm_id)
        .join(CrowdTrial, CrowdTrial.id == CrowdArm.trial_id)
        .where(CrowdTrial.task_id == task_id, CrowdEvent.user_id.is_not(None), ~member.exists())
        .distinct()
    )
    return {(f"grading:{trial}", user) for trial, user in db.execute(query) if user is not None}


class Uncovered(NamedTuple):
    """How much of somebody's base pay no approval pays, and whether some of it is not decided, or not over yet."""

    number: int
    undecided: bool


def uncovered(db: Session, task_id: int, users: Sequence[int]) -> dict[int, Uncovered]:
    """Return which of *users*, who are few, have base pay that no approval pays."""
    undecided = func.max(case((or_(EarningStanding.status == "pending", ahead.underway()), 1), else_=0))
    query = (
        select(Earning.user_id, func.count(), undecided)
        .join(EarningStanding, EarningStanding.earning_id == Earning.id)
        .outerjoin(Payout, Payout.id == EarningStanding.payout_id)
        .where(EarningStanding.task_id == task_id, EarningStanding.user_id.in_(users), Earning.kind == "base")
        .where(or_(Payout.id.is_(None), Payout.step != "approve"))
        .group_by(Earning.user_id)
    )
    return {row[0]: Uncovered(row[1], bool(row[2])) for row in db.execute(query)}


def approved_stays(db: Session, task_id: int) -> set[str]:
    """Return the arrivals that payouts of a task approve, or have approved."""
    query = select(Payout.content).where(Payout.task_id == task_id, Payout.step.in_(("approve", "overpaid")))
    query = query.where(Payout.state != "cancelled")
    return {str(line["stay"]) for content in db.scalars(query) for line in content.get("lines", [])}


def others_underway(db: Session, payout: Payout) -> int | None:
    """Return another payout of the same study that is being sent, or of which nobody knows whether it was."""
    query = select(Payout.id).where(Payout.provider == payout.provider, Payout.study == payout.study)
    query = query.where(Payout.step == payout.step, Payout.id != payout.id)
    return db.scalar(query.where(Payout.state.in_(("sending", "unknown"))).limit(1))


def sent_amounts(db: Session, payout: Payout) -> list[tuple[int, int]]:
    """List what payouts of the same study have paid: person and amount."""
    query = select(Payout.content).where(Payout.provider == payout.provider, Payout.study == payout.study)
    query = query.where(Payout.step == payout.step, Payout.state == "sent", Payout.id != payout.id)
    return [(int(line["user"]), int(line["amount"])) for content in db.scalars(query) for line in content["lines"]]
