"""One event loop in a thread of its own, in which all calls to one server are made."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

Value = TypeVar("Value")


class LoopThread:
    """A loop that runs while it is needed: its thread begins with the first call. Use it as a context manager."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> LoopThread:
        """Return the loop's thread itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """End the loop."""
        with self._lock:
            if self._loop is not None and self._thread is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._thread.join()
            self._loop = self._thread = None

    def submit(self, work: Coroutine[Any, Any, Value]) -> Future[Value]:
        """Begin *work* in the loop, and return what will become of it."""
        return asyncio.run_coroutine_threadsafe(work, self._running())

    def run(self, work: Coroutine[Any, Any, Value]) -> Value:
        """Do *work* in the loop and return what it returns."""
        return self.submit(work).result()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = _new_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name=self._name, daemon=True)
                self._thread.start()
            return self._loop


def _new_loop() -> asyncio.AbstractEventLoop:
    """Return the quickest loop that there is: uvloop's is written in C, and not for every platform."""
    try:
        import uvloop  # not at the top: a platform may lack it
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        pending = asyncio.all_tasks(loop)
        for task in pending:
            task.cancel()
        if pending:
            loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
        loop.close()
