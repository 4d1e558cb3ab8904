"""People for tests."""

from __future__ import annotations

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
