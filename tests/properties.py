"""How many examples a property is tried on."""

from __future__ import annotations

import os

MORE = "PROPERTY_EXAMPLES"  # how many times as many: set by the slow test that runs all properties again


def examples(count: int) -> int:
    """Give *count*, or as many times more as the slow set asks for."""
    return count * int(os.environ.get(MORE, "1"))
