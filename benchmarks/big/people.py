"""The accounts: writers, judges, builders, and those who only ever came in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from big.loading import Loader, packed
from big.sizes import Size
from quintain.core.people import RoleName
from quintain.store.tables import AuditEntry, RoleGrant, User


@dataclass(frozen=True, slots=True)
class People:
    """The ids of those who did something."""

    writers: range
    judges: range
    builders: range


def add_people(load: Loader, size: Size, begun: datetime) -> People:
    """Add the accounts, a role for each, and that they were invited."""
    first = load.next_id(User)
    everybody = range(first, first + size.accounts)
    people = People(
        everybody[: size.writers],
        everybody[size.writers : size.writers + size.judges],
        everybody[size.writers + size.judges : size.writers + size.judges + size.builders],
    )
    at = [load.when(begun + timedelta(minutes=place)) for place in range(size.accounts)]
    load.add(
        User,
        ("id", "name", "display_name", "email", "language", "email_notifications", "created_at"),
        (
            (user, f"person-{user}", f"Person {user}", f"person-{user}@example.org", "en", False, at[place])
            for place, user in enumerate(everybody)
        ),
    )
    load.add(
        RoleGrant,
        ("user_id", "role", "granted_at"),
        (
            (user, RoleName.BUILDER.value if user in people.builders else RoleName.WORKER.value, at[place])
            for place, user in enumerate(everybody)
        ),
    )
    load.add(
        AuditEntry,
        ("at", "actor", "action", "subject", "details"),
        (
            (at[place], "operator", "user.invite", f"user:{user}", packed({"roles": ["worker"]}))
            for place, user in enumerate(everybody)
        ),
    )
    return people
