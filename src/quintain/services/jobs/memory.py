"""What was computed lately, in the memory of this process."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class WarmValues(Generic[T]):
    """The values that were used last, by key: *size* of them, and of those that *weigh* much, no more than *most*.

    Safe to share between threads.
    """

    def __init__(self, size: int, *, weigh: Callable[[T], int] = lambda _: 0, most: int = 0) -> None:
        self._size, self._weigh, self._most = size, weigh, most
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> T | None:
        """Return the value of *key*; None where it is not there."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of *key*, made now if it is not there. Two who ask at once may both make it."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        value = make()
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > self._size or (len(self._kept) > 1 and self._weight() > self._most):
                self._kept.popitem(last=False)
        return value

    def _weight(self) -> int:
        return sum(map(self._weigh, self._kept.values()))
