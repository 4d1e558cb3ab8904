"""From a stored person to the actor on whose behalf services work."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy.orm import Session

from quintain.core.errors import NotFound
from quintain.core.mail_addresses import normal_address
from quintain.core.people import Actor
from quintain.store.queries.access import people
from quintain.store.tables import User


def actor_of(db: Session, user: User) -> Actor:
    """Return *user* as an actor, with the roles held now."""
    return Actor(user_id=user.id, name=user.name, grants=frozenset(people.grants_of(db, [user.id]).get(user.id, ())))


def find_user(db: Session, name: str) -> User:
    """Find the person called *name* (or with that e-mail address), or say that there is none."""
    user = people.user_by_name(db, normal_name(name))
    if user is None:
        raise NotFound(
            "There is no account called '{name}'.",
            name=name,
            remedy="`quintain user list` shows all of them.",
            page="Check how the name is written.",
        )
    return user


def find_for(db: Session, actor: Actor, name: str, allowed: Callable[[], None]) -> User:
    """Find the person called *name*, who is the actor or else somebody whom *allowed* lets the actor ask about.

    It is asked first: whether there is an account of some name or address is nobody else's business.
    """
    if actor.user_id is None or normal_name(name) != actor.name:
        allowed()
    return find_user(db, name)


def normal_name(name: str) -> str:
    """Return the form in which names and addresses are kept and compared: one for all spellings of the same."""
    return normal_address(name)
