"""The one place that says who may do what. Every service that acts for somebody asks here first."""

from __future__ import annotations

from quintain.core.errors import Forbidden, NotSignedIn
from quintain.core.people import Actor, RoleName, Scope
from quintain.core.texts import Word, either


def require_signed_in(actor: Actor) -> None:
    """Refuse those who have not said who they are."""
    if actor.user_id is None and not actor.operator:
        raise NotSignedIn("This needs an account.", remedy="Sign in, or use an API token.")


def require_user(actor: Actor) -> int:
    """Return the id of the actor's own account; refuse those who have none, the operator too."""
    require_signed_in(actor)
    if actor.user_id is None:
        raise Forbidden("This belongs to one account, and the operator has none.", remedy="Do it signed in.")
    return actor.user_id


def require_scope(actor: Actor, scope: Scope) -> None:
    """Refuse where the credential that the actor came with is not good for *scope*, whatever they may do besides."""
    if not actor.may(scope):
        raise Forbidden(
            "This takes the scope '{scope}', and what you signed in with has only {allows}.",
            scope=scope,
            allows=", ".join(sorted(actor.allows)) or "none",
            remedy="Use a token with that scope, or sign in.",
            page="Sign in with a password, or show first that this account is yours.",
            code="scope_missing",
        )


def require_this_task(actor: Actor, task: str | None) -> None:
    """Refuse to change anything of another *task* with a session that is good for one."""
    if actor.task is not None and task is not None and task != actor.task:
        raise Forbidden(
            "You came here to work on '{own}', and this belongs to '{task}'.",
            own=actor.task,
            task=task,
            remedy="Sign in, or come by the link for that task.",
            code="scope_missing",
        )


def require_no_door(actor: Actor) -> None:
    """Refuse a session that a panel's link began, whatever it is good for where that leads."""
    if actor.task is not None:
        raise Forbidden(
            "You came here to work on '{own}', and this is something else.",
            own=actor.task,
            remedy="Sign in with a password, or show first that this account is yours.",
            code="scope_missing",
        )


def require_account(actor: Actor) -> int:
    """Return the id of the actor's account, which they are about to change; a lesser credential may not."""
    user_id = require_user(actor)
    require_scope(actor, Scope.ACCOUNT)
    return user_id


def require_admin(actor: Actor) -> None:
    """Refuse everybody but admins and the operator."""
    require_signed_in(actor)
    if not actor.is_admin:
        raise Forbidden("Only an admin may do this, and {name} is not one.", name=actor.name)


def require_role(actor: Actor, *roles: RoleName, task: str | None = None) -> None:
    """Refuse actors who hold none of *roles*, everywhere or on *task*."""
    require_signed_in(actor)
    if not any(actor.has(role, task) for role in roles):
        raise Forbidden(
            "This needs the role {wanted} of task '{task}', which {name} does not have."
            if task
            else "This needs the role {wanted}, which {name} does not have.",
            wanted=either([Word(role) for role in roles]),
            task=task,
            name=actor.name,
            remedy="An admin can grant it.",
        )


def may_send_files(actor: Actor) -> bool:
    """Whether there is anything that *actor* may send large files for: a model, or data of a task."""
    return actor.has_somewhere(RoleName.BUILDER, RoleName.OWNER)


def require_sender(actor: Actor) -> int:
    """Return the id of the actor's account; refuse, before anything is taken, those who may not send files."""
    user_id = require_user(actor)
    if not may_send_files(actor):
        raise Forbidden(
            "This needs the role builder or owner of some task, and {name} has neither.",
            name=actor.name,
            remedy="An admin can grant it.",
        )
    return user_id


def require_owner(actor: Actor, task: str) -> None:
    """Refuse actors who do not own *task*."""
    require_role(actor, RoleName.OWNER, task=task)
