"""What was computed lately, kept in memory until something changes.

A board of a thousand models is read from tens of thousands of rows; while nothing happens it is the same board. The key
of an entry says everything that it depends on, so that nothing here is ever stale, only unused.
"""

from __future__ import annotations

import json
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy.orm import Session

from quintain.core.hashing import content_id
from quintain.core.people import Actor
from quintain.core.task import ABILITY
from quintain.services.board.abilities import NAME
from quintain.services.board.assemble import board
from quintain.services.board.parts import Board, BoardPart
from quintain.services.tasks.board_settings import board_spec
from quintain.store.blobs import Blobs
from quintain.store.queries.board import boards as queries
from quintain.store.queries.jobs import figures as kept_queries

T = TypeVar("T")
BOARDS_KEPT = 24


class WarmValues(Generic[T]):
    """The values that were used last, by key; safe to share between threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Give the value of *key*, made now if it is not there. Two who ask at once may both make it."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        value = make()
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return value


@dataclass(frozen=True, slots=True)
class WarmBoard:
    """A board with its JSON, written once, and the tag by which a browser knows that it has it already."""

    board: Board
    json: bytes
    etag: str


# One cache per database, gone with its engine.
_CACHES: weakref.WeakKeyDictionary[Any, WarmValues[WarmBoard]] = weakref.WeakKeyDictionary()
_CACHES_LOCK = threading.Lock()


def warm_board(db: Session, blobs: Blobs, actor: Actor, task: str, part: BoardPart | None = None) -> WarmBoard:
    """Give the board as *actor* may see it, from memory if nothing has changed since it was made."""
    part = part or BoardPart()
    with _CACHES_LOCK:
        cache = _CACHES.setdefault(db.get_bind(), WarmValues(BOARDS_KEPT))
    # Results that nobody has looked at yet are computed while the board is made; what they need is in the stamp.
    spec = board_spec(db, task)
    fitted = kept_queries.computed_at(db, NAME, task) if spec.metric == ABILITY else None
    key = (task, part, actor, queries.stamp(db), spec.frozen_at, fitted)
    return cache.get(key, lambda: _make(board(db, blobs, actor, task, part)))


def _make(made: Board) -> WarmBoard:
    shape = made.as_dict()
    text = json.dumps(shape, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    del shape["made_at"]
    return WarmBoard(made, text, f'"{content_id(shape)}"')
