"""HTTP by hand: kept connections, connections that the server has closed, replies in pieces, replies without end."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from quintain.adapters.wire import Answered, Unanswered, Wire
from quintain.core.errors import BadInput

Serve = Callable[[Callable[[socket.socket, int], None]], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Give a way to serve every connection by a function of it and its number."""
    listener = socket.create_server(("127.0.0.1", 0))

    def start(handle: Callable[[socket.socket, int], None]) -> str:
        def run() -> None:
            for number in range(100):
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    handle(connection, number)

        threading.Thread(target=run, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"

    yield start
    listener.close()


def request(connection: socket.socket) -> bytes:
    """Read one request whose body is `{}`."""
    data = b""
    while not data.endswith(b"\r\n\r\n{}"):
        piece = connection.recv(4096)
        if not piece:
            return data
        data += piece
    return data


def wire(url: str, **more: str) -> Wire:
    """Give a wire with little patience."""
    return Wire(url, {"accept": "application/json", **more}, timeout=1, most=1000)


def post(url: str, times: int = 1) -> list[Answered]:
    """Post `{}` so often, one after the other, and give the replies."""

    async def ask() -> list[Answered]:
        asking = wire(url)
        try:
            return [await asking.post("/chat", b"{}") for _ in range(times)]
        finally:
            asking.close()

    with ThreadPoolExecutor(1) as apart:  # a browser test of the same process may have left its loop in this thread
        return apart.submit(asyncio.run, ask()).result()


def test_a_connection_is_kept_and_replaced_when_the_server_has_closed_it(serve: Serve) -> None:
    """Two calls share a connection; one that the server closes in between costs a new one, and no failure."""
    seen: list[tuple[int, bytes]] = []

    def twice(connection: socket.socket, number: int) -> None:
        for _ in range(2):
            seen.append((number, request(connection)))
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Who: me\r\n\r\n{}")

    replies = post(serve(twice), 3)
    assert [(one.status, one.content, one.headers["x-who"]) for one in replies] == [(200, b"{}", "me")] * 3
    assert [number for number, _ in seen[:3]] == [0, 0, 1]
    assert seen[0][1].startswith(b"POST /v1/chat HTTP/1.1\r\nhost: 127.0.0.1:")


def test_a_reply_in_pieces_is_put_together(serve: Serve) -> None:
    """Chunked transfer, as servers use that do not know the length beforehand."""

    def chunked(connection: socket.socket, number: int) -> None:
        request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")

    assert post(serve(chunked))[0].content == b"abcde"


def test_a_reply_that_never_ends_is_given_up(serve: Serve) -> None:
    """A server that drips is held to the same time as one that is silent, and one that floods to the size."""

    def drip(connection: socket.socket, number: int) -> None:
        request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        with suppress(BrokenPipeError, ConnectionResetError):
            while not threading.Event().wait(0.3):
                connection.sendall(b".")

    with pytest.raises(Unanswered, match="did not answer within 1 seconds"):
        post(serve(drip))


def test_a_reply_that_is_too_long_is_refused(serve: Serve) -> None:
    """What is read is bounded, whatever length the server names."""

    def flood(connection: socket.socket, number: int) -> None:
        request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5000)

    with pytest.raises(BadInput, match="sent more than 1,000 bytes"):
        post(serve(flood))


def test_a_reply_without_a_length_ends_with_the_connection(serve: Serve) -> None:
    """As old servers send it."""

    def whole(connection: socket.socket, number: int) -> None:
        request(connection)
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\nabc")

    assert post(serve(whole))[0].content == b"abc"


def test_half_a_reply_is_none(serve: Serve) -> None:
    """A connection that ends before the named length has broken off, after the request had gone out."""

    def half(connection: socket.socket, number: int) -> None:
        request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")

    with pytest.raises(Unanswered, match="broke off") as broken:
        post(serve(half))
    assert broken.value.sent


def test_no_header_can_be_smuggled_in() -> None:
    """A key with a line break is refused, and an address cannot break the request line."""
    with pytest.raises(BadInput, match="'authorization' is not one line"):
        wire("http://127.0.0.1:9", authorization="Bearer a\r\nx-evil: 1")
    assert b" " not in Wire("http://127.0.0.1:9/a b", {}, timeout=1, most=1)._path.encode()
