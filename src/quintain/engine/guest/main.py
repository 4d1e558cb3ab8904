"""The program inside the sandbox: reads inputs from one pipe, calls the model, writes answers back.

Started as `python -I main.py PIPE LIBRARY_FOLDERS…`. A message is four bytes of length and that much JSON.
It uses the standard library only: whatever else the model needs comes with the model.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
import traceback
from collections.abc import Callable
from typing import Any

SHOWN = 500  # characters of what was raised
LONGEST = 8000  # characters of a traceback
TRACEBACKS = 3  # failures on single inputs whose traceback is printed
INTERNET_FAMILIES = {int(socket.AF_INET), int(socket.AF_INET6)}


class Pipe:
    """The one way in and out."""

    def __init__(self, descriptor: int) -> None:
        # A copy out of the way, closed in children: a model's subprocess has no business on this pipe.
        self.descriptor = os.dup(descriptor)
        os.set_inheritable(self.descriptor, False)
        os.close(descriptor)

    def read(self) -> Any:
        """Wait for the next message; None when the other side is gone."""
        header = self._exactly(4)
        if header is None:
            return None
        body = self._exactly(int.from_bytes(header, "big"))
        return None if body is None else json.loads(body)

    def write(self, message: Any) -> None:
        """Send *message* whole."""
        body = json.dumps(message, ensure_ascii=False, default=_plain).encode("utf-8", "surrogatepass")
        view = memoryview(len(body).to_bytes(4, "big") + body)
        while view:
            view = view[os.write(self.descriptor, view) :]

    def _exactly(self, size: int) -> bytes | None:
        parts = bytearray()
        while len(parts) < size:
            part = os.read(self.descriptor, min(size - len(parts), 1 << 20))
            if not part:
                return None
            parts += part
        return bytes(parts)


class NetworkWatch:
    """Remembers the first attempt to reach the network, so that the builder can be told plainly."""

    def __init__(self) -> None:
        self.attempt: str | None = None
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.attempt is not None:
            return
        if event == "socket.getaddrinfo":
            self.attempt = f"looked up the address of {arguments[0]!r}"
        elif event == "socket.connect" and isinstance(arguments[1], tuple):
            self.attempt = f"connected to {arguments[1]!r}"
        elif event == "socket.__new__" and int(arguments[1]) in INTERNET_FAMILIES:
            self.attempt = "opened an internet socket"


def _plain(value: Any) -> Any:
    """Turn the scalars and arrays of numerical libraries into plain numbers and lists."""
    for method in ("tolist", "item"):
        if hasattr(value, method):
            return getattr(value, method)()
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    raise TypeError(f"an answer of type {type(value).__name__} cannot be sent as JSON")


def _answer(predict: Callable[[list[Any]], Any], items: list[Any]) -> dict[str, Any]:
    answers = list(predict([item[1] for item in items]))  # a generator does its work only now
    if len(answers) != len(items):
        return {"fault": f"predict was given {len(items)} inputs and returned {len(answers)} answers"}
    return {"answers": [[item[0], answer] for item, answer in zip(items, answers, strict=True)]}


def error_text(error: BaseException) -> str:
    """Return what was raised, cut short; an exception may refuse even that."""
    try:
        return f"{type(error).__name__}: {error}"[:SHOWN]
    except BaseException:
        return type(error).__name__


def _traceback() -> str:
    return traceback.format_exc(limit=-12)[-LONGEST:]


class GuestServer:
    """Answers one request after the other."""

    def __init__(self) -> None:
        self.watch = NetworkWatch()
        self.predict: Callable[[list[Any]], Any] | None = None
        self.shown = 0

    def reply(self, request: Any) -> dict[str, Any]:
        """Do what *request* asks for; whatever is raised becomes the reply."""
        try:
            reply = self._work(request)
        except BaseException as error:
            reply = {"error": error_text(error), "traceback": _traceback()}
            if len(request.get("items", ())) == 1 and self.shown < TRACEBACKS:
                self.shown += 1
                sys.stderr.write(reply["traceback"])
        return {**reply, "network": self.watch.attempt[:SHOWN]} if self.watch.attempt else reply

    def _work(self, request: Any) -> dict[str, Any]:
        if request["op"] == "load":
            adapter = importlib.import_module(request["adapter"])
            self.predict = adapter.open_model(request["path"], request["options"])
            return {"loaded": True}
        if self.predict is None:
            return {"fault": "no model is loaded"}
        return _answer(self.predict, request["items"])


def main() -> None:
    """Serve requests until the pipe closes."""
    pipe = Pipe(int(sys.argv[1]))
    sys.path[:0] = sys.argv[2:]
    server = GuestServer()
    while (request := pipe.read()) is not None:
        reply = server.reply(request)
        try:
            pipe.write(reply)
        except (TypeError, ValueError, RecursionError) as error:
            pipe.write({"fault": f"the answers cannot be sent: {error_text(error)}"})


if __name__ == "__main__":
    main()
