"""HTTP to one server: connections that are kept, requests that go out in one piece, replies of a bounded size.

Of a general client, only what a call needs is here: it decides what a call costs. Neither proxies of the surroundings
nor redirects are followed: both lead where nobody looked. Everything happens in one event loop.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlsplit

import httptools

from quintain.core.errors import BadInput

SAFE = "/%:@!$&'()*+,;=-._~"
JSON = "application/json"
FIRST_FINAL = 200  # statuses below announce another reply


class Unanswered(Exception):
    """No whole reply came; the text says why, as the end of a sentence about the server.

    *sent* says whether the request had gone out: the server may have answered it, and may charge for that.
    """

    def __init__(self, reason: str, *, sent: bool, resent: bool = False) -> None:
        super().__init__(reason)
        self.sent = sent
        self.resent = resent


@dataclass(frozen=True, slots=True)
class Answered:
    """What a server replied; names of *headers* are in small letters.

    *resent* says that the request went out twice, because the server had closed the kept connection of the first time.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes
    resent: bool = False


class _ClosedBefore(Exception):
    """The server had closed a kept connection before it read anything of the request."""


class Wire:
    """Connections to the server at *url*, in one event loop. Close it there in the end."""

    def __init__(self, url: str, headers: Mapping[str, str], *, timeout: float, most: int) -> None:
        parts = urlsplit(url)
        self.timeout, self.most = timeout, most
        self._host, self._secure = str(parts.hostname), parts.scheme == "https"
        self._port = parts.port or (443 if self._secure else 80)
        self._path = quote(parts.path.rstrip("/"), safe=SAFE)
        self._trust: ssl.SSLContext | None = _trust() if self._secure else None
        host = f"[{self._host}]" if ":" in self._host else self._host
        sent = {"host": f"{host}:{self._port}" if parts.port else host, "accept-encoding": "identity", **headers}
        self._headers = "".join(f"{name}: {_one_line(name, value)}\r\n" for name, value in sent.items())
        self._heads: dict[tuple[str, str, str], bytes] = {}
        self._idle: deque[_Connection] = deque()

    def close(self) -> None:
        """Close what is kept open."""
        while self._idle:
            self._idle.pop().close()

    async def post(self, path: str, body: bytes) -> Answered:
        """Send JSON to *path* below the address, and return the reply; raises Unanswered."""
        return await self.send("POST", path, body, JSON)

    async def send(self, method: str, path: str, body: bytes, kind: str) -> Answered:
        """Send *body*, of the content type *kind*, to *path* below the address, and return the reply."""
        head = self._heads.get((method, path, kind))
        if head is None:
            line = f"{method} {self._path}{quote(path, safe=SAFE)} HTTP/1.1\r\n{self._headers}"
            head = f"{line}content-type: {_one_line('content-type', kind)}\r\ncontent-length: ".encode("ascii")
            self._heads[method, path, kind] = head
        return await self._exchange(b"%b%d\r\n\r\n%b" % (head, len(body), body))

    async def _exchange(self, request: bytes) -> Answered:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.timeout
        connected = resent = False
        try:
            reused = self._idle_connection()
            if reused is not None:
                connected = True
                try:
                    return await reused.exchange(request, deadline, self._idle)
                except _ClosedBefore:
                    resent = True
            connected = False
            connection = await self._connect(loop, deadline)
            connected = True
            return replace(await connection.exchange(request, deadline, self._idle), resent=resent)
        except TimeoutError:
            raise Unanswered(f"did not answer within {self.timeout:g} seconds", sent=connected, resent=resent) from None
        except _ClosedBefore:
            raise Unanswered("broke off: it closed the connection", sent=connected, resent=resent) from None
        except (OSError, httptools.HttpParserError) as error:
            problem = f"{error or type(error).__name__}"
            reason = f"broke off: {problem}" if connected else f"cannot be reached: {problem}"
            raise Unanswered(reason, sent=connected, resent=resent) from None

    def _idle_connection(self) -> _Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if not connection.closed:
                return connection
        return None

    async def _connect(self, loop: asyncio.AbstractEventLoop, deadline: float) -> _Connection:
        name = self._host if self._trust else None
        async with asyncio.timeout_at(deadline):
            _, connection = await loop.create_connection(
                lambda: _Connection(loop, self.most), self._host, self._port, ssl=self._trust, server_hostname=name
            )
        return connection


class _Connection(asyncio.Protocol):
    """One connection: a request at a time, and the reply to it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, most: int) -> None:
        self._loop, self._most = loop, most
        self._transport: asyncio.Transport | None = None
        self._reply: asyncio.Future[Answered] | None = None
        self._begin()
        self.closed = False

    def _begin(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._headers: dict[str, str] = {}
        self._content = bytearray()
        self._begun = self._headed = False

    async def exchange(self, request: bytes, deadline: float, idle: deque[_Connection]) -> Answered:
        """Send *request* and return the reply; then the connection is one of *idle*, where the server keeps it."""
        transport = self._transport
        if transport is None:
            raise _ClosedBefore
        reply: asyncio.Future[Answered] = self._loop.create_future()
        self._reply = reply
        timer = self._loop.call_at(deadline, self._fail, TimeoutError())
        transport.write(request)
        try:
            return await reply
        finally:
            timer.cancel()
            self._reply = None
            if reply.done() and not reply.cancelled() and reply.exception() is None and self._keeps:
                self._begin()
                idle.append(self)
            else:
                self.close()

    def close(self) -> None:
        """Close the connection at once."""
        self.closed = True
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the way out."""
        self._transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        """Read what the server sends; what comes unasked ends the connection."""
        if self._reply is None:
            self.close()
            return
        self._begun = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserCallbackError:
            self._fail(BadInput("sent more than {most:,} bytes.", most=self._most))
        except httptools.HttpParserError as error:
            self._fail(error)

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the end of the connection for the end of a reply of no stated length, else for a failure."""
        self.closed = True
        self._transport = None
        if self._reply is None or self._reply.done():
            return
        if not self._begun:
            self._fail(_ClosedBefore())
        elif exc is None and self._headed and not {"content-length", "transfer-encoding"} & self._headers.keys():
            self._keeps = False
            self._reply.set_result(Answered(self._parser.get_status_code(), self._headers, bytes(self._content)))
        else:
            self._fail(exc if isinstance(exc, OSError) else ConnectionError("the connection was closed half-way"))

    def _fail(self, error: Exception) -> None:
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(error)

    # What the parser calls.

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header."""
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """Note that what comes now is the body."""
        self._headed = True

    def on_body(self, piece: bytes) -> None:
        """Keep a piece of the body."""
        self._content += piece
        if len(self._content) > self._most:
            raise ValueError

    def on_message_complete(self) -> None:
        """Hand the reply over, unless it only announces another one."""
        status = self._parser.get_status_code()
        if status < FIRST_FINAL:
            self._headers, self._content, self._headed = {}, bytearray(), False
            return
        self._keeps = self._parser.should_keep_alive()
        if self._reply is not None and not self._reply.done():
            self._reply.set_result(Answered(status, self._headers, bytes(self._content)))


def _one_line(name: str, value: str) -> str:
    if not value.isascii() or not value.isprintable():
        raise BadInput(
            "What is sent as '{name}' is not one line of ASCII.", name=name, remedy="Look at the operator's keys."
        )
    return value


def _trust() -> Any:
    import httpx2  # the authorities that everything else here trusts; not at the top, where most runs do not need it

    return httpx2.create_ssl_context(trust_env=False)
