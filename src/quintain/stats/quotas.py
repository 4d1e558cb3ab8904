"""Numbers of things shared out in whole pieces."""

from __future__ import annotations

from collections.abc import Sequence


def apportion(total: int, weights: Sequence[float]) -> list[int]:
    """Share *total* out by *weights* in whole numbers that add up to it (largest remainders; of equal ones the first).

    >>> apportion(10, [0.25, 0.25, 0.5])
    [3, 2, 5]
    """
    whole = sum(weights)
    if total <= 0 or whole <= 0:
        return [0] * len(weights)
    exact = [total * weight / whole for weight in weights]
    parts = [int(share) for share in exact]
    order = sorted(range(len(weights)), key=lambda position: (round(parts[position] - exact[position], 9), position))
    for position in order[: total - sum(parts)]:
        parts[position] += 1
    return parts
