"""Which contexts go to which round: dealt by a seed, so that every round gets as much of each genre as the others."""

from __future__ import annotations

from collections.abc import Mapping

from quintain.protocols.ranking import lot


def deal(strata: Mapping[str, str], hands: int, seed: int) -> list[list[str]]:
    """Deal contexts, each with its stratum, out among *hands*; nobody can foresee how who does not know the seed.

    Of each stratum, and of all together, no hand has two more than another. Within a hand they come in turns: where its
    strata are equally large, each block of as many contexts as there are strata has one of each.

    >>> deal({"a": "news", "b": "news", "c": "fiction", "d": "fiction"}, hands=2, seed=1)
    [['a', 'c'], ['b', 'd']]
    """
    parts: dict[str, list[str]] = {}
    for name in sorted(strata, key=lambda one: lot(seed, "context", one)):
        parts.setdefault(strata[name], []).append(name)
    dealt: list[dict[str, list[str]]] = [{} for _ in range(hands)]
    turn = 0
    for stratum in sorted(parts):
        for name in parts[stratum]:
            dealt[turn % hands].setdefault(stratum, []).append(name)
            turn += 1
    return [_in_turns(hand, seed) for hand in dealt]


def _in_turns(hand: Mapping[str, list[str]], seed: int) -> list[str]:
    """Put the strata of a hand into one order in which each is spread evenly."""
    places = {
        name: ((place + 0.5) / len(names), lot(seed, "turn", name))
        for names in hand.values()
        for place, name in enumerate(names)
    }
    return sorted(places, key=lambda one: places[one])
