"""Calls about accounts, for admins; owners may give roles on their tasks.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from quintain.client.transport import Transport
from quintain.core.records.access import AuditLine, AuditLog, EndedAccess, OneTimeLink, People, Person


class UsersCalls:
    """What `Client` can ask about users."""

    _transport: Transport

    def users(
        self, *, search: str = "", role: str | None = None, order: str = "name", limit: int = 100, offset: int = 0
    ) -> People:
        """List some of the accounts, and say how many fit (admins)."""
        return self._transport.read(
            People,
            "GET",
            "/users",
            params={"search": search, "role": role, "order": order, "limit": limit, "offset": offset},
        )

    def invite_user(
        self,
        name: str,
        display_name: str = "",
        *,
        email: str | None = None,
        roles: Iterable[str] = (),
        language: str = "",
    ) -> OneTimeLink:
        """Make an account and the link that opens it (admins)."""
        return self._transport.read(
            OneTimeLink,
            "POST",
            "/users",
            json={
                "name": name,
                "display_name": display_name,
                "email": email,
                "roles": list(roles),
                "language": language,
            },
        )

    def user(self, name: str) -> Person:
        """Return one account: one's own, or anybody's for admins."""
        return self._transport.read(Person, "GET", f"/users/{quote(name, safe='')}")

    def delete_user(self, name: str, *, give_up_pay: bool = False) -> None:
        """Delete somebody's account for good, as they asked (admins)."""
        self._transport.ask("POST", f"/users/{quote(name, safe='')}/deletion", json={"give_up_pay": give_up_pay})

    def make_link(self, name: str) -> OneTimeLink:
        """Make a link with which somebody chooses a new password (admins)."""
        return self._transport.read(OneTimeLink, "POST", f"/users/{quote(name, safe='')}/link")

    def end_access(self, name: str) -> EndedAccess:
        """End every session and API token of somebody, and links that are open; password and roles stay (admins)."""
        return self._transport.read(EndedAccess, "POST", f"/users/{quote(name, safe='')}/sign-out")

    def grant_role(self, name: str, role: str, task: str | None = None) -> Person:
        """Grant somebody a role, everywhere or on one task (admins; owners on their tasks)."""
        return self._transport.read(
            Person, "POST", f"/users/{quote(name, safe='')}/grants", json={"role": role, "task": task}
        )

    def revoke_role(self, name: str, role: str, *, task: str = "") -> Person:
        """Take a role from somebody (admins; owners on their tasks)."""
        return self._transport.read(
            Person, "DELETE", f"/users/{quote(name, safe='')}/grants/{role}", params={"task": task}
        )

    def audit(self, *, limit: int = 100, before: int | None = None) -> list[AuditLine]:
        """List what happened, the newest first (admins)."""
        return self._transport.read(AuditLog, "GET", "/audit", params={"limit": limit, "before": before}).entries
