"""What an opened workspace remembers from one request to the next, in the memory of this process.

There is one `State` to a workspace. Its database and its blobs carry it, so that whoever has a session or the blobs
finds it, and it is gone with them: nothing of one workspace is in a variable of a module, where another would see it.
Each part says itself how much it keeps; it is made when somebody first asks for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from sqlalchemy.orm import Session

Part = TypeVar("Part")
OPTION = "quintain_state"  # under which an engine carries it


class State:
    """The parts of what is remembered, by what makes them. Safe to share between threads."""

    def __init__(self) -> None:
        self._parts: dict[Callable[[], Any], Any] = {}
        self._lock = threading.Lock()

    def part(self, make: Callable[[], Part]) -> Part:
        """Return the part that *make* makes, which is usually its class: made now, or the same as before."""
        with self._lock:
            if make not in self._parts:
                self._parts[make] = make()
            return cast(Part, self._parts[make])

    def clear(self) -> None:
        """Forget everything, and end what a part has running."""
        with self._lock:
            parts, self._parts = list(self._parts.values()), {}
        for part in parts:
            close = getattr(part, "close", None)
            if close is not None:
                close()


def state_of(db: Session) -> State:
    """Return what the workspace of a session remembers; a session of no opened workspace has a memory of its own."""
    state = db.get_bind().get_execution_options().get(OPTION)
    if not isinstance(state, State):
        state = db.info.setdefault(OPTION, State())
    return cast(State, state)


__all__ = ["OPTION", "State", "state_of"]
