"""What happens around every request: an id, a line in the log, a limit on size, and headers that keep browsers strict.

All are plain ASGI: they do not touch bodies and add next to nothing to a request.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit, urlunsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quintain.logs import request_id

log = logging.getLogger("quintain.access")

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
SECURITY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_STATIC_HEADERS = [(key.encode(), value.encode()) for key, value in SECURITY_HEADERS.items()]
_PAGE_HEADERS = [*_STATIC_HEADERS, (b"cache-control", b"no-store")]
MEBIBYTE = 1 << 20


class RequestId:
    """Name every request, so that a person can quote the name and an operator can find it in the log."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        name = secrets.token_hex(6)
        scope.setdefault("state", {})["request_id"] = name
        request_id.set(name)
        started = time.perf_counter()
        status = 500

        async def reply(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                others = [pair for pair in message["headers"] if pair[0].lower() != b"x-request-id"]
                message["headers"] = [*others, (b"x-request-id", name.encode())]
            await send(message)

        try:
            await self.app(scope, receive, reply)
        finally:
            _write_log(scope, status, time.perf_counter() - started)


def _write_log(scope: Scope, status: int, seconds: float) -> None:
    client = scope.get("client")
    # The query is left out on purpose: it may hold what somebody typed.
    fields = {
        "path": scope["path"],
        "milliseconds": round(seconds * 1000, 1),
        "client": client[0] if client else None,
    }
    log.info("%s %s", scope["method"], status, extra=fields)


class SecurityHeaders:
    """Tell browsers to run nothing but our own files, and to stay with us: a way on never names a host."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""

        async def reply(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {key.lower() for key, _ in message["headers"]}
                defaults = _STATIC_HEADERS if scope["path"].startswith("/static/") else _PAGE_HEADERS
                message["headers"] = [*message["headers"], *(pair for pair in defaults if pair[0] not in names)]
                if b"location" in names:
                    headers = MutableHeaders(scope=message)
                    headers["location"] = _on_this_host(headers["location"], Headers(scope=scope).get("host", ""))
            await send(message)

        await self.app(scope, receive, reply if scope["type"] == "http" else send)


def _on_this_host(location: str, host: str) -> str:
    """Leave out the host of a redirect to ourselves, which the framework takes from the request, where any may stand.

    >>> _on_this_host("http://any.example/tasks?x=1", "any.example")
    '/tasks?x=1'
    """
    parts = urlsplit(location)
    if not parts.netloc or parts.netloc != host:
        return location
    return urlunsplit(("", "", f"/{parts.path.lstrip('/')}", parts.query, parts.fragment))


class BodyLimit:
    """Refuse bodies that are too large, before they fill memory or disk.

    *large* are the ends of paths that may receive files, up to *large_bytes*; all others get *small_bytes*. What comes
    there and is no form with files, such as JSON, is read into memory whole and gets *medium_bytes*. Whoever is not
    *known* to be allowed to send files gets *small_bytes* everywhere: they are written to the disk before a page can
    ask who sends them. The refusal is raised where the body is read, so that the error page answers it like any other.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        large: Sequence[str] = (),
        known: Callable[[Request], bool],
        small_bytes: int = 2 * MEBIBYTE,
        medium_bytes: int = 16 * MEBIBYTE,
        large_bytes: int = 2048 * MEBIBYTE,
    ) -> None:
        self.app = app
        self.large = tuple(large)
        self.known = known
        self.small_bytes = small_bytes
        self.medium_bytes = medium_bytes
        self.large_bytes = large_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or scope["method"] in {"GET", "HEAD", "OPTIONS"}:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        limit = self._limit(scope["path"], headers.get("content-type", ""))
        declared = headers.get("content-length", "")
        short = declared.isdigit() and int(declared) <= self.small_bytes
        if limit > self.small_bytes and not short and not await run_in_threadpool(self.known, Request(scope)):
            limit = self.small_bytes
        too_large = declared.isdigit() and int(declared) > limit
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if too_large or seen > limit:
                raise HTTPException(413, detail=str(limit // MEBIBYTE))
            return message

        await self.app(scope, counted, send)

    def _limit(self, path: str, content_type: str) -> int:
        if not path.endswith(self.large):
            return self.small_bytes
        return self.large_bytes if content_type.lower().startswith("multipart/form-data") else self.medium_bytes


class Answering:
    """Answer what nobody foresaw with the error page, inside the other layers, so that its headers are strict too."""

    def __init__(self, app: ASGIApp, *, handler: Callable[[Request, Exception], Response]) -> None:
        self.app = app
        self.handler = handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        begun = False

        async def reply(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, reply)
        except Exception as error:
            if begun or scope["type"] != "http":
                raise
            response = await run_in_threadpool(self.handler, Request(scope), error)
            await response(scope, receive, send)
