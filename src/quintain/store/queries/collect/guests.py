"""Questions about people who came by panels' links: their browsers, who else came by them, and who is confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, String, and_, cast, delete, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from quintain.store.queries.pay.held import confirmed
from quintain.store.tables import (
    CrowdTrial,
    OwedPay,
    PanelDevice,
    PanelPerson,
    PanelRequest,
    PanelStay,
    PanelVisit,
    PanelWord,
    RoleGrant,
    Round,
    User,
    Validation,
)


class GuestRow(NamedTuple):
    """Somebody whom a panel sent to a task: how they are confirmed, and how many others came the same way."""

    user_id: int
    name: str
    provider: str
    came_at: datetime
    confirmed_by: str
    same_browser: int
    same_address: int
    owed: int
    currency: str


def device(db: Session, user_id: int, device: str) -> PanelDevice | None:
    """Return a browser as one of somebody's; None where it is not theirs."""
    return db.get(PanelDevice, (device, user_id)) if device else None


def forget_devices(db: Session, user_id: int, keep: str) -> None:
    """Know somebody no more by browsers in which they did not show who they are, but for the one to *keep*."""
    unproven = delete(PanelDevice).where(PanelDevice.user_id == user_id, PanelDevice.proven.is_(False))
    db.execute(unproven.where(PanelDevice.device != keep))


def grants_elsewhere(db: Session, user_id: int, task_id: int) -> bool:
    """Whether somebody holds a role that is not of this task."""
    query = select(RoleGrant.id).where(RoleGrant.user_id == user_id, RoleGrant.revoked_at.is_(None))
    return db.scalar(query.where(or_(RoleGrant.task_id.is_(None), RoleGrant.task_id != task_id)).limit(1)) is not None


def request_of(db: Session, user_id: int, device: str, task_id: int, moment: datetime) -> PanelRequest | None:
    """Return the newest request that this browser made for somebody on a task and that has not lapsed."""
    query = select(PanelRequest).where(
        PanelRequest.user_id == user_id,
        PanelRequest.device == device,
        PanelRequest.task_id == task_id,
        PanelRequest.way == "owner",
        PanelRequest.expires_at > moment,
        PanelRequest.state.in_(("open", "allowed", "refused")),
    )
    return db.scalar(query.order_by(PanelRequest.id.desc()).limit(1))


def use_code(db: Session, user_id: int, task_id: int, code_hash: str, moment: datetime) -> str | None:
    """Use up a code, and give the way that it went: by mail or by an owner; None where it is no good."""
    change = (
        update(PanelRequest)
        .where(
            PanelRequest.user_id == user_id,
            PanelRequest.task_id == task_id,
            PanelRequest.code_hash == code_hash,
            PanelRequest.state == "open",
            PanelRequest.expires_at > moment,
        )
        .values(state="used", decided_at=moment)
        .returning(PanelRequest.way)
    )
    return db.scalar(change)


def set_mailed_code(db: Session, user_id: int, code_hash: str, moment: datetime) -> None:
    """Let a code be good for all that somebody asked to be mailed one for, and that has not lapsed."""
    open_ = (PanelRequest.user_id == user_id, PanelRequest.way == "mail", PanelRequest.state == "open")
    change = update(PanelRequest).where(*open_, PanelRequest.expires_at > moment).values(code_hash=code_hash)
    db.execute(change.execution_options(synchronize_session=False))


def use_request(db: Session, request_id: int) -> bool:
    """Use up a request that an owner allowed."""
    change = update(PanelRequest).where(PanelRequest.id == request_id, PanelRequest.state == "allowed")
    return db.scalar(change.values(state="used").returning(PanelRequest.id)) is not None


def open_requests(db: Session, task_id: int, moment: datetime, limit: int) -> list[tuple[PanelRequest, str]]:
    """List the requests to owners of a task that wait, the oldest first, with the names of whom they are about."""
    query = (
        select(PanelRequest, User.name)
        .join(User, User.id == PanelRequest.user_id)
        .where(PanelRequest.task_id == task_id, PanelRequest.state == "open", PanelRequest.way == "owner")
        .where(PanelRequest.device != "", PanelRequest.expires_at > moment)
        .order_by(PanelRequest.id)
        .limit(limit)
    )
    return [(row[0], row[1]) for row in db.execute(query)]


def here(task_id: int) -> ColumnElement[bool]:
    """Return a condition: people from panels that came to a task."""
    visits = select(PanelVisit.user_id).join(Round, Round.id == PanelVisit.round_id).where(Round.task_id == task_id)
    judged = select("validation:" + cast(Validation.id, String)).where(Validation.task_id == task_id)
    tried = [
        select(f"{kind}:" + cast(CrowdTrial.id, String)).where(CrowdTrial.task_id == task_id)
        for kind in ("trial", "grading")
    ]
    stays = select(PanelStay.user_id).where(or_(*(PanelStay.place.in_(places) for places in (judged, *tried))))
    return or_(PanelPerson.user_id.in_(visits), PanelPerson.user_id.in_(stays))


def guests(
    db: Session,
    task_id: int,
    *,
    held: bool = False,
    names: Sequence[str] = (),
    users: Sequence[int] = (),
    limit: int = 100,
    offset: int = 0,
) -> tuple[list[GuestRow], int]:
    """List people whom panels sent to a task, the newest first, and say how many there are; *held*: not confirmed."""
    twin, other = aliased(PanelDevice), aliased(PanelPerson)
    mine = aliased(PanelDevice)
    same_browser = (
        select(func.count(func.distinct(twin.user_id)))
        .join(mine, mine.device == twin.device)
        .where(mine.user_id == PanelPerson.user_id, twin.user_id != PanelPerson.user_id)
        .scalar_subquery()
    )
    same_address = (
        select(func.count())
        .where(other.source == PanelPerson.source, other.source != "", other.user_id != PanelPerson.user_id)
        .scalar_subquery()
    )
    word = select(PanelWord.user_id).where(PanelWord.task_id == task_id, PanelWord.user_id == PanelPerson.user_id)
    query = (
        select(PanelPerson, User.name, same_browser, same_address, word.exists(), OwedPay.amount, OwedPay.currency)
        .join(User, User.id == PanelPerson.user_id)
        .outerjoin(OwedPay, and_(OwedPay.user_id == PanelPerson.user_id, OwedPay.task_id == task_id))
        .where(here(task_id))
    )
    if held:
        query = query.where(~confirmed(PanelPerson.user_id, task_id))
    if names:
        query = query.where(User.name.in_(names))
    if users:
        query = query.where(PanelPerson.user_id.in_(users))
    total = db.scalar(select(func.count()).select_from(query.subquery())) or 0
    rows = db.execute(query.order_by(PanelPerson.id.desc()).limit(limit).offset(offset))
    return [
        GuestRow(
            person.user_id,
            name,
            person.provider,
            person.created_at,
            "owner" if said else person.confirmed_by,
            browser,
            address,
            owed or 0,
            currency or "",
        )
        for person, name, browser, address, said, owed, currency in rows
    ], total


def of_one_source(db: Session, user_id: int, task_id: int) -> list[int]:
    """Return the others who may be the same person as somebody: by the same browser or address, and not both confirmed.

    A confirmed writer can invent an id as well as anybody else.
    """
    known = confirmed(PanelPerson.user_id, task_id)
    me = db.execute(select(PanelPerson.source, known).where(PanelPerson.user_id == user_id).limit(1)).one_or_none()
    if me is None:
        return []
    source, sure = me
    devices = select(PanelDevice.device).where(PanelDevice.user_id == user_id)
    twins = select(PanelDevice.user_id).where(PanelDevice.device.in_(devices))
    alike: ColumnElement[bool] = PanelPerson.user_id.in_(twins)
    if source:
        alike = or_(alike, PanelPerson.source == source)
    query = select(PanelPerson.user_id).where(alike, PanelPerson.user_id != user_id)
    return sorted(set(db.scalars(query.where(~known) if sure else query)))


def is_unconfirmed(db: Session, user_id: int) -> bool:
    """Whether a panel sent somebody and has not confirmed them."""
    query = select(PanelPerson.id).where(PanelPerson.user_id == user_id, PanelPerson.confirmed_at.is_(None))
    return db.scalar(query.limit(1)) is not None
