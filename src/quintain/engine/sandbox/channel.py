"""Our end of the data pipe. Nothing that comes through it is trusted."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

from quintain.engine.sandbox.limits import Outcome, RunEnded


class Channel:
    """Messages of four bytes of length and that much JSON over a socket pair."""

    def __init__(self, end: socket.socket, *, limit: int) -> None:
        self.end = end
        self.limit = limit

    def send(self, message: Any, deadline: float) -> None:
        """Send *message*, or raise TimeoutError at *deadline* (monotonic time), BrokenPipeError when it is gone."""
        body = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
        self._set_deadline(deadline)
        self.end.sendall(len(body).to_bytes(4, "big") + body)

    def receive(self, deadline: float) -> dict[str, Any] | None:
        """Wait for a message until *deadline*; None when the other end is closed."""
        header = self._exactly(4, deadline)
        if header is None:
            return None
        size = int.from_bytes(header, "big")
        if size > self.limit:
            raise RunEnded(
                Outcome.BAD_ANSWER, f"The model sent {size:,} bytes in one message; {self.limit:,} are allowed."
            )
        body = self._exactly(size, deadline)
        if body is None:
            return None
        try:
            message = json.loads(body, parse_constant=_refuse_constant)
        except ValueError as error:
            raise RunEnded(Outcome.BAD_ANSWER, f"The model's message is not JSON: {error}.") from error
        if not isinstance(message, dict):
            raise RunEnded(Outcome.BAD_ANSWER, "The model's message is not an object.")
        return message

    def close(self) -> None:
        """Close our end; the program inside then leaves by itself."""
        self.end.close()

    def _exactly(self, size: int, deadline: float) -> bytes | None:
        parts = bytearray()
        while len(parts) < size:
            self._set_deadline(deadline)
            try:
                part = self.end.recv(min(size - len(parts), 1 << 20))
            except ConnectionResetError:
                return None
            if not part:
                return None
            parts += part
        return bytes(parts)

    def _set_deadline(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.end.settimeout(left)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number that an answer may hold")
