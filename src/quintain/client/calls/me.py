"""Calls about oneself: the account, tokens, messages, what one wrote and earned.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from collections.abc import Iterable

from quintain.client.transport import Transport
from quintain.core.records.access import NewToken, Notification, Notifications, Person, ReadCount, Token, Tokens
from quintain.core.records.collect import OwnAttempt, OwnAttempts
from quintain.core.records.house import Errand, Errands
from quintain.core.records.pay import Earning, Earnings, OpenPay, PayQuestions
from quintain.core.records.work import KnownFact, KnownFacts


class MeCalls:
    """What `Client` can ask about me."""

    _transport: Transport

    def waiting(self) -> list[Errand]:
        """List what waits for oneself, with the page on which each is done."""
        return self._transport.read(Errands, "GET", "/me/waiting").waiting

    def my_facts(self) -> list[KnownFact]:
        """List what is known of oneself that rules ask for, and who says so."""
        return self._transport.read(KnownFacts, "GET", "/me/facts").facts

    def my_attempts(self, *, limit: int = 100) -> list[OwnAttempt]:
        """List one's own attempts, the newest first."""
        return self._transport.read(OwnAttempts, "GET", "/me/attempts", params={"limit": limit}).attempts

    def my_earnings(self, *, limit: int = 100, offset: int = 0, status: str | None = None) -> list[Earning]:
        """List what one earned, the newest first."""
        return self._transport.read(
            Earnings, "GET", "/me/earnings", params={"limit": limit, "offset": offset, "status": status}
        ).earnings

    def my_questions(self, *, limit: int = 25, offset: int = 0) -> PayQuestions:
        """List what one asked about one's pay, with the answers."""
        return self._transport.read(PayQuestions, "GET", "/me/pay/questions", params={"limit": limit, "offset": offset})

    def ask_about_pay(self, earning: int, text: str) -> PayQuestions:
        """Ask about one of one's earnings; the owners of the task are told."""
        return self._transport.read(PayQuestions, "POST", "/me/pay/questions", json={"earning": earning, "text": text})

    def me(self) -> Person:
        """Return the account on whose behalf the program asks."""
        return self._transport.read(Person, "GET", "/me")

    def change_me(
        self,
        display_name: str | None = None,
        *,
        email: str | None = None,
        language: str | None = None,
        email_notifications: bool | None = None,
        revision: str = "",
    ) -> Person:
        """Change one's own account."""
        return self._transport.read(
            Person,
            "PATCH",
            "/me",
            params={"revision": revision},
            json={
                "display_name": display_name,
                "email": email,
                "language": language,
                "email_notifications": email_notifications,
            },
        )

    def delete_me(self, name: str, *, give_up_pay: bool = False) -> None:
        """Delete one's own account for good; what one contributed stays in the counts, under no name."""
        self._transport.ask("POST", "/me/deletion", json={"give_up_pay": give_up_pay, "name": name})

    def open_pay(self) -> OpenPay:
        """Add up what one earned that is not paid yet: deleting the account would give it up."""
        return self._transport.read(OpenPay, "GET", "/me/pay/open")

    def ask_for_last_pay(self) -> None:
        """Ask the owners of all that is not paid yet to pay it, because one wants to leave."""
        self._transport.ask("POST", "/me/pay/open/wish")

    def tokens(self) -> list[Token]:
        """List one's own API tokens."""
        return self._transport.read(Tokens, "GET", "/me/tokens").tokens

    def create_token(self, name: str, days: int | None = 90, *, scopes: Iterable[str] = ()) -> NewToken:
        """Make an API token; its secret is known only now."""
        return self._transport.read(
            NewToken, "POST", "/me/tokens", json={"name": name, "days": days, "scopes": list(scopes)}
        )

    def revoke_token(self, token_id: int) -> None:
        """Make one of one's own tokens useless."""
        self._transport.ask("DELETE", f"/me/tokens/{token_id}")

    def notifications(self, *, unread: bool = False, limit: int = 50) -> list[Notification]:
        """List one's own messages, the newest first."""
        return self._transport.read(
            Notifications, "GET", "/me/notifications", params={"unread": unread, "limit": limit}
        ).notifications

    def read_notifications(self, ids: Iterable[int] | None = None) -> int:
        """Mark one's own messages as read, and count those that were not yet."""
        return self._transport.read(ReadCount, "POST", "/me/notifications/read", json={"ids": ids and list(ids)}).count
