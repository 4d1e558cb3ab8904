"""Accounts: making them, what they may do, and what their owners can change."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from quintain.core.editing import ANYHOW, EditOrigin, revision_of
from quintain.core.errors import BadInput, Conflict, Fault, Forbidden, NotFound
from quintain.core.mail_addresses import is_address, normal_address
from quintain.core.people import OPERATOR, Actor, Grant, RoleName, Scope
from quintain.core.records.access import People, PeopleOrder, Person, TaskRole, TaskRoles
from quintain.core.texts import Text, Word
from quintain.services.access import audit, notify, throttle
from quintain.services.access.actors import actor_of, find_user, normal_name
from quintain.services.access.links import Link, Purpose, issue
from quintain.services.access.passwords import check_password, hash_password, verify_password
from quintain.services.access.permissions import (
    require_account,
    require_admin,
    require_role,
    require_scope,
    require_user,
)
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.access import people
from quintain.store.tables import RoleGrant, User

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{1,39}")
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})?")
RESERVED = "deleted-"  # what erased accounts are called
GIVEN_BY_OWNERS = {RoleName.OWNER, RoleName.WORKER, RoleName.EXPERT}


def first_admin(db: Session, name: str = "admin") -> Link | None:
    """Make the first admin and the link to open its account; None where there are accounts already."""
    with transaction(db):
        lock(db, "admins")
        if people.user_count(db):
            return None
        user = _add_user(db, name, "", None)
        db.add(RoleGrant(user_id=user.id, role=RoleName.ADMIN.value))
        audit.record(db, OPERATOR, "user.first_admin", f"user:{user.id}")
        return issue(db, user, Purpose.FIRST_ADMIN)


def invite(
    db: Session,
    actor: Actor,
    name: str,
    *,
    email: str | None = None,
    display_name: str = "",
    roles: Iterable[RoleName] = (RoleName.WORKER,),
    language: str = "",
) -> tuple[Person, Link]:
    """Make an account, and the link with which its owner opens it; without a *language*, their browser decides."""
    require_admin(actor)
    if language:
        _check_language(language)
    with transaction(db):
        user = _add_user(db, name, display_name, email, language=language)
        db.add_all(RoleGrant(user_id=user.id, role=RoleName(role).value, granted_by=actor.user_id) for role in roles)
        audit.record(db, actor, "user.invite", f"user:{user.id}", roles=[str(role) for role in roles])
        link = issue(db, user, Purpose.INVITATION)
        db.flush()
        return _person(db, user), link


def register(
    db: Session,
    name: str,
    password: str,
    *,
    is_open: bool,
    email: str | None = None,
    address: str = "",
    language: str = "",
) -> Actor:
    """Make an account for whoever asks, as a worker, where the settings say that registration *is_open*."""
    if not is_open:
        raise Forbidden("Accounts are made by invitation here.", remedy="Ask an admin for one.", code="invitation_only")
    if address:
        throttle.hit(db, f"register:address:{address}", 20, 3600)
    check_password(password, name=normal_name(name), email=email)
    password_hash = hash_password(password)
    with transaction(db):
        user = _add_user(db, name, "", email, language=language)
        user.password_hash = password_hash
        db.add(RoleGrant(user_id=user.id, role=RoleName.WORKER.value))
        db.flush()
        actor = actor_of(db, user)
        audit.record(db, actor, "user.register", f"user:{user.id}")
        return actor


def list_people(
    db: Session,
    actor: Actor,
    *,
    search: str = "",
    role: RoleName | None = None,
    order: PeopleOrder = "name",
    limit: int | None = None,
    offset: int = 0,
) -> list[Person]:
    """List all accounts, those whose name or address contains *search*, or those who hold *role*; or some of them."""
    require_admin(actor)
    role_name = "" if role is None else role.value
    users = people.users(db, search=search, role=role_name, order=order, limit=limit, offset=offset)
    grants = people.grants_of(db, [user.id for user in users])
    return [_person_of(user, grants.get(user.id, [])) for user in users]


def page_of_people(
    db: Session,
    actor: Actor,
    *,
    search: str = "",
    role: RoleName | None = None,
    order: PeopleOrder = "name",
    limit: int = 100,
    offset: int = 0,
) -> People:
    """List some of the accounts that fit, and say how many there are."""
    listed = list_people(db, actor, search=search, role=role, order=order, limit=limit, offset=offset)
    total = people.count_users(db, search=search, role="" if role is None else role.value)
    return People(listed, total)


def get_person(db: Session, actor: Actor, name: str | None = None) -> Person:
    """Return one's own account or, for an admin, the one called *name*; others are refused."""
    if name is None or normal_name(name) == actor.name:
        user = db.get(User, require_user(actor))
        if user is None or user.deleted_at:
            raise NotFound("This account has been deleted.")
        return _person(db, user)
    require_admin(actor)
    return _person(db, find_user(db, name))


def roles_on_task(
    db: Session,
    actor: Actor,
    task: str,
    *,
    search: str = "",
    role: RoleName | None = None,
    limit: int = 100,
    offset: int = 0,
) -> TaskRoles:
    """List who holds a role on *task*, all or those who fit. For its owners; who holds one everywhere is not named."""
    task_id = _task_id(db, task) or 0
    require_role(actor, RoleName.OWNER, task=task)
    grants, total = people.grants_on(
        db, task_id, search=search.strip(), role=role.value if role else "", limit=limit, offset=offset
    )
    listed = [
        TaskRole(grant.name, grant.display_name, RoleName(grant.grant.role), grant.grant.granted_at, grant.given_by)
        for grant in grants
    ]
    return TaskRoles(listed, total)


def grant_role(db: Session, actor: Actor, name: str, role: RoleName, *, task: str | None = None) -> Person:
    """Grant *name* a *role*, everywhere or on *task*, and tell them. Owners may do so on their own tasks.

    They see no more of the account than its roles there.
    """
    _require_may_grant(actor, role, task)
    with transaction(db):
        user = find_user(db, name)
        task_id = _task_id(db, task)
        if not people.open_grants(db, user.id, role, task_id):
            db.add(RoleGrant(user_id=user.id, role=role.value, task_id=task_id, granted_by=actor.user_id))
            audit.record(db, actor, "role.grant", f"user:{user.id}", role=role.value, task=task)
            db.flush()
            if task is not None and user.id != actor.user_id:
                text = Text("You are now {role} of the task '{task}'.", role=Word(role), task=task)
                notify.notify(db, user.id, "role.grant", text, f"/tasks/{task}")
        return _person_for(db, actor, user, task)


def revoke_role(db: Session, actor: Actor, name: str, role: RoleName, *, task: str | None = None) -> Person:
    """Take a *role* from *name*, everywhere or on *task*. The last admin stays one."""
    _require_may_grant(actor, role, task)
    with transaction(db):
        user = find_user(db, name)
        held = people.open_grants(db, user.id, role, _task_id(db, task))
        if not held:
            raise NotFound(
                "{name} does not hold the role {role} on task '{task}'."
                if task
                else "{name} does not hold the role {role}.",
                name=user.name,
                role=role,
                task=task,
            )
        if role is RoleName.ADMIN:
            refuse_last_admin(db, user)
        for item in held:
            item.revoked_at = now()
        audit.record(db, actor, "role.revoke", f"user:{user.id}", role=role.value, task=task)
        db.flush()
        return _person_for(db, actor, user, task)


def change_password(db: Session, actor: Actor, old: str, new: str, *, current: str | None = None) -> None:
    """Change one's own password, end one's API tokens and sign out everywhere but in the *current* session.

    Who came by a panel's link and has shown who they are has none yet, and chooses the first one without an old one.
    """
    user_id = require_account(actor)
    throttle.hit(db, f"password:user:{user_id}", 10, 300)
    user = db.get(User, user_id)
    first = user is not None and user.password_hash is None
    if user is None or (not first and not verify_password(user.password_hash, old)):
        raise BadInput(faults=[Fault("this is not the present password", field="old")])
    check_password(new, name=user.name, email=user.email)
    password_hash = hash_password(new)
    with transaction(db):
        user.password_hash = password_hash
        people.end_sessions(db, user_id, keep=current)
        people.revoke_tokens(db, user_id, now())
        people.end_links(db, user_id, now())
        audit.record(db, actor, "user.password", f"user:{user_id}")


def update_profile(
    db: Session,
    actor: Actor,
    *,
    display_name: str | None = None,
    email: str | None = None,
    language: str | None = None,
    email_notifications: bool | None = None,
    edit: EditOrigin = ANYHOW,
) -> Person:
    """Change what is given of one's own account; an empty *email* removes the address.

    With a lesser credential only the language can be chosen. *edit* says what the change was made from.
    """
    user_id = require_user(actor)
    if not (display_name is None and email is None and email_notifications is None):
        require_scope(actor, Scope.ACCOUNT)
    if language is not None:
        _check_language(language)
    values = {
        "display_name": display_name,
        "email": email,
        "language": language,
        "email_notifications": email_notifications,
    }
    with transaction(db):
        lock(db, f"profile of {user_id}")
        user = db.get_one(User, user_id, populate_existing=True)
        stored = profile_of(user)
        chosen = edit.settled(stored, stored | {name: value for name, value in values.items() if value is not None})
        changed = {name: value for name, value in chosen.items() if value != stored[name]}
        if "display_name" in changed:
            user.display_name = _check_display_name(changed["display_name"])
        if "email" in changed:
            user.email = _check_email(db, changed["email"], user_id)
        user.language = chosen["language"]
        user.email_notifications = chosen["email_notifications"]
        audit.record(db, actor, "user.profile", f"user:{user_id}")
        return _person(db, user)


def profile_of(user: User | Person) -> dict[str, Any]:
    """Return what a person may change of their own account, as it is stored."""
    return {
        "display_name": user.display_name,
        "email": user.email or "",
        "language": user.language,
        "email_notifications": user.email_notifications,
    }


def refuse_last_admin(db: Session, user: User) -> None:
    """Refuse what would leave nobody in charge; called inside a transaction."""
    lock(db, "admins")  # two admins must not remove each other at the same moment
    if Grant(RoleName.ADMIN) in people.grants_of(db, [user.id]).get(user.id, ()) and not people.other_admins(
        db, user.id
    ):
        raise Conflict(
            "{name} is the only admin.", name=user.name, remedy="Make somebody else an admin first.", code="only_admin"
        )


def _require_may_grant(actor: Actor, role: RoleName, task: str | None) -> None:
    if task is not None and role in GIVEN_BY_OWNERS:
        require_role(actor, RoleName.OWNER, task=task)
    else:  # with a token for tasks alone, an admin could make themselves or others more than it is good for
        require_admin(actor)
        require_scope(actor, Scope.ADMIN)
    if task is not None and role is RoleName.ADMIN:
        raise BadInput("An admin is one everywhere, not on one task.", remedy="Leave the task out, or grant owner.")


def _check_language(code: str) -> None:
    if not LANGUAGE.fullmatch(code):
        raise BadInput(
            faults=[Fault("'{code}' is not a language code such as en or pt-BR", code=code, field="language")]
        )


def account_name(typed: str) -> str:
    """Return the name of an account as it is stored; what cannot be one is refused."""
    name = normal_name(typed)
    if not NAME.fullmatch(name) or name.startswith(RESERVED):
        reason = Text(
            "'{name}' is not a name: it takes 2 to 40 letters a-z, digits, dots, hyphens and underscores", name=name
        )
        raise BadInput(
            faults=[Fault(reason, field="name")], reserved=RESERVED, remedy="It may not begin with '{reserved}'."
        )
    return name


def _add_user(db: Session, name: str, display_name: str, email: str | None, *, language: str = "") -> User:
    name = account_name(name)
    if people.user_by_name(db, name) is not None:
        raise Conflict(
            "There is already an account called '{name}'.", name=name, remedy="Choose another name.", code="name_taken"
        )
    user = User(
        name=name,
        display_name=_check_display_name(display_name),
        email=_check_email(db, email or "", None),
        language=language,
    )
    db.add(user)
    try:
        db.flush()
    except IntegrityError as error:  # somebody else was faster by a moment
        raise Conflict(
            "There is already an account called '{name}'.", name=name, remedy="Choose another name.", code="name_taken"
        ) from error
    return user


def _check_display_name(text: str) -> str:
    text = " ".join(text.split())
    if len(text) > 120 or not text.isprintable():
        raise BadInput(faults=[Fault("a name takes at most 120 printable characters", field="display_name")])
    return text


def _check_email(db: Session, email: str, user_id: int | None) -> str | None:
    email = normal_address(email)
    if not email:
        return None
    if not is_address(email):
        raise BadInput(faults=[Fault("'{email}' is not an e-mail address", email=email, field="email")])
    other = people.user_by_name(db, email)
    if other is not None and other.id != user_id:
        raise Conflict(
            "There is already an account with this e-mail address.", remedy="Use another address.", code="email_taken"
        )
    return email


def _task_id(db: Session, task: str | None) -> int | None:
    if task is None:
        return None
    task_id = people.task_id_of(db, task)
    if task_id is None:
        raise NotFound(
            "There is no task called '{name}'.",
            name=task,
            remedy="`quintain task list` shows all of them.",
            page="The first page lists those there are.",
        )
    return task_id


def _person(db: Session, user: User) -> Person:
    return _person_of(user, people.grants_of(db, [user.id]).get(user.id, []))


def _person_for(db: Session, actor: Actor, user: User, task: str | None) -> Person:
    """Return an account for who gave or took a role: all of it for admins, for owners what concerns their *task*."""
    person = _person(db, user)
    if actor.is_admin or user.id == actor.user_id:
        return person
    here = tuple(grant for grant in person.grants if grant.task == task)
    return replace(person, email=None, language="", email_notifications=False, grants=here, revision="")


def _person_of(user: User, grants: Iterable[Grant]) -> Person:
    return Person(
        id=user.id,
        name=user.name,
        display_name=user.display_name,
        email=user.email,
        language=user.language,
        email_notifications=user.email_notifications,
        opened=user.password_hash is not None,
        created_at=user.created_at,
        grants=tuple(grants),
        revision=revision_of(profile_of(user)),
    )


def tasks_to_grant(db: Session, actor: Actor) -> list[str]:
    """Name the tasks on which roles can be granted; admins only."""
    require_admin(actor)
    return people.task_names(db)
