"""What the policy says of single items: how many judgements each gets, what its label rests on, its writer's vote.

Some items are judged more often than others. Which they are is drawn once, when items are taken in, by the validation's
seed, and stays on record with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.validation import Often
from quintain.services.validate.labels import writers_label
from quintain.services.validate.types import ValidationInfo
from quintain.stats.bootstrap import IntArray
from quintain.stats.judgements import NONE, Judgements, mix, name_hashes
from quintain.store.queries.validate import items as item_queries

_ALL = 2**64


@dataclass(frozen=True, slots=True)
class ItemRules:
    """One entry per item: the judgements that it was to get, the votes that its label needs, its writer's class.

    *writer* is -1 where nobody's vote counts but the judges'; *author* says whose it is.
    """

    asked: IntArray
    minimum: IntArray
    writer: IntArray
    author: IntArray

    def votes(self, counts: IntArray) -> IntArray:
        """Add the writers' votes to the judges'."""
        votes = counts.copy()
        voted = np.flatnonzero(self.writer != NONE)
        votes[voted, self.writer[voted]] += 1
        return votes


def rules_of(db: Session, validation: ValidationInfo, items: IntArray, classes: Sequence[str]) -> ItemRules:
    """Return what the policy says of each of *items*."""
    policy = validation.policy
    often = item_queries.asked_often(db, validation.id)
    asked = np.array([often.get(item, policy.judgements) for item in items.tolist()], dtype=np.int64)
    least = policy.often.minimum if policy.often is not None else 0
    minimum = np.array(
        [least or policy.minimum if item in often else policy.minimum for item in items.tolist()], dtype=np.int64
    )
    writer, author = np.full(len(items), NONE, dtype=np.int64), np.zeros(len(items), dtype=np.int64)
    if policy.writer:
        code = {name: at for at, name in enumerate(classes)}
        written = item_queries.writers(db, validation.id)
        for at, item in enumerate(items.tolist()):
            if item in written:
                author[at], aim = written[item]
                writer[at] = code.get(writers_label(validation.task, aim) or "", NONE)
    return ItemRules(asked, minimum, writer, author)


def with_writers(used: Judgements, rules: ItemRules) -> Judgements:
    """Return judgements with those of the writers, each a worker of their own beside the judges."""
    voted = np.flatnonzero(rules.writer != NONE)
    if not len(voted):
        return used
    people, who = np.unique(rules.author[voted], return_inverse=True)
    item = np.concatenate([used.item, voted])
    worker = np.concatenate([used.worker, who + len(used.workers)])
    label = np.concatenate([used.label, rules.writer[voted]])
    order = np.lexsort((worker, item))
    names = [*used.workers, *(f"writer {person:012}" for person in people.tolist())]
    return Judgements(item[order], worker[order], label[order], used.items, names, used.classes)


def drawn_often(
    validation: ValidationInfo, rows: Sequence[Mapping[str, Any]], known: Mapping[str, int]
) -> list[int | None]:
    """Return how many judgements each of new items is to get; None where it is no more than the policy asks of all.

    *known* counts those of each part that are judged often already.
    """
    often = validation.policy.often
    if often is None or not rows:
        return [None] * len(rows)
    lots = _lots(validation.seed, [str(row["hash"]) for row in rows])
    chosen = _by_share(often, lots) if often.share else _by_number(often, rows, lots, known)
    return [often.judgements if place in chosen else None for place in range(len(rows))]


def _lots(seed: int, hashes: Sequence[str]) -> list[int]:
    """Draw a number for each item, which depends on the seed and the item alone."""
    return [int(one) for one in mix(name_hashes(f"often {name}" for name in hashes), seed)]


def _by_share(often: Often, lots: Sequence[int]) -> set[int]:
    return {place for place, lot in enumerate(lots) if lot < often.share * _ALL}


def _by_number(
    often: Often, rows: Sequence[Mapping[str, Any]], lots: Sequence[int], known: Mapping[str, int]
) -> set[int]:
    """Fill the sample of each part up with the items of the lowest lots."""
    drawn: set[int] = set()
    parts: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        parts.setdefault(str(row.get("part", "")), []).append(at)
    for part, places in parts.items():
        room = max(often.items - known.get(part, 0), 0)
        drawn.update(sorted(places, key=lambda at_place: lots[at_place])[:room])
    return drawn
