"""Accounts, one's own and, for admins, everybody's."""

from __future__ import annotations

from quintain.core.editing import EditOrigin
from quintain.core.people import RoleName
from quintain.core.records.access import (
    AuditLog,
    EndedAccess,
    NewToken,
    Notifications,
    OneTimeLink,
    People,
    PeopleOrder,
    Person,
    ReadCount,
    TaskRoles,
    Tokens,
)
from quintain.core.records.base import plain
from quintain.services.access import accounts, audit, ending, links, notify, tokens
from quintain.services.access.links import Link
from quintain.web.api.call import Call, Calling
from quintain.web.api.params import Before, Filter, Limit, Offset, PersonName, Revision, TaskName, TokenId
from quintain.web.api.shapes import (
    Invitation,
    ProfileChange,
    ReadRequest,
    RoleRequest,
    TokenRequest,
)


def get_me(call: Calling) -> Person:
    """Return the account on whose behalf the program asks."""
    return accounts.get_person(call.db, call.actor)


def change_me(call: Calling, change: ProfileChange, revision: Revision = "") -> Person:
    """Change one's own account."""
    return accounts.update_profile(call.db, call.actor, **change.model_dump(), edit=EditOrigin(revision))


def list_tokens(call: Calling) -> Tokens:
    """List one's own API tokens."""
    return Tokens(tokens.list_tokens(call.db, call.actor))


def create_token(call: Calling, body: TokenRequest) -> NewToken:
    """Make an API token; its secret is known only now."""
    secret, info = tokens.create_token(call.db, call.actor, body.name, days=body.days, scopes=body.scopes)
    return NewToken(**plain(info), token=secret)


def revoke_token(call: Calling, token_id: TokenId) -> None:
    """Make one of one's own tokens useless."""
    tokens.revoke_token(call.db, call.actor, token_id)


def list_notifications(call: Calling, unread: bool = False, limit: Limit = 50) -> Notifications:
    """List one's own messages, the newest first."""
    return Notifications(notify.list_notifications(call.db, call.actor, unread_only=unread, limit=limit))


def read_notifications(call: Calling, which: ReadRequest) -> ReadCount:
    """Mark one's own messages as read, and count those that were not yet."""
    return ReadCount(notify.mark_read(call.db, call.actor, which.ids))


def list_users(
    call: Calling,
    *,
    search: Filter = "",
    role: RoleName | None = None,
    order: PeopleOrder = "name",
    limit: Limit = 100,
    offset: Offset = 0,
) -> People:
    """List some of the accounts, and say how many fit (admins)."""
    return accounts.page_of_people(
        call.db, call.actor, search=search, role=role, order=order, limit=limit, offset=offset
    )


def invite_user(call: Calling, invitation: Invitation) -> OneTimeLink:
    """Make an account and the link that opens it (admins)."""
    _, link = accounts.invite(
        call.db,
        call.actor,
        invitation.name,
        email=invitation.email,
        display_name=invitation.display_name,
        roles=invitation.roles,
        language=invitation.language,
    )
    return _link(call, link)


def get_user(call: Calling, name: PersonName) -> Person:
    """Return one account: one's own, or anybody's for admins."""
    return accounts.get_person(call.db, call.actor, name)


def make_link(call: Calling, name: PersonName) -> OneTimeLink:
    """Make a link with which somebody chooses a new password (admins)."""
    return _link(call, links.make_link(call.db, call.actor, name))


def end_access(call: Calling, name: PersonName) -> EndedAccess:
    """End every session and API token of somebody, and links that are open; password and roles stay (admins)."""
    return ending.end_access(call.db, call.actor, name)


def grant_role(call: Calling, name: PersonName, grant: RoleRequest) -> Person:
    """Grant somebody a role, everywhere or on one task (admins; owners on their tasks)."""
    return accounts.grant_role(call.db, call.actor, name, grant.role, task=grant.task)


def revoke_role(call: Calling, name: PersonName, role: RoleName, task: Filter = "") -> Person:
    """Take a role from somebody (admins; owners on their tasks)."""
    return accounts.revoke_role(call.db, call.actor, name, role, task=task or None)


def list_task_roles(
    call: Calling,
    task: TaskName,
    *,
    search: Filter = "",
    role: RoleName | None = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> TaskRoles:
    """List who holds a role on a task (its owners)."""
    return accounts.roles_on_task(call.db, call.actor, task, search=search, role=role, limit=limit, offset=offset)


def list_audit(call: Calling, limit: Limit = 100, before: Before = None) -> AuditLog:
    """List what happened, the newest first (admins)."""
    return AuditLog(audit.entries(call.db, call.actor, limit=limit, before=before))


def _link(call: Call, link: Link) -> OneTimeLink:
    return OneTimeLink(link.name, link.url(call.base_url), link.expires_at)
