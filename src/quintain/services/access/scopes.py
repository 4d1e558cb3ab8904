"""Scopes of credentials: how they are kept, and which of them somebody has a use for."""

from __future__ import annotations

from collections.abc import Iterable

from quintain.core.errors import BadInput, Fault, Forbidden
from quintain.core.people import EVERYTHING, Actor, RoleName, Scope

WORKING = frozenset({Scope.READ, Scope.WORK})
"""What a session is good for that a panel's link began, until the person has shown who they are."""


def to_text(scopes: Iterable[Scope]) -> str:
    """Return scopes as they are kept, in one order."""
    chosen = frozenset(scopes)
    return " ".join(scope.value for scope in Scope if scope in chosen)


def from_text(text: str) -> frozenset[Scope]:
    """Read scopes that were kept; what this version does not know allows nothing."""
    known = {scope.value for scope in Scope}
    return frozenset(Scope(word) for word in text.split() if word in known)


def useful_scopes(actor: Actor) -> list[Scope]:
    """List the scopes that change what a token of the actor's can do: everybody reads and works, owners own."""
    roles = {
        Scope.BUILD: (RoleName.BUILDER, RoleName.OWNER),
        Scope.OWN: (RoleName.OWNER,),
        Scope.ADMIN: (RoleName.ADMIN,),
    }
    return [scope for scope in Scope if scope not in roles or actor.has_somewhere(*roles[scope])]


def checked_scopes(actor: Actor, names: Iterable[str]) -> frozenset[Scope]:
    """Read the scopes of a token that *actor* makes: reading is always one, and none is more than they came with."""
    words = [*names]
    unknown = [word for word in words if word not in {scope.value for scope in Scope}]
    if unknown:
        known = ", ".join(scope.value for scope in Scope)
        raise BadInput(
            faults=[Fault("'{scope}' is not one of {known}", scope=unknown[0][:40], known=known, field="scopes")]
        )
    scopes = frozenset({Scope.READ, *(Scope(word) for word in words)})
    beyond = scopes - actor.allows
    if beyond:
        raise Forbidden(
            "A token cannot allow more than what made it: {beyond}.",
            beyond=", ".join(sorted(beyond)),
            remedy="Sign in with a password, or leave these scopes out.",
            code="scope_missing",
        )
    return scopes


__all__ = ["EVERYTHING", "WORKING", "checked_scopes", "from_text", "to_text", "useful_scopes"]
