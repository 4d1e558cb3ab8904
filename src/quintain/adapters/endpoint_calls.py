"""Calling a model's server: every request is entered in the ledger, tried again where that may help, and read warily.

What goes wrong is told apart by whom it concerns. A `CallFailed` concerns what was asked, and the next call may
succeed; any other error concerns the server, and ends the run: a key that is refused, an address that is none, a server
that is not there, or one that has failed many calls in a row.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from quintain.adapters.contract import Options, Outside
from quintain.adapters.ledger import CallOutcome, CallSize, Ledger, TokenUse
from quintain.adapters.loop_thread import LoopThread
from quintain.adapters.prices import BYTES_PER_TOKEN
from quintain.adapters.remote import permit
from quintain.adapters.retries import is_transient, wait_seconds
from quintain.adapters.throttle import BUSY, CallLimits, Throttle
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

# Reads the JSON of a reply: what is returned to who called, and what the call took.
ReadReply = Callable[[Any, CallSize], tuple[Any, TokenUse]]
Value = TypeVar("Value")


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
        status: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason, self.headers, self.kind, self.sent, self.lost = reason, headers, kind, sent, lost
        self.status = status


class EndpointCaller:
    """Calls one server from one event loop, which it runs in a thread of its own. Use it as a context manager.

    *read* reads what a reply says, and what the call took. A reply with an `error` and none of *results* is a failure,
    whatever its status. Once it is *stopping*, no call is tried again.
    """

    def __init__(
        self,
        options: Options,
        outside: Outside,
        ledger: Ledger,
        *,
        read: ReadReply,
        results: tuple[str, ...],
        limits: CallLimits | None = None,
    ) -> None:
        permit(options, outside)
        self.url = str(options["url"]).rstrip("/")
        self.ledger = ledger
        self.retries = int(options.get("retries", 4))
        self.retried = 0
        self.stopping = False
        self.throttle = Throttle(limits or CallLimits(), time.monotonic)
        self._read, self._results = read, results
        self._failed_in_a_row = 0
        self._settled = asyncio.Event()  # a call has ended, and may have left something of the budget
        self.headers = headers_of(options, outside)
        self._wire = Wire(self.url, self.headers, timeout=float(options.get("timeout", 60)), most=REPLY.size)
        self._loop = LoopThread("calls")

    def __enter__(self) -> EndpointCaller:
        """Return the caller itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the connections, and end the loop."""
        self._loop.run(self._close())
        self._loop.__exit__(*exception)

    def wait(self, work: Coroutine[Any, Any, Value]) -> Value:
        """Do *work*, such as calls, in the loop, and return what it returns."""
        return self._loop.run(work)

    def begin(self, work: Coroutine[Any, Any, Value]) -> Future[Value]:
        """Begin *work* in the loop, and return what will become of it."""
        return self._loop.submit(work)

    async def call(self, path: str, body: Any, size: CallSize) -> Any:
        """Send *body*, JSON or a value to be written so, and return what its reply says; again where that may help.

        *path* goes below the server's address; *size* is the most that the call can take. Raises CallFailed where the
        failure concerns this call, OverBudget where it does not fit, and another error where the server is of no use.
        """
        data = body if isinstance(body, bytes) else canonical_json(body)
        for attempt in range(self.retries + 1):
            try:
                reply = await self._send(path, data, size)
            except _Again as error:
                failure = error
            except CallFailed as error:
                if error.status is None:
                    self._note_failure(error)
                else:
                    self._failed_in_a_row = 0  # the server is there, and says what is wrong with this request
                raise
            else:
                self._failed_in_a_row = 0
                return reply
            wait = wait_seconds(attempt, failure.headers)
            if failure.status in BUSY:
                self.throttle.note_busy(wait)
            if attempt < self.retries and not self.stopping:
                self.retried += 1
                await asyncio.sleep(wait)
            else:
                break
        where = self._where(path)
        message = Text("{where} {said} ({n} attempts).", where=where, said=failure.reason, n=attempt + 1)
        if not failure.sent:
            raise Unavailable(message)
        failed = CallFailed(message, failure.kind)
        self._note_failure(failed)
        raise failed

    def _where(self, path: str) -> Text:
        return Text("The endpoint {url}{path}", url=self.url, path=path)

    async def _close(self) -> None:
        self._wire.close()

    async def _reserve(self, size: CallSize) -> float:
        """Reserve what a call can cost; while others are under way that may leave enough, wait for them."""
        while (reserved := self.ledger.reserve(size)) is None:
            self._settled.clear()
            await self._settled.wait()
        return reserved

    async def _send(self, path: str, data: bytes, size: CallSize) -> Any:
        """Make one request and enter it, whatever becomes of it."""
        sent_tokens = -(-size.sent // BYTES_PER_TOKEN)
        await self.throttle.pass_gate(sent_tokens + size.received)
        reserved = await self._reserve(size)
        lost = TokenUse(sent_tokens, size.received, estimated=True)  # nobody says what it took
        outcome: CallOutcome = "failed"
        status: int | None = None
        usage = TokenUse()
        begun = time.monotonic()
        try:
            reply = await self._wire.post(path, data)
            self._enter_resent(reply.resent)
            status = reply.status
            content = self._content(path, reply)
            result, usage = self._read(content, size)
            outcome = "answered"
            self.throttle.note_answer(time.monotonic() - begun)
            return result
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
            raise CallFailed(Text("{where} {message}", where=self._where(path), message=error.message)) from None
        except asyncio.CancelledError:
            outcome, usage = "lost", lost
            raise
        finally:
            self.ledger.record_call(reserved, outcome, status, usage)
            self.throttle.settle(lost.sent + lost.received, usage.sent + usage.received)
            self._settled.set()

    def _enter_resent(self, resent: bool) -> None:
        """Enter the first of two requests, on a connection that the server had closed: it took nothing."""
        if resent:
            reserved = self.ledger.reserve(CallSize(0, 0)) or 0.0  # what costs nothing is covered at once
            self.ledger.record_call(reserved, "lost", None, TokenUse())

    def _content(self, path: str, reply: Answered) -> Any:
        """Return the JSON of a reply that is an answer."""
        if reply.status >= 300:
            raise self._not_an_answer(path, reply)
        try:
            content = read_json(reply.content, REPLY)
        except BadInput as error:
            raise _unreadable(self._where(path), reply, error) from None
        if isinstance(content, dict) and content.get("error") and not any(name in content for name in self._results):
            return self._error(path, reply, content["error"])
        return content

    def _not_an_answer(self, path: str, reply: Answered) -> Exception:
        if is_transient(reply.status):
            reason = Text(
                "answered with status {status}: {content}", status=reply.status, content=_shown(reply.content)
            )
            return _Again(reason, reply.headers, status=reply.status)
        return _refusal(self._where(path), reply)

    def _error(self, path: str, reply: Answered, error: Any) -> Any:
        """Take an error under status 200 for the status that it names, else for one that may pass."""
        code = (error.get("code") or error.get("status")) if isinstance(error, dict) else None
        status = int(code) if isinstance(code, int | str) and str(code).isdecimal() else 0
        if 400 <= status < 600:
            return self._content(path, Answered(status, reply.headers, reply.content))
        raise _Again(Text("answered with an error: {content}", content=_shown(reply.content)), reply.headers)

    def _note_failure(self, failure: CallFailed) -> None:
        """Count a call without any answer; after many in a row, it is the server that is of no use."""
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= FAILURES_IN_A_ROW:
            raise Unavailable(
                "{first} {n} calls in a row have failed.", first=failure.message, n=FAILURES_IN_A_ROW
            ) from failure


def headers_of(options: Options, outside: Outside) -> dict[str, str]:
    """Return what goes with every request: the operator's key, and the headers that stand beside it."""
    headers = {"accept": "application/json", "user-agent": "quintain"}
    if "secret" in options:
        secret = outside.secrets[str(options["secret"])]
        if secret.key:
            headers["authorization"] = f"Bearer {secret.key}"
        headers |= {name.lower(): value for name, value in secret.headers.items()}
    return headers


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
