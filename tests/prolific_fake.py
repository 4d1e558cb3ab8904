"""A server that behaves as Prolific's documentation says, and badly where it is told to.

Bonuses are set up, then paid by a call that pays again each time it is made; they show in the submissions a while
later (`tick`). A call can be cut off before or after it took effect, or be answered with a status.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "researcher-key"


def pid(name: str) -> str:
    """Give somebody's id in the form of Prolific's: 24 hexadecimal digits."""
    return hashlib.sha256(name.encode()).hexdigest()[:24]


@dataclass
class FakeProlific:
    """What the server knows, and what goes wrong: *faults* are (path, what happens) and are used up in turn."""

    currency: str = "USD"
    studies: dict[str, dict[str, Any]] = field(default_factory=dict)
    submissions: dict[str, dict[str, Any]] = field(default_factory=dict)
    bulks: dict[str, dict[str, Any]] = field(default_factory=dict)
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    coming: list[tuple[str, int]] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    faults: list[tuple[str, str]] = field(default_factory=list)
    hook: Callable[[str, str], None] | None = None
    url: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def arrive(self, study: str, person: str, status: str = "AWAITING REVIEW") -> str:
        """Let somebody take part; give the submission's id."""
        number = f"s-{study}-{person}"
        self.submissions[number] = {
            "id": number,
            "study_id": study,
            "participant_id": person,
            "status": status,
            "bonus_payments": [],
        }
        return number

    def tick(self) -> None:
        """Let bonuses that were paid show."""
        with self.lock:
            for submission, amount in self.coming:
                self.submissions[submission]["bonus_payments"].append(amount)
            self.coming.clear()

    def bonuses(self) -> dict[str, list[int]]:
        """Give the bonuses that each person was paid, shown or not."""
        self.tick()
        return {one["participant_id"]: sorted(one["bonus_payments"]) for one in self.submissions.values()}

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Do what is asked."""
        for pattern, verb in ROUTES:
            found = re.fullmatch(pattern, f"{method} {path}")
            if found:
                return verb(self, *found.groups(), body)
        return 404, {"error": {"title": "Not found"}}


def _me(fake: FakeProlific, body: Any) -> tuple[int, Any]:
    return 200, {"id": "researcher", "currency_code": fake.currency}


def _new_study(fake: FakeProlific, body: Any) -> tuple[int, Any]:
    missing = [
        name
        for name in ("name", "description", "external_study_url", "prolific_id_option", "completion_codes", "reward")
        if name not in body
    ]
    if missing or body["prolific_id_option"] != "url_parameters":
        return 400, {"error": {"detail": f"missing {missing}"}}
    number = f"study{len(fake.studies) + 1}"
    fake.studies[number] = {"id": number, "status": "UNPUBLISHED", **body}
    return 201, fake.studies[number]


def _study(fake: FakeProlific, number: str, body: Any) -> tuple[int, Any]:
    return (200, fake.studies[number]) if number in fake.studies else (404, {"error": "no study"})


def _change_study(fake: FakeProlific, number: str, body: Any) -> tuple[int, Any]:
    study = fake.studies[number]
    places = body.get("total_available_places", 0)
    if study["status"] != "UNPUBLISHED" and places < study["total_available_places"]:
        return 400, {"error": {"detail": "places can only be increased"}}
    study.update(body)
    return 200, study


def _move_study(fake: FakeProlific, number: str, body: Any) -> tuple[int, Any]:
    states = {"PUBLISH": "ACTIVE", "PAUSE": "PAUSED", "START": "ACTIVE", "STOP": "AWAITING REVIEW"}
    if body.get("action") not in states:
        return 400, {"error": {"detail": "no such action"}}
    fake.studies[number]["status"] = states[body["action"]]
    return 200, fake.studies[number]


def _submissions(fake: FakeProlific, study: str, body: Any) -> tuple[int, Any]:
    return 200, {"results": [one for one in fake.submissions.values() if one["study_id"] == study], "_links": {}}


def _submission(fake: FakeProlific, number: str, body: Any) -> tuple[int, Any]:
    return (200, fake.submissions[number]) if number in fake.submissions else (404, {"error": "no submission"})


def _move_submission(fake: FakeProlific, number: str, body: Any) -> tuple[int, Any]:
    one = fake.submissions[number]
    if one["status"] != "AWAITING REVIEW":
        return 400, {"error": {"detail": f"it is {one['status']}"}}
    one["status"] = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}[body["action"]]
    return 200, one


def _set_up(fake: FakeProlific, body: Any) -> tuple[int, Any]:
    lines = [line.split(",") for line in body["csv_bonuses"].splitlines()]
    of = {one["participant_id"]: key for key, one in fake.submissions.items() if one["study_id"] == body["study_id"]}
    strange = [person for person, _ in lines if person not in of]
    if strange or len(lines) > 200:
        return 400, {"error": {"detail": f"these took no part: {strange}"}}
    number = f"bulk{len(fake.bulks) + 1}"
    fake.bulks[number] = {"lines": [(of[person], round(float(amount) * 100)) for person, amount in lines]}
    return 201, {"id": number, "study": body["study_id"], "amount": sum(a for _, a in fake.bulks[number]["lines"])}


def _pay(fake: FakeProlific, number: str, body: Any) -> tuple[int, Any]:
    if number not in fake.bulks:
        return 404, {"error": "no such payment"}
    fake.coming += fake.bulks[number]["lines"]  # each time: this call is not idempotent
    return 202, {}


def _new_group(fake: FakeProlific, body: Any) -> tuple[int, Any]:
    number = f"group{len(fake.groups) + 1}"
    fake.groups[number] = {"id": number, "people": set(), **body}
    return 201, {"id": number, "name": body["name"]}


def _join(fake: FakeProlific, number: str, body: Any) -> tuple[int, Any]:
    fake.groups[number]["people"] |= set(body["participant_ids"])
    return 200, {"results": [{"participant_id": one} for one in sorted(fake.groups[number]["people"])]}


def _leave(fake: FakeProlific, number: str, body: Any) -> tuple[int, Any]:
    fake.groups[number]["people"] -= set(body["participant_ids"])
    return 200, {"results": []}


ROUTES: list[tuple[str, Callable[..., tuple[int, Any]]]] = [
    (r"GET /users/me/", _me),
    (r"POST /studies/", _new_study),
    (r"GET /studies/(\w+)/", _study),
    (r"PATCH /studies/(\w+)/", _change_study),
    (r"POST /studies/(\w+)/transition/", _move_study),
    (r"GET /studies/(\w+)/submissions/", _submissions),
    (r"GET /submissions/([\w-]+)/", _submission),
    (r"POST /submissions/([\w-]+)/transition/", _move_submission),
    (r"POST /submissions/bonus-payments/", _set_up),
    (r"POST /bulk-bonus-payments/(\w+)/pay/", _pay),
    (r"POST /participant-groups/", _new_group),
    (r"POST /participant-groups/(\w+)/participants/", _join),
    (r"DELETE /participant-groups/(\w+)/participants/", _leave),
]


class _Handler(BaseHTTPRequestHandler):
    fake: FakeProlific

    def log_message(self, *args: object) -> None:
        """Keep quiet."""

    def _handle(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(size) or b"null")
        path = self.path.removeprefix("/api/v1")
        fake = self.fake
        with fake.lock:
            fake.calls.append((self.command, path))
            fault = next((one for one in fake.faults if re.search(one[0], f"{self.command} {path}")), None)
            if fault:
                fake.faults.remove(fault)
            what = fault[1] if fault else ""
            if self.headers.get("authorization") != f"Token {TOKEN}":
                status, answer = 401, {"error": "unauthorised"}
            elif what == "lost before" or what.isdecimal():
                status, answer = int(what or 0) if what.isdecimal() else 0, {"error": {"detail": "asked for"}}
            else:
                status, answer = fake.answer(self.command, path, body)
        if fake.hook is not None:
            fake.hook(self.command, path)
        if what.startswith("lost"):
            self.close_connection = True
            self.connection.close()
            return
        content = json.dumps(answer, default=list).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PATCH = do_DELETE = _handle  # noqa: N815 - what http.server looks for


class _QuietServer(ThreadingHTTPServer):
    """A server that does not print when a caller was killed."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Callers die here on purpose."""


@contextmanager
def prolific_server() -> Iterator[FakeProlific]:
    """Run the server on a free port."""
    fake = FakeProlific()
    server = _QuietServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"fake": fake}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
