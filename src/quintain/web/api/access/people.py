"""Accounts, one's own and, for admins, everybody's."""

from __future__ import annotations

from fastapi import Response

from quintain.core.people import RoleName
from quintain.services.access import accounts, audit, links, notify, tokens
from quintain.services.access.accounts import Person
from quintain.services.access.links import Link
from quintain.services.house import personal_data
from quintain.web.api.call import Call, Calling
from quintain.web.api.params import Before, Filter, Limit, PersonName, TokenId
from quintain.web.api.shapes import (
    AuditLogShape,
    AuditShape,
    CountShape,
    GrantShape,
    Invitation,
    LinkShape,
    NewTokenShape,
    NotificationShape,
    NotificationsShape,
    PeopleShape,
    PersonShape,
    ProfileChange,
    ReadRequest,
    TokenRequest,
    TokenShape,
    TokensShape,
)


def get_me(call: Calling) -> PersonShape:
    """Give the account on whose behalf the program asks."""
    return _shape(accounts.get_person(call.db, call.actor))


def change_me(call: Calling, change: ProfileChange) -> PersonShape:
    """Change one's own account."""
    return _shape(accounts.update_profile(call.db, call.actor, **change.model_dump()))


def export_me(call: Calling) -> Response:
    """Give all that is kept about oneself, as a ZIP file of JSON files."""
    headers = {"content-disposition": 'attachment; filename="quintain-my-data.zip"'}
    return Response(personal_data.export_person(call.db, call.actor), media_type="application/zip", headers=headers)


def list_tokens(call: Calling) -> TokensShape:
    """List one's own API tokens."""
    return TokensShape(tokens=[TokenShape.model_validate(item) for item in tokens.list_tokens(call.db, call.actor)])


def create_token(call: Calling, wanted: TokenRequest) -> NewTokenShape:
    """Make an API token; it is shown this once."""
    secret, info = tokens.create_token(call.db, call.actor, wanted.name, days=wanted.days)
    return NewTokenShape(token=secret, **TokenShape.model_validate(info).model_dump())


def revoke_token(call: Calling, token_id: TokenId) -> None:
    """Make one of one's own tokens useless."""
    tokens.revoke_token(call.db, call.actor, token_id)


def list_notifications(call: Calling, unread: bool = False, limit: Limit = 50) -> NotificationsShape:
    """List one's own messages, the newest first."""
    found = notify.list_notifications(call.db, call.actor, unread_only=unread, limit=limit)
    return NotificationsShape(
        notifications=[
            NotificationShape(id=m.id, at=m.at, kind=m.kind, text=m.text, url=m.url, read_at=m.read_at) for m in found
        ]
    )


def read_notifications(call: Calling, which: ReadRequest) -> CountShape:
    """Mark one's own messages as read, and count those that were not yet."""
    return CountShape(count=notify.mark_read(call.db, call.actor, which.ids))


def list_users(call: Calling, search: Filter = "") -> PeopleShape:
    """List all accounts (admins)."""
    return PeopleShape(users=[_shape(person) for person in accounts.list_people(call.db, call.actor, search=search)])


def invite_user(call: Calling, invitation: Invitation) -> LinkShape:
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


def get_user(call: Calling, name: PersonName) -> PersonShape:
    """Give one account: one's own, or anybody's for admins."""
    return _shape(accounts.get_person(call.db, call.actor, name))


def make_link(call: Calling, name: PersonName) -> LinkShape:
    """Make a link with which somebody chooses a new password (admins)."""
    return _link(call, links.make_link(call.db, call.actor, name))


def grant_role(call: Calling, name: PersonName, grant: GrantShape) -> PersonShape:
    """Give somebody a role, everywhere or on one task (admins; owners on their tasks)."""
    return _shape(accounts.grant_role(call.db, call.actor, name, grant.role, task=grant.task))


def revoke_role(call: Calling, name: PersonName, role: RoleName, task: Filter = "") -> PersonShape:
    """Take a role from somebody (admins; owners on their tasks)."""
    return _shape(accounts.revoke_role(call.db, call.actor, name, role, task=task or None))


def list_audit(call: Calling, limit: Limit = 100, before: Before = None) -> AuditLogShape:
    """List what happened, the newest first (admins)."""
    found = audit.entries(call.db, call.actor, limit=limit, before=before)
    return AuditLogShape(entries=[AuditShape.model_validate(entry) for entry in found])


def _shape(person: Person) -> PersonShape:
    values = {name: getattr(person, name) for name in PersonShape.model_fields if name != "grants"}
    grants = [GrantShape(role=grant.role, task=grant.task) for grant in person.grants]
    return PersonShape(**values, grants=grants)


def _link(call: Call, link: Link) -> LinkShape:
    return LinkShape(name=link.name, url=link.url(call.base_url), expires_at=link.expires_at)
