"""From a stored person to the actor on whose behalf services work."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.errors import NotFound
from quintain.core.people import Actor
from quintain.store.queries import people
from quintain.store.tables import User


def actor_of(db: Session, user: User) -> Actor:
    """Give *user* as an actor, with the roles held now."""
    return Actor(user_id=user.id, name=user.name, grants=frozenset(people.grants_of(db, [user.id]).get(user.id, ())))


def find_user(db: Session, name: str) -> User:
    """Find the person called *name* (or with that e-mail address), or say that there is none."""
    user = people.user_by_name(db, normal_name(name))
    if user is None:
        raise NotFound(f"There is no account called '{name}'.", remedy="`quintain user list` shows all of them.")
    return user


def normal_name(name: str) -> str:
    """Give the form in which names and addresses are kept and compared."""
    return name.strip().lower()
