"""Numbers by name, as people write them on a command line or in an address: `performance=4, memory=1`."""

from __future__ import annotations

import math

from quintain.core.errors import BadInput


def parse_numbers(text: str, what: str) -> dict[str, float]:
    """Read `name=number` pairs separated by commas.

    >>> parse_numbers("perf=4, memory=1", "weights")
    {'perf': 4.0, 'memory': 1.0}
    """
    pairs: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, number = (piece.strip() for piece in part.partition("="))
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if not name or not equals or not math.isfinite(value):
            raise BadInput(
                "'{part}' in the {what} is not NAME=NUMBER.", part=part, what=what, remedy="For example: memory=0.5."
            )
        if name in pairs:
            raise BadInput("'{name}' is in the {what} twice.", name=name, what=what)
        pairs[name] = value
    return pairs
