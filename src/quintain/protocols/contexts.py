"""Which contexts go to which round: dealt by a seed, so that every round gets as much of each genre as the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from quintain.protocols.paths import expected
from quintain.protocols.ranking import lot
from quintain.protocols.spec import Protocol
from quintain.protocols.stages import Stage

AT_ONCE = 20  # people who do a tutorial at the same moment


def needed(protocol: Protocol, stage: Stage) -> int:
    """Return how many contexts a stage takes, if nobody leaves and nobody shares one with somebody else.

    In a tutorial people may follow each other on the same contexts; there it takes enough for many to be at once.
    """
    people = math.ceil(expected(protocol.stages, protocol.workers)[stage.name])
    if stage.tutorial is not None:
        return stage.tutorial.contexts * min(people, AT_ONCE)
    rule = stage.writing
    if rule is None:
        return 0
    sessions = people * rule.sessions
    full = math.ceil(rule.wanted / rule.items) if rule.wanted and not rule.target else sessions
    return max(1, min(sessions, full))


def share_out(needs: Sequence[int], available: int) -> list[int]:
    """Return how many of the *available* contexts each round gets: what it needs or, of too few, its part.

    >>> share_out([750, 40, 750], 2000), share_out([750, 40, 750], 100)
    ([750, 40, 750], [48, 4, 48])
    """
    total = sum(needs)
    if available >= total:
        return list(needs)
    left, sizes = available - len(needs), [1] * len(needs)
    parts = [(need - 1) * left / max(1, total - len(needs)) for need in needs]
    sizes = [size + int(part) for size, part in zip(sizes, parts, strict=True)]
    over = sorted(range(len(needs)), key=lambda at: (int(parts[at]) - parts[at], at))
    for at in over[: available - sum(sizes)]:
        sizes[at] += 1
    return sizes


def deal(strata: Mapping[str, str], sizes: Sequence[int], seed: int) -> list[list[str]]:
    """Deal contexts, each with its stratum, into hands of these *sizes*; nobody can foresee how who knows no seed.

    Of each stratum hands of one size have as many, give or take one. Within a hand strata come in turns: where they are
    equally large, each block of as many contexts as there are strata has one of each. Where there are more contexts
    than are dealt, those that stay have the strata of the others.

    >>> deal({"a": "news", "b": "news", "c": "fiction", "d": "fiction"}, sizes=[2, 2], seed=1)
    [['a', 'c'], ['b', 'd']]
    """
    order = sorted(strata, key=lambda name: lot(seed, "context", name))
    places = {name: place for place, name in enumerate(order)}
    chosen = set(_in_turns(_parts(strata, order), seed)[: sum(sizes)])
    dealt: list[dict[str, list[str]]] = [{} for _ in sizes]
    filled = [0] * len(sizes)
    for name in sorted(chosen, key=lambda name: (strata[name], places[name])):
        open_ = [at for at, size in enumerate(sizes) if filled[at] < size]
        at = min(open_, key=lambda at: ((filled[at] + 0.5) / sizes[at], at))
        filled[at] += 1
        dealt[at].setdefault(strata[name], []).append(name)
    return [_in_turns(hand, seed) for hand in dealt]


def _parts(strata: Mapping[str, str], order: Sequence[str]) -> dict[str, list[str]]:
    parts: dict[str, list[str]] = {}
    for name in order:
        parts.setdefault(strata[name], []).append(name)
    return parts


def _in_turns(hand: Mapping[str, list[str]], seed: int) -> list[str]:
    """Put the strata of a hand into one order in which each is spread evenly."""
    places = {
        name: ((place + 0.5) / len(names), lot(seed, "turn", name))
        for names in hand.values()
        for place, name in enumerate(names)
    }
    return sorted(places, key=lambda name: places[name])
