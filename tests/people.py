"""People for tests."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.core.people import Actor, Grant, RoleName
from quintain.store.database import transaction
from quintain.store.tables import RoleGrant, User


def make_person(db: Session, name: str, *roles: RoleName) -> Actor:
    """Make a real user called *name* who holds *roles* everywhere."""
    with transaction(db):
        user = User(name=name, display_name=name.title(), email=f"{name}@example.org")
        db.add(user)
        db.flush()
        db.add_all(RoleGrant(user_id=user.id, role=role.value) for role in roles)
        return Actor(user_id=user.id, name=name, grants=frozenset(Grant(role) for role in roles))


def find_or_make_person(db: Session, name: str, role: RoleName) -> Actor:
    """Find the user called *name*, whom a workspace may begin with, or make one who holds *role* everywhere."""
    found = db.scalar(select(User.id).where(User.name == name))
    if found is None:
        return make_person(db, name, role)
    return Actor(user_id=found, name=name, grants=frozenset([Grant(role)]))
