"""How fast this machine works at a moment, by a piece of work of our own that is always the same.

Processors are shared with work that no counter here shows: another machine on the same core, a clock that was lowered.
The same model is then half as fast a few seconds later, and nothing in its own times tells why.
"""

from __future__ import annotations

import time

STEPS = 40_000  # a millisecond or two
LOOKS = 3  # the fastest counts: a moment in which the process did not run says nothing of the processor


class Pace:
    """The fastest that this machine was seen to work, kept for as long as its engine lives."""

    def __init__(self) -> None:
        self.fastest = float("inf")

    def lost(self) -> float:
        """Work for a moment; give the share of its best speed that the machine lacks now, from 0 to 1."""
        taken = min(_work() for _ in range(LOOKS))
        self.fastest = min(self.fastest, taken)
        return 1.0 - self.fastest / taken


def _work() -> float:
    begun = time.perf_counter()
    total = 0
    for number in range(STEPS):
        total += number * number
    return time.perf_counter() - begun
