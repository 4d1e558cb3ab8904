"""Our end of the data pipe. Nothing that comes through it is trusted."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

from quintain.core.errors import BadInput
from quintain.core.untrusted import Bounds, read_json
from quintain.engine.sandbox.limits import Outcome, RunEnded

PART = 1 << 20


class Channel:
    """Messages of four bytes of length and that much JSON over a socket pair."""

    def __init__(self, end: socket.socket, *, limit: int) -> None:
        self.end = end
        self.limit = limit

    def exchange(self, message: Any, deadline: float, bounds: Bounds) -> tuple[Any, int]:
        """Send *message* and wait for the reply; give it, and the nanoseconds that passed between both.

        The clock runs while bytes travel and the other side works; writing and reading JSON here is not part of it.
        Raises TimeoutError at *deadline* (monotonic time), EOFError where the other end is closed, BadInput for a
        reply beyond *bounds*, after which the next message can be sent.
        """
        body = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
        self._set_deadline(deadline)
        start = time.perf_counter_ns()
        self.end.sendall(len(body).to_bytes(4, "big") + body)
        reply = self._receive(deadline, bounds)
        elapsed = time.perf_counter_ns() - start
        return read_json(reply, bounds), elapsed

    def close(self) -> None:
        """Close our end; the program inside then leaves by itself."""
        self.end.close()

    def _receive(self, deadline: float, bounds: Bounds) -> bytearray:
        size = int.from_bytes(self._exactly(4, deadline), "big")
        if size > self.limit:
            raise RunEnded(
                Outcome.BAD_ANSWER,
                "The model sent {size:,} bytes in one message; {most:,} are allowed.",
                size=size,
                most=self.limit,
            )
        if size > bounds.size:
            for start in range(0, size, PART):  # read past it without keeping any
                self._exactly(min(PART, size - start), deadline)
            raise BadInput("It has {size:,} bytes; {most:,} are allowed.", size=size, most=bounds.size)
        return self._exactly(size, deadline)

    def _exactly(self, size: int, deadline: float) -> bytearray:
        parts = bytearray()
        while len(parts) < size:
            self._set_deadline(deadline)
            part = self.end.recv(min(size - len(parts), PART))
            if not part:
                raise EOFError
            parts += part
        return parts

    def _set_deadline(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.end.settimeout(left)
