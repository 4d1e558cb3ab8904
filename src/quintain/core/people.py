"""Who is asking, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from quintain.core.records.base import Record


class RoleName(StrEnum):
    """What a person is to the platform or, for an owner, to one task."""

    ADMIN = "admin"
    OWNER = "owner"
    BUILDER = "builder"
    WORKER = "worker"
    EXPERT = "expert"


@dataclass(frozen=True, slots=True)
class Grant(Record):
    """A role held everywhere (*task* is None) or on one task only."""

    role: RoleName
    task: str | None = None


@dataclass(frozen=True, slots=True)
class Actor:
    """The person on whose behalf a service acts. *user_id* is None for nobody and for the operator.

    The *operator* is whoever has the workspace folder itself: the command line on the server's machine.
    """

    user_id: int | None = None
    name: str = "anonymous"
    grants: frozenset[Grant] = frozenset()
    operator: bool = False

    @property
    def is_admin(self) -> bool:
        """Whether everything is allowed."""
        return self.operator or Grant(RoleName.ADMIN) in self.grants

    def has(self, role: RoleName, task: str | None = None) -> bool:
        """Say whether the actor holds *role*, everywhere or on *task*."""
        return self.is_admin or Grant(role) in self.grants or (task is not None and Grant(role, task) in self.grants)

    def has_somewhere(self, *roles: RoleName) -> bool:
        """Say whether the actor holds one of *roles*, everywhere or on some task."""
        return self.is_admin or any(grant.role in roles for grant in self.grants)


ANONYMOUS = Actor()
OPERATOR = Actor(name="operator", operator=True)
