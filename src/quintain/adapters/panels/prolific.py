"""Prolific's API, as its documentation has it: studies, submissions, participant groups, bonuses, signed messages.

Bonuses are set up in bulk, which pays nothing, and paid by a second call. That call is not idempotent: made twice, it
pays twice. So it is made once, and where no answer comes, the submissions are looked at: each lists its bonuses.
Approving a submission pays its reward once, however often it is asked for.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from quintain.adapters.panels.contract import (
    Declined,
    PanelStanding,
    PayLine,
    PaymentCheck,
    ProviderAnswer,
    Uncertain,
)
from quintain.core.errors import BadInput, Unavailable
from quintain.core.untrusted import Bounds, read_json

MOST_LINES = 200  # of one bulk payment
TIMEOUT_S = 30.0
REPLY = Bounds(size=4 << 20, text=1 << 20, elements=100_000)
FRESH_S = 300  # how old a signed message may be
PAID = ("APPROVED", "SCREENED OUT")
STANDINGS = {
    "AWAITING REVIEW": PanelStanding.WAITING,
    "APPROVED": PanelStanding.APPROVED,
    "RETURNED": PanelStanding.OVER,
    "TIMED-OUT": PanelStanding.OVER,
    "REJECTED": PanelStanding.OVER,
    "SCREENED OUT": PanelStanding.OVER,  # what that pays is no reward of the study
}


class Prolific:
    """Calls to Prolific with the key of a researcher. Use it as a context manager."""

    def __init__(self, url: str, key: str, *, timeout: float = TIMEOUT_S) -> None:
        import httpx2

        self._http = httpx2.Client(
            base_url=url.rstrip("/"),
            headers={"authorization": f"Token {key}", "user-agent": "quintain"},
            timeout=timeout,
            trust_env=False,
            follow_redirects=False,
        )

    def __enter__(self) -> Prolific:
        """Return the client itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the connections."""
        self._http.close()

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, str, Any]:
        """Make one call and give status, words and what they say; raises Uncertain where no answer came."""
        import httpx2

        try:
            reply = self._http.request(method, f"/api/v1{path}", json=body)
        except httpx2.HTTPError as error:
            raise Uncertain(f"{type(error).__name__}: {error}"[:200]) from None
        text = reply.text[:4000]
        if reply.status_code >= 500 or reply.status_code == 408:
            raise Uncertain(f"answered with status {reply.status_code}")
        if reply.status_code >= 300:
            words = " ".join(text.split())[:300]
            raise Declined("Prolific", reply.status_code, words)
        content = reply.content
        return reply.status_code, text, read_json(content, REPLY) if content.strip() else {}

    def read(self, path: str) -> Any:
        """Look something up; one who is not answered may ask again."""
        try:
            return self.ask("GET", path)[2]
        except Uncertain as error:
            raise Unavailable("Prolific does not answer: {error}.", error=error, remedy="Try again later.") from None

    def currency(self) -> str:
        """Return the currency that the account pays in."""
        return str(_field(self.read("/users/me/"), "currency_code"))

    def study(self, study: str) -> Mapping[str, Any]:
        """Return a study as Prolific describes it."""
        record = self.read(f"/studies/{quote(study, safe='')}/")
        if not isinstance(record, Mapping):
            raise BadInput("Prolific sent something that is no study.")
        return record

    def create_study(self, fields: Mapping[str, Any]) -> str:
        """Make a draft of a study; give its id. Where no answer comes, a draft may be left, which costs nothing."""
        return str(_field(self.ask("POST", "/studies/", dict(fields))[2], "id"))

    def change_study(self, study: str, action: str) -> str:
        """Publish, pause or stop a study (`PUBLISH`, `PAUSE`, `START`, `STOP`); give its status."""
        record = self.ask("POST", f"/studies/{quote(study, safe='')}/transition/", {"action": action})[2]
        return str(_field(record, "status"))

    def set_places(self, study: str, places: int) -> int:
        """Set how many people may take part; of a study that is published, only more. Return the number."""
        record = self.ask("PATCH", f"/studies/{quote(study, safe='')}/", {"total_available_places": places})[2]
        return int(_field(record, "total_available_places"))

    def create_group(self, name: str, project: str) -> str:
        """Make a participant group; give its id."""
        body = {"name": name, "project_id": project}
        return str(_field(self.ask("POST", "/participant-groups/", body)[2], "id"))

    def add_to_group(self, group: str, people: Sequence[str]) -> None:
        """Add people to a group; those who are in it are ignored."""
        self.ask(
            "POST", f"/participant-groups/{quote(group, safe='')}/participants/", {"participant_ids": list(people)}
        )

    def remove_from_group(self, group: str, people: Sequence[str]) -> None:
        """Take people out of a group."""
        path = f"/participant-groups/{quote(group, safe='')}/participants/"
        self.ask("DELETE", path, {"participant_ids": list(people)})

    def submission(self, submission: str) -> Mapping[str, Any]:
        """Return a submission by its id, which is the session that a link names."""
        record = self.read(f"/submissions/{quote(submission, safe='')}/")
        if not isinstance(record, Mapping):
            raise BadInput("Prolific sent something that is no submission.")
        return record

    def submissions(self, study: str) -> dict[str, Mapping[str, Any]]:
        """Return the submissions of a study by their ids; asks for every page of them."""
        by_id: dict[str, Mapping[str, Any]] = {}
        path: str | None = f"/studies/{quote(study, safe='')}/submissions/"
        while path:
            page = self.read(path)
            for record in page.get("results", []) if isinstance(page, Mapping) else []:
                by_id[str(_field(record, "id"))] = record
            following = page.get("_links", {}).get("next", {}).get("href") if isinstance(page, Mapping) else None
            path = str(following).partition("/api/v1")[2] if following else None
        return by_id


class Bonuses:
    """Pays bonuses in bulk."""

    repeatable = False

    def __init__(self, prolific: Prolific) -> None:
        self._prolific = prolific

    def currency(self) -> str:
        """Return the currency that the account pays in."""
        return self._prolific.currency()

    def payments_so_far(self, study: str, lines: Sequence[PayLine]) -> Mapping[str, Any]:
        """Return the bonuses that each person's submission lists."""
        people = {line.person for line in lines}
        return {
            str(submission.get("participant_id")): [int(amount) for amount in submission.get("bonus_payments") or []]
            for submission in self._prolific.submissions(study).values()
            if submission.get("participant_id") in people
        }

    def prepare(self, study: str, lines: Sequence[PayLine], key: str) -> ProviderAnswer:
        """Set the bonuses up; nothing is paid, also where it is done twice."""
        csv = "\n".join(f"{line.person},{Decimal(line.amount).scaleb(-2):.2f}" for line in lines)
        status, text, record = self._prolific.ask(
            "POST", "/submissions/bonus-payments/", {"study_id": study, "csv_bonuses": csv}
        )
        return ProviderAnswer(status, text, str(_field(record, "id")))

    def send(self, outside_id: str, lines: Sequence[PayLine], key: str) -> ProviderAnswer:
        """Pay what was set up."""
        status, text, _ = self._prolific.ask("POST", f"/bulk-bonus-payments/{quote(outside_id, safe='')}/pay/")
        return ProviderAnswer(status, text, outside_id)

    def find(self, study: str, lines: Sequence[PayLine], before: Mapping[str, Any]) -> PaymentCheck:
        """Compare the bonuses with those before: all are there, or it is unclear, for they are paid in a while."""
        after = self.payments_so_far(study, lines)
        new = [
            after.get(line.person, []).count(line.amount) > list(before.get(line.person, [])).count(line.amount)
            for line in lines
        ]
        return PaymentCheck.SENT if all(new) else PaymentCheck.UNCLEAR


class Approvals:
    """Approves submissions, which pays the reward of the study for each, once."""

    repeatable = True

    def __init__(self, prolific: Prolific) -> None:
        self._prolific = prolific

    def currency(self) -> str:
        """Return the currency that the account pays in."""
        return self._prolific.currency()

    def payments_so_far(self, study: str, lines: Sequence[PayLine]) -> Mapping[str, Any]:
        """Nothing is needed: a submission says itself whether it was approved."""
        return {}

    def prepare(self, study: str, lines: Sequence[PayLine], key: str) -> ProviderAnswer:
        """Nothing is set up."""
        return ProviderAnswer(0, "", study)

    def send(self, outside_id: str, lines: Sequence[PayLine], key: str) -> ProviderAnswer:
        """Approve each submission; one that was approved before is left."""
        status, text = 0, ""
        for line in lines:
            path = f"/submissions/{quote(line.submission, safe='')}/"
            if self._prolific.ask("GET", path)[2].get("status") in PAID:
                continue
            status, text, _ = self._prolific.ask("POST", f"{path}transition/", {"action": "APPROVE"})
        return ProviderAnswer(status, text, outside_id)

    def find(self, study: str, lines: Sequence[PayLine], before: Mapping[str, Any]) -> PaymentCheck:
        """See whether all submissions are approved."""
        known = self._prolific.submissions(study)
        paid = [known.get(line.submission, {}).get("status") in PAID for line in lines]
        return PaymentCheck.SENT if all(paid) else PaymentCheck.UNSENT


def standing_of(status: str) -> PanelStanding:
    """Return what a *status* of a submission means here; what is not known may still be approved.

    >>> standing_of("TIMED-OUT"), standing_of("ACTIVE")
    (<PanelStanding.OVER: 'over'>, <PanelStanding.WORKING: 'working'>)
    """
    return STANDINGS.get(status.strip().replace("_", " ").upper(), PanelStanding.WORKING)


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Sign a message as Prolific does: HMAC-SHA256 over the time and the body, in base 64."""
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def is_genuine(secret: str, timestamp: str, body: bytes, received: str, moment: float) -> bool:
    """Whether *received* is the signature of a message with *secret*, and not long ago.

    >>> is_genuine("s", "100", b"{}", signature("s", "100", b"{}"), 130.0)
    True
    >>> is_genuine("s", "100", b"{}", signature("s", "100", b"{}"), 1000.0)
    False
    """
    if not timestamp.isdecimal() or len(timestamp) > 15 or abs(moment - int(timestamp)) > FRESH_S:
        return False
    return hmac.compare_digest(signature(secret, timestamp, body).encode(), received.encode())


def _field(record: Any, name: str) -> Any:
    if not isinstance(record, Mapping) or name not in record:
        raise BadInput("Prolific sent an answer without '{name}'.", name=name)
    return record[name]
