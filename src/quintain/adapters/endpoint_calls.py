"""Calling a model's server: every request is entered in the ledger, tried again where that may help, and read warily.

What goes wrong is told apart by whom it concerns. A `CallFailed` concerns what was asked, and the next call may
succeed; any other error concerns the server, and ends the run: a key that is refused, an address that is none, a server
that is not there, or one that has failed many calls in a row.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from quintain.adapters.contract import Options, Outside
from quintain.adapters.ledger import CallOutcome, CallSize, Ledger, TokenUse
from quintain.adapters.prices import BYTES_PER_TOKEN
from quintain.adapters.remote import permit
from quintain.adapters.retries import is_transient, wait_seconds
from quintain.adapters.wire import Answered, Unanswered, Wire
from quintain.core.errors import BadInput, Forbidden, Unavailable
from quintain.core.example import FailureKind
from quintain.core.hashing import canonical_json
from quintain.core.texts import Text
from quintain.core.untrusted import Bounds, read_json

REPLY = Bounds(size=4 << 20, text=1 << 20, elements=100_000)  # one reply of a server
SHOWN = 160
LONGEST_SAID = 4_000
FAILURES_IN_A_ROW = 10  # after which it is the server that fails, and not what was asked
NOT_THERE = frozenset({402, 404, 405, 410})  # what says nothing of the example that was asked about

UsageReader = Callable[[Any, CallSize], TokenUse]


class CallFailed(BadInput):
    """A call that failed for good: *kind* says how, *status* and *words* are the server's own, where it answered."""

    def __init__(
        self, message: str, kind: FailureKind = "failed", *, status: int | None = None, words: str = ""
    ) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.status = status
        self.words = words


class _Again(Exception):
    """The call may succeed later: *reason* says what happened, *headers* when to come back.

    *sent* says that the request had gone out, *lost* that what came back was no whole reply and may yet be charged.
    """

    def __init__(
        self,
        reason: str,
        headers: Mapping[str, str],
        *,
        kind: FailureKind = "unreachable",
        sent: bool = True,
        lost: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason, self.headers, self.kind, self.sent, self.lost = reason, headers, kind, sent, lost


class EndpointCaller:
    """Calls one server, from several threads at once. Use it as a context manager.

    *usage_of* reads from a reply what the call took. A reply with an `error` and none of *results* is a failure,
    whatever its status.
    """

    def __init__(
        self,
        options: Options,
        outside: Outside,
        ledger: Ledger,
        *,
        usage_of: UsageReader,
        results: tuple[str, ...],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        permit(options, outside)
        self.url = str(options["url"]).rstrip("/")
        self.ledger = ledger
        self.retries = int(options.get("retries", 4))
        self.retried = 0
        self._usage_of, self._results, self._sleep = usage_of, results, sleep
        self._lock = threading.Lock()
        self._failed_in_a_row = 0
        headers = {"accept": "application/json", "content-type": "application/json", "user-agent": "quintain"}
        if "secret" in options:
            headers["authorization"] = f"Bearer {outside.secrets[str(options['secret'])].key}"
        self._wire = Wire(self.url, headers, timeout=float(options.get("timeout", 60)), most=REPLY.size)

    def __enter__(self) -> EndpointCaller:
        """Return the caller itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the connections."""
        self._wire.close()

    def call(self, path: str, body: Any, size: CallSize) -> Any:
        """Send *body*, JSON or a value to be written so, and return the JSON of the reply; again where that may help.

        *path* goes below the server's address; *size* is the most that the call can take. Raises CallFailed where the
        failure concerns this call, OverBudget where it does not fit, and another error where the server is of no use.
        """
        data = body if isinstance(body, bytes) else canonical_json(body)
        where = Text("The endpoint {url}{path}", url=self.url, path=path)
        for attempt in range(self.retries + 1):
            try:
                reply = self._send(where, path, data, size)
            except _Again as error:
                failure = error
            except CallFailed as error:
                if error.status is None:
                    self._note_failure(error)
                else:
                    self._note_answer()  # the server is there, and says what is wrong with this request
                raise
            else:
                self._note_answer()
                return reply
            if attempt < self.retries:
                with self._lock:
                    self.retried += 1
                self._sleep(wait_seconds(attempt, failure.headers))
        message = Text("{where} {said} ({n} attempts).", where=where, said=failure.reason, n=self.retries + 1)
        if not failure.sent:
            raise Unavailable(message)
        failed = CallFailed(message, failure.kind)
        self._note_failure(failed)
        raise failed

    def _send(self, where: Text, path: str, data: bytes, size: CallSize) -> Any:
        """Make one request and enter it, whatever becomes of it."""
        reserved = self.ledger.reserve(size)
        lost = TokenUse(-(-size.sent // BYTES_PER_TOKEN), size.received, estimated=True)  # nobody says what it took
        outcome: CallOutcome = "failed"
        status: int | None = None
        usage = TokenUse()
        try:
            reply = self._wire.post(path, data)
            self._enter_resent(reply.resent)
            status = reply.status
            content = self._content(where, reply)
            outcome, usage = "answered", self._usage_of(content, size)
            return content
        except Unanswered as error:
            self._enter_resent(error.resent)
            if error.sent:
                outcome, usage = "lost", lost
            raise _Again(str(error), {}, sent=error.sent) from None
        except _Again as error:
            if error.lost:
                outcome, usage = "lost", lost
            raise
        except CallFailed as error:
            if error.status is not None:
                outcome = "refused"
            else:  # a reply under status 200 of which nothing can be read is charged all the same
                outcome, usage = "lost", lost
            raise
        except BadInput as error:  # more than is read, from a server that had begun to answer
            outcome, usage = "lost", lost
            raise CallFailed(Text("{where} {message}", where=where, message=error.message)) from None
        finally:
            self.ledger.record_call(reserved, outcome, status, usage)

    def _enter_resent(self, resent: bool) -> None:
        """Enter the first of two requests, on a connection that the server had closed: it took nothing."""
        if resent:
            self.ledger.record_call(self.ledger.reserve(CallSize(0, 0)), "lost", None, TokenUse())

    def _content(self, where: Text, reply: Answered) -> Any:
        """Return the JSON of a reply that is an answer."""
        if is_transient(reply.status):
            reason = Text(
                "answered with status {status}: {content}", status=reply.status, content=_shown(reply.content)
            )
            raise _Again(reason, reply.headers)
        if reply.status >= 300:
            raise _refusal(where, reply)
        try:
            content = read_json(reply.content, REPLY)
        except BadInput as error:
            raise _unreadable(where, reply, error) from None
        if isinstance(content, dict) and content.get("error") and not any(name in content for name in self._results):
            return self._error(where, reply, content["error"])
        return content

    def _error(self, where: Text, reply: Answered, error: Any) -> Any:
        """Take an error under status 200 for the status that it names, else for one that may pass."""
        code = (error.get("code") or error.get("status")) if isinstance(error, dict) else None
        status = int(code) if isinstance(code, int | str) and str(code).isdecimal() else 0
        if 400 <= status < 600:
            return self._content(where, Answered(status, reply.headers, reply.content))
        raise _Again(Text("answered with an error: {content}", content=_shown(reply.content)), reply.headers)

    def _note_answer(self) -> None:
        with self._lock:
            self._failed_in_a_row = 0

    def _note_failure(self, failure: CallFailed) -> None:
        """Count a call without any answer; after many in a row, it is the server that is of no use."""
        with self._lock:
            self._failed_in_a_row += 1
            many = self._failed_in_a_row >= FAILURES_IN_A_ROW
        if many:
            raise Unavailable(
                "{first} {n} calls in a row have failed.", first=failure.message, n=FAILURES_IN_A_ROW
            ) from failure


def _refusal(where: Text, reply: Answered) -> Exception:
    """Make the error for a status that will be the same at the next attempt."""
    status, content = reply.status, _shown(reply.content)
    if status in {401, 403}:
        return Forbidden(
            "{where} refused us with status {status}: {content}",
            where=where,
            status=status,
            content=content,
            remedy="Check options.secret.",
        )
    if status < 400:
        location = repr(reply.headers.get("location", "?"))
        return _Unusable("{where} redirects to {location}, which is not followed.", where=where, location=location)
    message = Text("{where} answered with status {status}: {content}", where=where, status=status, content=content)
    if status in NOT_THERE:
        return _Unusable("{said}", said=message)
    words = reply.content[:LONGEST_SAID].decode("utf-8", "replace")
    return CallFailed(message, status=status, words=words)


class _Unusable(Forbidden):
    """The server is no endpoint of this kind, or of this model."""


def _unreadable(where: Text, reply: Answered, error: BadInput) -> Exception:
    """Make the error for a reply that cannot be read: one that breaks off may come whole the next time."""
    bare = reply.content.strip()
    ends = {b"{": b"}", b"[": b"]"}
    reason = Text(
        "sent {kind} where JSON was expected: {content} {message}",
        kind=reply.headers.get("content-type") or Text("no content type"),
        content=_shown(reply.content),
        message=error.message,
    )
    if not bare or (bare[:1] in ends and not bare.endswith(ends[bare[:1]])):
        return _Again(reason, reply.headers, kind="failed", lost=True)
    return CallFailed(Text("{where} {said}", where=where, said=reason))


def _shown(content: bytes) -> str:
    text = " ".join(content[: 4 * SHOWN].decode("utf-8", "replace").split())
    return repr(text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…")
