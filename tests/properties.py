"""How many examples a property is tried on."""

from __future__ import annotations

import os

MORE = "PROPERTY_EXAMPLES"  # how many times as many: set by the slow test that runs all properties again


def examples(count: int) -> int:
    """Give half of *count*, which is enough for a quick run, or as many times more as is asked for, at least 5."""
    times = os.environ.get(MORE)
    return max(count * int(times), 5) if times else min(count, max(count // 2, 5))
