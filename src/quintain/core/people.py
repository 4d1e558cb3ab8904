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


class Scope(StrEnum):
    """What a credential allows, whatever its person may do besides: to look, to work, to build, to own, and so on."""

    READ = "read"
    WORK = "work"
    BUILD = "build"
    OWN = "own"
    ADMIN = "admin"
    ACCOUNT = "account"


EVERYTHING = frozenset(Scope)


@dataclass(frozen=True, slots=True)
class Grant(Record):
    """A role held everywhere (*task* is None) or on one task only."""

    role: RoleName
    task: str | None = None


@dataclass(frozen=True, slots=True)
class Actor:
    """The person on whose behalf a service acts. *user_id* is None for nobody and for the operator.

    The *operator* is whoever has the workspace folder itself: the command line on the server's machine. *allows* is
    what the credential is good for that they came with: a token with some scopes, or a session that a panel's link
    began, is good for less than its person; and of such a session *task* is the one that they may work on.
    """

    user_id: int | None = None
    name: str = "anonymous"
    grants: frozenset[Grant] = frozenset()
    operator: bool = False
    allows: frozenset[Scope] = EVERYTHING
    task: str | None = None

    @property
    def is_admin(self) -> bool:
        """Whether everything is allowed."""
        return self.operator or Grant(RoleName.ADMIN) in self.grants

    @property
    def came_by_door(self) -> bool:
        """Whether a panel's link brought them: such a session is good for work where that leads, and no more."""
        return self.task is not None

    def has(self, role: RoleName, task: str | None = None) -> bool:
        """Whether the actor holds *role*, everywhere or on *task*."""
        return self.is_admin or Grant(role) in self.grants or (task is not None and Grant(role, task) in self.grants)

    def has_somewhere(self, *roles: RoleName) -> bool:
        """Whether the actor holds one of *roles*, everywhere or on some task."""
        return self.is_admin or any(grant.role in roles for grant in self.grants)

    def may(self, scope: Scope) -> bool:
        """Whether the credential that the actor came with is good for *scope*."""
        return scope in self.allows


ANONYMOUS = Actor()
OPERATOR = Actor(name="operator", operator=True)
