"""What a person may ask for: all that is kept about them, and to be forgotten."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.passes import is_pass
from quintain.core.people import OPERATOR, Actor
from quintain.services.access import audit
from quintain.services.access.accounts import refuse_last_admin
from quintain.services.access.actors import actor_of, find_user, normal_name
from quintain.services.access.permissions import require_admin, require_user
from quintain.services.collect.target_names import tell_own
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.house import personal
from quintain.store.tables import Attempt, Earning, Qualification, User

README = """Everything that this Quintain keeps about you, one JSON file per table.

Secrets (the hash of your password, of sessions and of tokens) are left out. Times are in UTC.
"""


def export_person(db: Session, actor: Actor, name: str | None = None) -> bytes:
    """Give all that is kept about the actor (or, for an admin, about *name*) as a ZIP file of JSON files."""
    user = _whom(db, actor, name)
    tables = personal.rows_about(db, user.id)
    tell_own(db, actor_of(db, user), tables[Attempt.__tablename__])
    _hide_arms(tables)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("README.txt", README)
        for table, rows in tables.items():
            if rows:
                bundle.writestr(f"{table}.json", json.dumps(rows, ensure_ascii=False, indent=2, default=str))
    with transaction(db):
        audit.record(db, actor, "person.export", f"user:{user.id}")
    return buffer.getvalue()


def _hide_arms(tables: dict[str, list[dict[str, Any]]]) -> None:
    """Leave out what would tell somebody which arm of a trial they are in: passes, and names of pieces of work."""
    held = tables[Qualification.__tablename__]
    tables[Qualification.__tablename__] = [row for row in held if not is_pass(row["name"])]
    for row in tables[Earning.__tablename__]:
        if str(row["work"]).startswith("trial:"):
            row["work"] = "trial"


def delete_person(db: Session, actor: Actor, name: str | None = None) -> None:
    """Forget the actor (or, for an admin, *name*): name, address, password, sessions, tokens and messages.

    What they contributed stays, under the name `deleted-<number>`, so that counts and standings stay right. The last
    admin is refused.
    """
    with transaction(db):
        user = _whom(db, actor, name)
        refuse_last_admin(db, user)
        personal.erase(db, user, now())
        by_self = user.id == actor.user_id
        audit.record(db, OPERATOR if by_self else actor, "person.delete", f"user:{user.id}", by_self=by_self)


def _whom(db: Session, actor: Actor, name: str | None) -> User:
    if name is None or normal_name(name) == actor.name:
        return db.get_one(User, require_user(actor))
    require_admin(actor)
    return find_user(db, name)
