"""Many examples asked at once in one event loop, and their answers handed over, as they come, to who waits for them.

The first error ends it, and so does whoever waits, by an error of its own or an interrupt from the keyboard: no example
is begun any more, and those under way are waited for, since their replies are paid for. A second interrupt waits for
nothing.
"""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from quintain.adapters.endpoint_calls import EndpointCaller

HANDED_EVERY = 0.05  # seconds: handing over every answer by itself would cost more than the answer

Ask = Callable[[Mapping[str, Any]], Awaitable[Any]]
Told = Callable[[int, Any], None]


def share_out(caller: EndpointCaller, ask: Ask, batch: Sequence[Mapping[str, Any]], on_answer: Told) -> None:
    """Ask about each example of *batch*; *on_answer* gets its place and its answer, in the caller's thread."""
    if not batch:
        return
    sharing = _Sharing(caller, ask, batch)
    caller.stopping = False
    under_way = caller.begin(sharing.run())
    try:
        while (answered := sharing.ready.get()) is not None:
            for row, answer in answered:
                on_answer(row, answer)
    except BaseException:
        caller.stopping = True
        while sharing.ready.get() is not None:
            pass
        under_way.exception()
        raise
    under_way.result()


class _Sharing:
    """One batch on its way."""

    def __init__(self, caller: EndpointCaller, ask: Ask, batch: Sequence[Mapping[str, Any]]) -> None:
        self._caller, self._ask, self._batch = caller, ask, batch
        self._left = iter(range(len(batch)))
        self._answered: list[tuple[int, Any]] = []
        self._handing: asyncio.TimerHandle | None = None
        # Lists of answers; None when no more will come.
        self.ready: queue.SimpleQueue[list[tuple[int, Any]] | None] = queue.SimpleQueue()

    async def run(self) -> None:
        """Ask about all, with as many at once as the server bears."""
        workers = [self._work() for _ in range(min(self._caller.throttle.most, len(self._batch)))]
        try:
            results = await asyncio.gather(*workers, return_exceptions=True)
        finally:
            if self._handing is not None:
                self._handing.cancel()
            self._hand_over()
            self.ready.put(None)
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def _work(self) -> None:
        throttle = self._caller.throttle
        while not self._caller.stopping:
            await throttle.enter()
            try:
                row = -1 if self._caller.stopping else next(self._left, -1)
                if row < 0:
                    return
                self._note(row, await self._ask(self._batch[row]))
            except BaseException:
                self._caller.stopping = True
                raise
            finally:
                throttle.leave()

    def _note(self, row: int, answer: Any) -> None:
        self._answered.append((row, answer))
        if self._handing is None:
            self._handing = asyncio.get_running_loop().call_later(HANDED_EVERY, self._hand_over)

    def _hand_over(self) -> None:
        self._handing = None
        if self._answered:
            self.ready.put(self._answered)
            self._answered = []
