"""What items tell: information along the ability scale, and the items that together tell most."""

from __future__ import annotations

import numpy as np

from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.irt.fit import IrtFit

POINTS = 61
REACH = 3.0
CELLS = 4_000_000


def scale_points(fit: IrtFit, points: int = POINTS) -> FloatArray:
    """Return points along the ability scale that cover the respondents."""
    ends = [-REACH, REACH, *fit.ability[np.isfinite(fit.ability)].tolist()]
    return np.linspace(min(ends), max(ends), points)


def item_information(fit: IrtFit, ability: FloatArray, items: slice | None = None) -> FloatArray:
    """Return what each item (columns) tells at each *ability* (rows): a² (1 − P) / P ((P − c) / (1 − c))²."""
    part = items or slice(None)
    guess = fit.guess[part]
    chance = np.clip(fit.chances(ability, part), 1e-9, 1 - 1e-9)
    core = np.clip((chance - guess) / (1 - guess), 0, 1)
    return np.asarray(np.square(fit.discrimination[part] * core) * (1 - chance) / chance, dtype=np.float64)


def total_information(fit: IrtFit, ability: FloatArray) -> FloatArray:
    """Add up what all items tell at each *ability*."""
    total, width = np.zeros(len(ability)), max(1, CELLS // max(len(ability), 1))
    for start in range(0, len(fit.discrimination), width):
        total += item_information(fit, ability, slice(start, start + width)).sum(axis=1)
    return total


def most_informative(fit: IrtFit, k: int) -> IntArray:
    """Choose *k* items, the most useful first, that together place these respondents best.

    Each next item is the one that most raises the mean, over the respondents' abilities, of log(1 + information): an
    item that tells the same again is worth less than one for those of whom little is known. Of gains that only fall,
    such a choice is within 1 − 1/e of the best.
    """
    items = len(fit.discrimination)
    ability = np.quantile(fit.ability, np.linspace(0.02, 0.98, min(31, len(fit.ability))))
    table = item_information(fit, ability).T.astype(np.float32)
    total = np.ones(len(ability), dtype=np.float32)
    bound = np.full(items, np.inf)
    chosen: list[int] = []
    for _ in range(min(k, items)):
        best, best_gain = -1, -np.inf
        # Gains only fall, so that those of earlier rounds are bounds: most items need not be looked at again.
        for start in _blocks(bound):
            gain = np.log1p(table[start] / total).mean(axis=1)
            bound[start] = gain
            at = int(gain.argmax())
            if gain[at] > best_gain:
                best, best_gain = int(start[at]), float(gain[at])
            rest = np.delete(bound, start)
            if not len(rest) or best_gain >= rest.max():
                break
        chosen.append(best)
        total += table[best]
        bound[best] = -np.inf
    return np.array(chosen, dtype=np.int64)


def _blocks(bound: FloatArray) -> list[IntArray]:
    """Return the items by their bounds, the highest first: a few, then more, then all others."""
    order = np.argsort(-bound, kind="stable")
    order = order[bound[order] > -np.inf]
    ends = [0, *(end for end in (64, 512) if end < len(order)), len(order)]
    if np.isinf(bound[order]).any():
        ends = [0, len(order)]
    return [np.asarray(order[: ends[at + 1]], dtype=np.int64) for at in range(len(ends) - 1)]
