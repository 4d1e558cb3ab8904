"""What a person may ask for: all that is kept about them, and to be forgotten."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.people import OPERATOR, Actor
from quintain.core.records.pay import OpenPay
from quintain.core.stage_qualifications import is_stage_qualification
from quintain.data.exporting import json_list, whole_or_nothing
from quintain.services.access import audit
from quintain.services.access.accounts import refuse_last_admin
from quintain.services.access.actors import actor_of, find_user, normal_name
from quintain.services.access.permissions import require_account, require_admin
from quintain.services.collect.rounds.target_names import redact_own_attempts
from quintain.services.pay import final_pay
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.house import personal
from quintain.store.tables import Attempt, Earning, Qualification, User

README = """Everything that this Quintain keeps about you, one JSON file per table.

Secrets (the hash of your password, of sessions and of tokens) are left out. Times are in UTC.
"""


def export_person(db: Session, actor: Actor, path: Path, name: str | None = None) -> None:
    """Write all that is kept about the actor (or, for an admin, about *name*) to a ZIP file of JSON files.

    Rows are read and written some at a time, however much somebody did.
    """
    user = _whom(db, actor, name)
    with whole_or_nothing(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("README.txt", README)
        for table, parts in personal.rows_about(db, user.id):
            _write(bundle, table, _redacted_rows(db, user, table, parts))
    with transaction(db):
        audit.record(db, actor, "person.export", f"user:{user.id}")


def _redacted_rows(
    db: Session, user: User, table: str, parts: Iterator[list[dict[str, Any]]]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table one by one, with no names in them that the person may not know."""
    person = actor_of(db, user)
    for rows in parts:
        if table == Attempt.__tablename__:
            redact_own_attempts(db, person, rows)
        yield from _without_arms(table, rows)


def _write(bundle: zipfile.ZipFile, table: str, rows: Iterator[dict[str, Any]]) -> None:
    """Write the rows of a table to a file of their own; none where there are none."""
    first = next(rows, None)
    if first is None:
        return
    with bundle.open(f"{table}.json", "w", force_zip64=True) as stream:
        for piece in json_list(chain([first], rows), str):
            stream.write(piece.encode())


def _without_arms(table: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what would tell somebody which arm of a trial they are in: passes, and names of pieces of work."""
    if table == Qualification.__tablename__:
        return [row for row in rows if not is_stage_qualification(row["name"])]
    if table == Earning.__tablename__:
        return [{**row, "work": "trial"} if str(row["work"]).startswith("trial:") else row for row in rows]
    return rows


def delete_person(db: Session, actor: Actor, name: str | None = None, *, give_up_pay: bool = False) -> None:
    """Forget the actor (or, for an admin, *name*): name, address, password, sessions, tokens and messages.

    What they contributed stays, under the name `deleted-<number>`, so that counts and standings stay right. The last
    admin is refused, and so is somebody whose work is not paid yet, unless they give that up: *give_up_pay*.
    """
    with transaction(db):
        user = _whom(db, actor, name)
        refuse_last_admin(db, user)
        by_self = user.id == actor.user_id
        _settle_pay(db, actor, user, give_up_pay=give_up_pay)
        personal.erase(db, user, now())
        audit.record(db, OPERATOR if by_self else actor, "person.delete", f"user:{user.id}", by_self=by_self)


def open_pay_of(db: Session, actor: Actor, name: str | None = None) -> OpenPay:
    """Add up what the actor (or, for an admin, *name*) earned and was not paid: what deleting them gives up."""
    return final_pay.open_pay(db, _whom(db, actor, name).id)


def _settle_pay(db: Session, actor: Actor, user: User, *, give_up_pay: bool) -> None:
    """Refuse while something is owed to somebody, or note that they gave it up."""
    owed = final_pay.open_pay(db, user.id)
    by_self = user.id == actor.user_id
    if owed.open and not give_up_pay:
        raise Conflict(
            "{money} of your work is not paid yet." if by_self else "{money} of what {name} earned is not paid yet.",
            money=final_pay.amounts_text(owed.open),
            name=user.name,
            remedy="Have it paid first, or say that you give it up (`give_up_pay`)."
            if by_self
            else "Have it paid first, or ask whether it is given up (`give_up_pay`).",
            page="Have it paid first, or say that you give it up.",
            code="unpaid_work",
        )
    final_pay.forgo_pay(db, user, actor)


def _whom(db: Session, actor: Actor, name: str | None) -> User:
    if name is None or normal_name(name) == actor.name:
        return db.get_one(User, require_account(actor))
    require_admin(actor)
    return find_user(db, name)
