"""Queries on accounts, roles, sessions, tokens, links and limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, delete, exists, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, aliased

from quintain.core.people import Grant, RoleName
from quintain.store.base import table_of
from quintain.store.tables import (
    ApiToken,
    OneTimeLink,
    RoleGrant,
    TaskRow,
    Throttle,
    User,
    WebSession,
)

CHUNK = 500  # people whose roles are asked for together
NAMES_AT_ONCE = 5000


class StoredSession(NamedTuple):
    """A browser's session that has not expired, and whose it is."""

    token_hash: str
    csrf: str
    created_at: datetime
    seen_at: datetime
    scopes: str
    door_task: str | None
    user_id: int
    name: str
    language: str


class StoredToken(NamedTuple):
    """An API token, and whose it is."""

    id: int
    token_name: str
    expires_at: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None
    scopes: str
    user_id: int
    name: str


# Every request asks one of these: they are put together once, of columns. Objects take longer than the answer.
_web, _token, _user, _grant, _task = (table_of(table) for table in (WebSession, ApiToken, User, RoleGrant, TaskRow))
_door = _task.alias()
_SESSION = (
    select(
        _web.c.token_hash,
        _web.c.csrf,
        _web.c.created_at,
        _web.c.seen_at,
        _web.c.scopes,
        _door.c.name.label("door_task"),
        _user.c.id,
        _user.c.name,
        _user.c.language,
        _grant.c.role,
        _task.c.name.label("task"),
    )
    .join_from(_web, _user, _user.c.id == _web.c.user_id)
    .outerjoin(_door, _door.c.id == _web.c.task_id)
    .outerjoin(_grant, and_(_grant.c.user_id == _user.c.id, _grant.c.revoked_at.is_(None)))
    .outerjoin(_task, _task.c.id == _grant.c.task_id)
    .where(
        _web.c.token_hash == bindparam("token_hash"), _web.c.expires_at > bindparam("at"), _user.c.deleted_at.is_(None)
    )
    .order_by(_grant.c.id)
)
_TOKEN = (
    select(
        _token.c.id,
        _token.c.name,
        _token.c.expires_at,
        _token.c.used_at,
        _token.c.revoked_at,
        _token.c.scopes,
        _user.c.id,
        _user.c.name,
        _grant.c.role,
        _task.c.name.label("task"),
    )
    .join_from(_token, _user, _user.c.id == _token.c.user_id)
    .outerjoin(_grant, and_(_grant.c.user_id == _user.c.id, _grant.c.revoked_at.is_(None)))
    .outerjoin(_task, _task.c.id == _grant.c.task_id)
    .where(_token.c.token_hash == bindparam("token_hash"), _user.c.deleted_at.is_(None))
    .order_by(_grant.c.id)
)


def user_by_name(db: Session, name: str) -> User | None:
    """Find a person by account name or, where *name* has an @, by e-mail address."""
    column = User.email if "@" in name else User.name
    return db.scalar(select(User).where(column == name, User.deleted_at.is_(None)))


ORDERS: Mapping[str, tuple[Any, ...]] = {
    "name": (User.name,),
    "name_down": (User.name.desc(),),
    "newest": (User.created_at.desc(), User.id.desc()),
    "oldest": (User.created_at, User.id),
}


def users(
    db: Session,
    *,
    search: str = "",
    role: str = "",
    with_deleted: bool = False,
    order: str = "name",
    limit: int | None = None,
    offset: int = 0,
) -> list[User]:
    """List people, those whose name, display name or address contains *search* and who hold *role* now."""
    query = select(User).where(*_fitting(search, role, with_deleted)).order_by(*ORDERS[order]).offset(offset)
    return list(db.scalars(query if limit is None else query.limit(limit)))


def count_users(db: Session, *, search: str = "", role: str = "") -> int:
    """Count the people whom `users` would list."""
    return db.scalar(select(func.count()).select_from(User).where(*_fitting(search, role, with_deleted=False))) or 0


def holders(
    db: Session, role: RoleName, task_id: int, *, search: str = "", limit: int | None = None, offset: int = 0
) -> list[User]:
    """List the people who hold *role*, everywhere or on a task, by their names: admins hold every one."""
    held = exists().where(RoleGrant.user_id == User.id, *_holds(role, task_id))
    query = select(User).where(*_fitting(search, "", with_deleted=False), held).order_by(*ORDERS["name"])
    return list(db.scalars(query.limit(limit).offset(offset)))


def count_holders(db: Session, role: RoleName, task_id: int, *, search: str = "") -> int:
    """Count the people whom `holders` would list."""
    query = select(func.count(RoleGrant.user_id.distinct())).join(User, User.id == RoleGrant.user_id)
    return db.scalar(query.where(*_fitting(search, "", with_deleted=False), *_holds(role, task_id))) or 0


def _holds(role: RoleName, task_id: int) -> list[ColumnElement[bool]]:
    here = and_(RoleGrant.role == role.value, or_(RoleGrant.task_id == task_id, RoleGrant.task_id.is_(None)))
    admin = and_(RoleGrant.role == RoleName.ADMIN.value, RoleGrant.task_id.is_(None))
    return [RoleGrant.revoked_at.is_(None), or_(here, admin)]


def _fitting(search: str, role: str, with_deleted: bool) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [] if with_deleted else [User.deleted_at.is_(None)]
    if search:
        columns = (User.name, User.display_name, User.email)
        conditions.append(or_(*(column.icontains(search, autoescape=True) for column in columns)))
    if role:
        held = and_(RoleGrant.user_id == User.id, RoleGrant.role == role, RoleGrant.revoked_at.is_(None))
        conditions.append(exists().where(held))
    return conditions


def user_count(db: Session) -> int:
    """Count the people who have not been deleted."""
    return db.scalar(select(func.count()).select_from(User).where(User.deleted_at.is_(None))) or 0


def grants_of(db: Session, user_ids: Iterable[int]) -> dict[int, list[Grant]]:
    """Return the roles that each person holds now."""
    query = (
        select(RoleGrant.user_id, RoleGrant.role, TaskRow.name)
        .outerjoin(TaskRow, TaskRow.id == RoleGrant.task_id)
        .where(RoleGrant.revoked_at.is_(None))
        .order_by(RoleGrant.id)
    )
    grants: dict[int, list[Grant]] = {}
    ids = list(user_ids)
    for first in range(0, len(ids), CHUNK):
        for user_id, role, task in db.execute(query.where(RoleGrant.user_id.in_(ids[first : first + CHUNK]))):
            grants.setdefault(user_id, []).append(Grant(RoleName(role), task))
    return grants


class TaskGrant(NamedTuple):
    """A role on one task: who holds it, and who gave it."""

    grant: RoleGrant
    name: str
    display_name: str
    given_by: str | None


def grants_on(
    db: Session, task_id: int, *, search: str, role: str, limit: int, offset: int
) -> tuple[list[TaskGrant], int]:
    """List the roles held on one task, by name; and count them. Whoever holds one everywhere is not among them."""
    giver = aliased(User)
    fits = [RoleGrant.task_id == task_id, RoleGrant.revoked_at.is_(None), User.deleted_at.is_(None)]
    if role:
        fits.append(RoleGrant.role == role)
    if search:
        fits.append(or_(*(column.icontains(search, autoescape=True) for column in (User.name, User.display_name))))
    total = db.scalar(select(func.count()).select_from(RoleGrant).join(User, User.id == RoleGrant.user_id).where(*fits))
    query = (
        select(RoleGrant, User.name, User.display_name, giver.name)
        .join(User, User.id == RoleGrant.user_id)
        .outerjoin(giver, giver.id == RoleGrant.granted_by)
        .where(*fits)
        .order_by(User.name, RoleGrant.id)
    )
    return [TaskGrant(*row) for row in db.execute(query.limit(limit).offset(offset))], total or 0


def open_grants(db: Session, user_id: int, role: RoleName, task_id: int | None) -> list[RoleGrant]:
    """Find the grants of *role* that a person holds now, everywhere or on one task."""
    on_task = RoleGrant.task_id.is_(None) if task_id is None else RoleGrant.task_id == task_id
    query = select(RoleGrant).where(
        RoleGrant.user_id == user_id, RoleGrant.role == role.value, RoleGrant.revoked_at.is_(None), on_task
    )
    return list(db.scalars(query))


def other_admins(db: Session, user_id: int) -> int:
    """Count the admins besides one person."""
    query = (
        select(func.count(func.distinct(RoleGrant.user_id)))
        .join(User, User.id == RoleGrant.user_id)
        .where(
            RoleGrant.role == RoleName.ADMIN.value,
            RoleGrant.revoked_at.is_(None),
            RoleGrant.user_id != user_id,
            User.deleted_at.is_(None),
        )
    )
    return db.scalar(query) or 0


def task_id_of(db: Session, task: str) -> int | None:
    """Return the id of the task called *task*; None without one."""
    return db.scalar(select(TaskRow.id).where(TaskRow.name == task))


def session_with_user(db: Session, token_hash: str, at: datetime) -> tuple[StoredSession, list[Grant]] | None:
    """Find a browser's session that has not expired, with whose it is and the roles that they hold now."""
    rows = db.execute(_SESSION, {"token_hash": token_hash, "at": at}).all()
    if not rows:
        return None
    grants = [Grant(RoleName(role), task) for *_, role, task in rows if role is not None]
    return StoredSession(*rows[0][:-2]), grants


def sessions_of(db: Session, user_id: int, at: datetime) -> list[WebSession]:
    """List the browsers in which a person is signed in, the last used first."""
    query = select(WebSession).where(WebSession.user_id == user_id, WebSession.expires_at > at)
    return list(db.scalars(query.order_by(WebSession.seen_at.desc())))


def prolong_session(db: Session, token_hash: str, seen_at: datetime, expires_at: datetime) -> None:
    """Write down that a session was used, and how long it lasts now."""
    change = update(WebSession).where(WebSession.token_hash == token_hash)
    db.execute(change.values(seen_at=seen_at, expires_at=expires_at))


def see_language(db: Session, user_id: int, language: str) -> None:
    """Remember in which language a person reads pages."""
    db.execute(update(User).where(User.id == user_id, User.seen_language != language).values(seen_language=language))


def end_sessions(db: Session, user_id: int, *, keep: str | None = None, only: str | None = None) -> int:
    """End a person's sessions and count them: all, all but the one whose hash is *keep*, or *only* that one."""
    change = delete(WebSession).where(WebSession.user_id == user_id)
    if keep is not None:
        change = change.where(WebSession.token_hash != keep)
    if only is not None:
        change = change.where(WebSession.token_hash == only)
    return len(db.execute(change.returning(WebSession.token_hash)).all())


def token_with_user(db: Session, token_hash: str) -> tuple[StoredToken, list[Grant]] | None:
    """Find an API token by its hash, with whose it is and the roles that they hold now."""
    rows = db.execute(_TOKEN, {"token_hash": token_hash}).all()
    if not rows:
        return None
    grants = [Grant(RoleName(role), task) for *_, role, task in rows if role is not None]
    return StoredToken(*rows[0][:-2]), grants


def tokens_of(db: Session, user_id: int) -> list[ApiToken]:
    """List a person's API tokens that have not been revoked, newest first."""
    query = select(ApiToken).where(ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None))
    return list(db.scalars(query.order_by(ApiToken.id.desc())))


def touch_token(db: Session, token_id: int, at: datetime) -> None:
    """Write down that a token was used."""
    db.execute(update(ApiToken).where(ApiToken.id == token_id).values(used_at=at))


def revoke_tokens(db: Session, user_id: int, at: datetime, *, only: int | None = None) -> int:
    """Revoke a person's tokens, or *only* the one with that id, and count them."""
    change = update(ApiToken).where(ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None))
    if only is not None:
        change = change.where(ApiToken.id == only)
    return len(db.execute(change.values(revoked_at=at).returning(ApiToken.id)).all())


def use_link(db: Session, token_hash: str, at: datetime) -> OneTimeLink | None:
    """Use up a link that is still good. Of two who try at the same moment, one gets it."""
    change = (
        update(OneTimeLink)
        .where(OneTimeLink.token_hash == token_hash, OneTimeLink.used_at.is_(None), OneTimeLink.expires_at > at)
        .values(used_at=at)
        .returning(OneTimeLink)
    )
    return db.scalars(change).one_or_none()


def end_links(db: Session, user_id: int, at: datetime) -> None:
    """Use up all links of a person: a new one, or a new password, makes the old ones void."""
    change = update(OneTimeLink).where(OneTimeLink.user_id == user_id, OneTimeLink.used_at.is_(None))
    db.execute(change.values(used_at=at))


def count_hit(db: Session, key: str, window: int, previous: int) -> tuple[int, int]:
    """Count one more *key* in *window*; give the count in it and in the window *previous*."""
    insert = postgresql.insert if db.get_bind().dialect.name == "postgresql" else sqlite.insert
    row = insert(Throttle).values(key=key, window=window, count=1)
    counted = row.on_conflict_do_update(index_elements=["key", "window"], set_={"count": Throttle.count + 1})
    current = db.scalar(counted.returning(Throttle.count)) or 0
    before = select(Throttle.count).where(Throttle.key == key, Throttle.window == previous)
    return current, db.scalar(before) or 0


def forgive_hit(db: Session, key: str, window: int) -> None:
    """Count one *key* less in *window*."""
    counted = update(Throttle).where(Throttle.key == key, Throttle.window == window, Throttle.count > 0)
    db.execute(counted.values(count=Throttle.count - 1))


def forget_expired(db: Session, at: datetime, windows_before: int) -> None:
    """Remove sessions and links that have expired, and windows that no limit looks at any more."""
    db.execute(delete(WebSession).where(WebSession.expires_at <= at))
    db.execute(delete(OneTimeLink).where(OneTimeLink.expires_at <= at))
    db.execute(delete(Throttle).where(Throttle.window < windows_before))


def names(db: Session, user_ids: Iterable[int]) -> dict[int, str]:
    """Return the names of people by their ids."""
    ids = sorted(set(user_ids))
    names_by_id: dict[int, str] = {}
    for start in range(0, len(ids), NAMES_AT_ONCE):
        query = select(User.id, User.name).where(User.id.in_(ids[start : start + NAMES_AT_ONCE]))
        names_by_id |= {int(key): name for key, name in db.execute(query)}
    return names_by_id


def owners(db: Session, task: str) -> list[int]:
    """List the people who own a task; where nobody does in particular, those who own all."""
    query = (
        select(RoleGrant.user_id, TaskRow.name)
        .join(User, User.id == RoleGrant.user_id)
        .outerjoin(TaskRow, TaskRow.id == RoleGrant.task_id)
        .where(RoleGrant.role == RoleName.OWNER.value, RoleGrant.revoked_at.is_(None), User.deleted_at.is_(None))
        .where(or_(RoleGrant.task_id.is_(None), TaskRow.name == task))
        .order_by(RoleGrant.user_id)
    )
    rows = db.execute(query).all()
    own = [user for user, name in rows if name is not None]
    return sorted(set(own or [user for user, _ in rows]))


def task_names(db: Session) -> list[str]:
    """List the tasks that are not archived, by name."""
    return list(db.scalars(select(TaskRow.name).where(TaskRow.archived_at.is_(None)).order_by(TaskRow.name)))
