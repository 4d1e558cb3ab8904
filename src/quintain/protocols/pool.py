"""The pool in which the final items of all arms are judged: shuffled, and some of each arm more often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from quintain.protocols.ranking import lot
from quintain.protocols.spec import ValidationPlan


@dataclass(frozen=True, slots=True)
class Pooled:
    """An item of the pool and how many judgements it gets."""

    item: str
    votes: int


def pool(arms: Mapping[str, Iterable[str]], plan: ValidationPlan, seed: int) -> list[Pooled]:
    """Put the items of all arms into one order, which says nothing of the arm.

    A sample of each arm's items gets many judgements. Who is in it depends on the seed and the item alone, so that it
    is the same whenever it is drawn, as long as the arm's items are.

    >>> pool({"a": ["1", "2"], "b": ["3"]}, ValidationPlan(votes=2, many=10, sample=1), seed=1)
    [Pooled(item='3', votes=10), Pooled(item='2', votes=2), Pooled(item='1', votes=10)]
    """
    found = []
    for items in arms.values():
        drawn = sorted(items, key=lambda one: lot(seed, "sample", one))
        found += [Pooled(one, plan.many if place < plan.sample else plan.votes) for place, one in enumerate(drawn)]
    return sorted(found, key=lambda one: lot(seed, "order", one.item))
