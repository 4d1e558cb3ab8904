"""HTTP to one server: connections that are kept, requests that go out in one piece, replies of a bounded size.

Of a general client, only what a call needs is here: it decides what a call costs. Neither proxies of the surroundings
nor redirects are followed: both lead where nobody looked.
"""

from __future__ import annotations

import select
import socket
import ssl
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http.client import HTTPException, HTTPResponse, IncompleteRead, RemoteDisconnected
from typing import Any
from urllib.parse import quote, urlsplit

from quintain.core.errors import BadInput

PIECE = 64 << 10
SAFE = "/%:@!$&'()*+,;=-._~"


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


class Wire:
    """Connections to the server at *url*, for any number of threads. Close it in the end."""

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
        self._idle: deque[socket.socket] = deque()

    def close(self) -> None:
        """Close what is kept open."""
        while self._idle:
            self._idle.pop().close()

    def post(self, path: str, body: bytes) -> Answered:
        """Send *body* to *path* below the address, and give the reply; raises Unanswered."""
        deadline = time.monotonic() + self.timeout
        where = self._path + quote(path, safe=SAFE)
        head = f"POST {where} HTTP/1.1\r\n{self._headers}content-length: {len(body)}\r\n\r\n"
        connected = resent = False
        try:
            idle = self._idle_connection()
            if idle is not None:
                try:
                    connected = True
                    return self._exchange(idle, head.encode("ascii") + body, deadline)
                except (RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                    idle.close()  # the server had closed it between two calls
                    resent = True
            connected = False
            connection = self._connect()
            connected = True
            return replace(self._exchange(connection, head.encode("ascii") + body, deadline), resent=resent)
        except TimeoutError:
            raise Unanswered(f"did not answer within {self.timeout:g} seconds", sent=connected, resent=resent) from None
        except (OSError, HTTPException) as error:
            problem = f"{error or type(error).__name__}"
            reason = f"broke off: {problem}" if connected else f"cannot be reached: {problem}"
            raise Unanswered(reason, sent=connected, resent=resent) from None

    def _idle_connection(self) -> socket.socket | None:
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread was quicker
                return None
            if not select.select([connection], [], [], 0)[0]:
                return connection
            connection.close()  # what can be read before anything was asked is the end
        return None

    def _connect(self) -> socket.socket:
        plain = socket.create_connection((self._host, self._port), self.timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._trust.wrap_socket(plain, server_hostname=self._host) if self._trust else plain

    def _exchange(self, connection: socket.socket, request: bytes, deadline: float) -> Answered:
        keep = False
        try:
            connection.settimeout(_left(deadline))
            connection.sendall(request)
            with HTTPResponse(connection, method="POST") as response:
                response.begin()
                content = self._content(response, connection, deadline)
                headers = {name.lower(): value for name, value in response.getheaders()}
                keep = not response.will_close
                return Answered(response.status, headers, content)
        finally:
            if keep:
                self._idle.append(connection)
            else:
                connection.close()

    def _content(self, response: HTTPResponse, connection: socket.socket, deadline: float) -> bytes:
        content = bytearray()
        while piece := response.read1(PIECE):
            content += piece
            if len(content) > self.most:
                raise BadInput("sent more than {most:,} bytes.", most=self.most)
            connection.settimeout(_left(deadline))
        if response.length:  # `read1` does not mind that less came than was announced
            raise IncompleteRead(bytes(content), response.length)
        return bytes(content)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _one_line(name: str, value: str) -> str:
    if not value.isascii() or not value.isprintable():
        raise BadInput(
            "What is sent as '{name}' is not one line of ASCII.", name=name, remedy="Look at the operator's keys."
        )
    return value


def _trust() -> Any:
    import httpx2  # the authorities that everything else here trusts; not at the top, where most runs do not need it

    return httpx2.create_ssl_context(trust_env=False)
