"""Everything that the database holds about one person, and taking it out again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, or_, select, update
from sqlalchemy.orm import Session

from quintain.store.base import Base
from quintain.store.tables import (
    ApiToken,
    AuditEntry,
    Draft,
    InputRequest,
    JudgingDraft,
    Notification,
    OneTimeLink,
    OutgoingMail,
    PanelDevice,
    PanelPerson,
    PanelRequest,
    PanelStay,
    PanelVisit,
    PanelWord,
    RoleGrant,
    User,
    WebSession,
    WorkerFact,
)

AT_A_TIME = 500  # rows that are read together
SECRETS = {"password_hash", "token_hash", "csrf", "device", "code_hash", "source"}
# What would tell judges which of the items before them are gold items: those have no slot, come with ids of their own,
# and no answer to them is ever late. Writers do not learn what others were drawn for,
# and coders not where an item is from. Who takes part in a trial does not learn that there are arms.
UNTOLD = {
    "coding_items": {"arm", "key", "alike", "draw", "attempt_id", "alike_attempts"},
    "codings": {"figures"},
    "crowd_answers": {"arm_id"},
    "crowd_events": {"arm_id"},
    "crowd_leases": {"arm_id"},
    "crowd_letters": {"arm_id"},
    "crowd_members": {"arm_id", "drawn"},
    "judgements": {"item_id", "late"},
    "judging_notes": {"item_id"},
    "judging_offers": {"slot_id", "generation", "item_id"},
    "round_assignments": {"drawn"},
    "rounds": {"seed"},
    "validation_items": {"gold", "gold_note", "hash"},
    "writing_sessions": {"drawn"},
}


def rows_about(db: Session, user_id: int) -> Iterator[tuple[str, Iterator[list[dict[str, Any]]]]]:
    """Return, per table, the rows that name the person, some at a time, without secrets.

    Tables of later parts are found by themselves. What would give gold items away is left out as well. A row belongs to
    the person when one of its columns points to them.
    """
    for table in Base.metadata.sorted_tables:
        pointing = [key.parent for key in table.foreign_keys if key.column.table.name == User.__tablename__]
        if table.name == User.__tablename__:
            pointing = [table.c.id]
        if not pointing:
            continue
        mine = or_(*(column == user_id for column in pointing))
        if table.name == AuditEntry.__tablename__:
            mine = or_(mine, table.c.subject == f"user:{user_id}")
        hidden = SECRETS | UNTOLD.get(table.name, set())
        columns = [column for column in table.columns if column.name not in hidden]
        query = select(*columns).where(mine).order_by(*table.primary_key)
        yield table.name, _some_at_a_time(db, query)


def _some_at_a_time(db: Session, query: Select[Any]) -> Iterator[list[dict[str, Any]]]:
    for rows in db.execute(query, execution_options={"yield_per": AT_A_TIME}).mappings().partitions():
        yield [dict(row) for row in rows]


def erase(db: Session, user: User, at: datetime) -> None:
    """Leave of *user* a row without a name, so that what they did still counts, and remove what only they used."""
    name = f"deleted-{user.id}"
    panel = (PanelPerson, PanelVisit, PanelStay, PanelDevice, PanelRequest, PanelWord)
    own = (
        WebSession,
        OneTimeLink,
        ApiToken,
        OutgoingMail,
        Notification,
        Draft,
        JudgingDraft,
        WorkerFact,
        InputRequest,
        *panel,
    )
    for table in own:
        db.execute(delete(table).where(table.user_id == user.id))
    held = update(RoleGrant).where(RoleGrant.user_id == user.id, RoleGrant.revoked_at.is_(None))
    db.execute(held.values(revoked_at=at))
    db.execute(update(AuditEntry).where(AuditEntry.actor_id == user.id).values(actor=name))
    user.name, user.display_name, user.email, user.password_hash = name, "", None, None
    user.email_notifications = False
    user.deleted_at = at
