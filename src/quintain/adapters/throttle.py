"""How many calls go out at once, and how fast: as many as the server bears, and no more than a minute may have.

A server says that it has enough by status 429 or 503, and then nobody calls it until the time that it names, and half
as many call it at once afterwards. It also says so by slowing down: where more calls at once are answered later, but
no more of them in a second, the last step is taken back.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

MINUTE = 60.0
FIRST = 64  # calls at once to begin with, where so many are asked for; half of what is asked for where that is more
SLOWER = 2.0  # times the quickest answers, from which on a server counts as slowed down
GAIN = 1.05  # more answers a second that a step up has to bring to a server that has slowed down
LESS = 0.75
BUSY = frozenset({429, 503, 529})


@dataclass(frozen=True, slots=True)
class CallLimits:
    """What a model's calls are held to: so many at once, and so many requests and tokens in a minute."""

    together: int = 4
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


class Throttle:
    """Lets calls go out, in one event loop. *limit* is how many may be under way now."""

    def __init__(self, limits: CallLimits, clock: Callable[[], float]) -> None:
        self.most = max(1, limits.together)
        self.limit = max(min(self.most, FIRST), self.most // 2)
        self.under_way = 0
        self.busy = 0  # how often the server had enough
        self._limits, self._clock = limits, clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._next_request = self._next_tokens = self._closed_until = 0.0
        self._window: list[float] = []
        self._window_began = clock()
        self._quickest = self._best_rate = 0.0

    async def enter(self) -> None:
        """Wait until one more call may be under way."""
        while self.under_way >= self.limit:
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            await waiting
        self.under_way += 1

    def leave(self) -> None:
        """Let somebody else in."""
        self.under_way -= 1
        self._wake()

    async def pass_gate(self, tokens: float) -> None:
        """Wait until a request of about so many *tokens* may go out."""
        while (wait := self._wait(tokens)) > 0:
            await asyncio.sleep(wait)

    def settle(self, estimated: float, actual: float) -> None:
        """Take what a request took in place of what was *estimated*."""
        if self._limits.tokens_per_minute:
            self._next_tokens += (actual - estimated) * MINUTE / self._limits.tokens_per_minute

    def note_busy(self, seconds: float) -> None:
        """Note that the server has enough, and wants to be asked again after so many seconds."""
        self.busy += 1
        moment = self._clock()
        if moment >= self._closed_until:  # of the many that are refused together, the first decides
            self.limit = max(1, self.limit // 2)
            self._new_window()
        self._closed_until = max(self._closed_until, moment + seconds)

    def note_answer(self, seconds: float) -> None:
        """Note how long an answer took; after as many answers as there are calls at once, the limit is looked at."""
        self._window.append(seconds)
        if len(self._window) >= self.limit:
            self._adapt()

    def _wait(self, tokens: float) -> float:
        """Return how long to wait; where that is nothing, the request has its place."""
        limits, moment = self._limits, self._clock()
        until = max(self._closed_until, self._next_request, self._next_tokens)
        if until > moment:
            return until - moment
        if limits.requests_per_minute:
            self._next_request = max(moment, self._next_request) + MINUTE / limits.requests_per_minute
        if limits.tokens_per_minute:
            self._next_tokens = max(moment, self._next_tokens) + tokens * MINUTE / limits.tokens_per_minute
        return 0.0

    def _adapt(self) -> None:
        middle = sorted(self._window)[len(self._window) // 2]
        rate = len(self._window) / max(self._clock() - self._window_began, 1e-9)
        self._quickest = min(self._quickest or middle, middle)
        if middle > SLOWER * self._quickest and rate < GAIN * self._best_rate:
            self.limit = max(1, int(self.limit * LESS))
        else:
            self.limit = min(self.most, 2 * self.limit if not self.busy else self.limit + 1)
        self._best_rate = max(self._best_rate, rate)
        self._new_window()
        self._wake()

    def _new_window(self) -> None:
        self._window.clear()
        self._window_began = self._clock()

    def _wake(self) -> None:
        free = self.limit - self.under_way
        while free > 0 and self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(None)
                free -= 1
