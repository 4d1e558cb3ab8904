"""The client's calls for those who judge: take a page, answer it, keep it alive, give it back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from quintain.client.refs import place
from quintain.client.transport import Transport
from quintain.client.validation_shapes import JudgingPage, PageItem, Receipt


class JudgingCalls:
    """What `Client` can do for a judge, and what it tells a writer."""

    _transport: Transport

    def claim_page(self, ref: str) -> JudgingPage | None:
        """Take a page of items to judge, or get the one that is held; None where nothing is left."""
        return _page(self._transport.ask("POST", f"{place(ref, 'validations')}/pages")["page"])

    def judging_page(self, token: str) -> JudgingPage | None:
        """Give a page that one holds."""
        return _page(self._transport.ask("GET", _at(token))["page"])

    def save_answer(
        self,
        token: str,
        item: int,
        *,
        label: str | None = None,
        skip: str | None = None,
        flag: str | None = None,
        seconds: float | None = None,
        number: int | None = None,
    ) -> int:
        """Save an answer on the server until the page is handed in; without label, skip and flag, take it back.

        Of two changes to an item the one with the higher *number* stays; without one it is the last that comes. Give
        the number of what is saved.
        """
        body = {"label": label, "skip": skip, "flag": flag, "seconds": seconds, "number": number}
        return int(self._transport.ask("PUT", f"{_at(token)}/answers/{int(item)}", json=body)["number"])

    def submit_page(
        self, token: str, answers: Iterable[Mapping[str, Any]] = (), *, finish: bool = True, saved: bool = False
    ) -> Receipt:
        """Hand in answers: each has `item` and `label`, or `skip` with its reason; `flag` and `seconds` go with either.

        With *saved*, what was saved before is handed in as well. With *finish* the page ends, and what was not
        answered goes back. The same answers again change nothing.
        """
        body = {"answers": [dict(one) for one in answers], "finish": finish, "saved": saved}
        return Receipt.read(self._transport.ask("POST", _at(token), json=body))

    def extend_page(self, token: str) -> datetime:
        """Keep a page alive, and say until when."""
        return datetime.fromisoformat(self._transport.ask("POST", f"{_at(token)}/extend")["lease_until"])

    def return_page(self, token: str) -> None:
        """Give a page back: others get its items at once."""
        self._transport.ask("POST", f"{_at(token)}/return")

    def outcomes(self, ref: str) -> list[dict[str, Any]]:
        """Tell what became of what one wrote: `label`, `distribution` of the votes, and whether it is a `success`."""
        found: list[dict[str, Any]] = self._transport.ask("GET", f"{place(ref, 'validations')}/outcomes")["attempts"]
        return found


def _at(token: str) -> str:
    return f"/pages/{quote(token, safe='')}"


def _page(found: Mapping[str, Any] | None) -> JudgingPage | None:
    if found is None:
        return None
    return JudgingPage.read({**found, "items": [PageItem.read(item) for item in found["items"]]})
