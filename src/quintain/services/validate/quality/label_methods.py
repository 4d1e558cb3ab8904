"""The method that makes a validation's labels: the one its policy names, as `quintain labels aggregate` runs it.

Labels are asked for click after click, and a model over all judgements takes its time. What came out last is kept by
what went in, so that a method runs once for each change, whoever asks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np

from quintain.core.errors import BadInput, Fault
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.core.validation import ValidationPolicy
from quintain.labels.contract import AGGREGATORS, Aggregator, Known, make_aggregator
from quintain.services.validate.console.item_rules import ItemRules, with_writers
from quintain.services.validate.labels import choices
from quintain.services.validate.quality.judge_figures import Evidence
from quintain.services.validate.types import ValidationInfo
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judgements import NONE, Judgements

KEPT = 4  # results: the figures of as many validations are kept


@dataclass(frozen=True, slots=True)
class Labelled:
    """One label per item (or -1), and how much speaks for it: a share of votes, or a posterior."""

    label: IntArray
    confidence: FloatArray


def require_suited(policy: ValidationPolicy, task: Task) -> None:
    """Refuse a method that can do nothing with the labels of the task."""
    names = tuple(choice.name for choice in choices(task, {}))
    if not _aggregator(policy).suits(names):
        reason = Text("'{method}' does not suit the labels {names}", method=policy.method, names=", ".join(names))
        raise BadInput(faults=[Fault(reason, field="method")], remedy="See `quintain labels methods`.")


def label_items(validation: ValidationInfo, evidence: Evidence, counted: Judgements, rules: ItemRules) -> Labelled:
    """Return every item's label by the policy's method, from the judgements that are kept and the writers' votes.

    A label rests on as many votes as the *minimum* of its item at least; where votes decide, so many must agree, and
    a tie is no label.
    """
    aggregator = _aggregator(validation.policy)
    used = with_writers(counted, rules)
    asked, known = used, Known()
    if "gold" in aggregator.needs:
        asked, known = _with_gold(evidence, used)
    gold_is_missing = known.gold is not None and not (known.gold >= 0).any()
    if not len(used) or gold_is_missing or not aggregator.suits(asked.classes):
        return Labelled(np.full(len(used.items), NONE), np.zeros(len(used.items)))
    labelled = _aggregate(_Question(aggregator, asked, known, validation.seed))
    label, confidence = labelled.label[: len(used.items)], labelled.confidence[: len(used.items)]
    label = np.where(label < len(used.classes), label, NONE)  # a label that only gold items have is nobody's vote
    if _counts_votes(type(aggregator)):
        return Labelled(_with_majority(label, used.counts(), rules.minimum), confidence)
    return Labelled(np.where(used.sizes() < rules.minimum, NONE, label), confidence)


def _aggregator(policy: ValidationPolicy) -> Aggregator:
    counts = _counts_votes(AGGREGATORS.get(policy.method))
    return make_aggregator(policy.method, minimum=1 if counts else None)  # what an item needs is seen to afterwards


def _counts_votes(kind: type[Aggregator]) -> bool:
    """Whether a method has a minimum of votes of its own."""
    return any(item.name == "minimum" for item in fields(kind))  # type: ignore[arg-type]  # members are dataclasses


def _with_majority(label: IntArray, votes: IntArray, minimum: IntArray) -> IntArray:
    """Leave items without a label that has the votes it needs, or more of them than another: 2 of 4 is no majority."""
    label = np.where(votes.max(axis=1, initial=0) < minimum, NONE, label)
    if votes.shape[1] < 2 or not len(votes):
        return label
    top = np.partition(votes, -2, axis=1)
    return np.where(top[:, -1] == top[:, -2], NONE, label)


def _with_gold(evidence: Evidence, used: Judgements) -> tuple[Judgements, Known]:
    """Add the judgements of gold items that count for their judges, as items after all others, with their labels."""
    table = evidence.table
    worker = np.searchsorted(evidence.users, table.user)
    begun = [max(_row_of(evidence.aside, user), _row_of(evidence.anew, user)) for user in evidence.users.tolist()]
    rows = np.flatnonzero((table.gold != "") & (table.id > np.array([*begun, 0], dtype=np.int64)[worker]))
    classes = (*used.classes, *sorted({*table.gold[rows].tolist()} - {*used.classes}))
    code = {name: place for place, name in enumerate(classes)}
    ids, first, item = np.unique(table.item[rows], return_index=True, return_inverse=True)
    both = Judgements(
        np.concatenate([used.item, item + len(used.items)]).astype(np.int64),
        np.concatenate([used.worker, worker[rows]]).astype(np.int64),
        np.concatenate([used.label, [code[name] for name in table.label[rows]]]).astype(np.int64),
        [*used.items, *(f"gold {one:012}" for one in ids.tolist())],
        used.workers,
        classes,
    )
    gold = [code[name] for name in table.gold[rows][first].tolist()]
    order = np.lexsort((both.worker, both.item))
    return both.take(order), Known(gold=np.array([*np.full(len(used.items), NONE), *gold], dtype=np.int64))


def _row_of(known: Mapping[int, int], user: int) -> int:
    return known.get(int(user), 0)


class _Question:
    """Everything that labels depend on; equal where all of it is."""

    __slots__ = ("aggregator", "asked", "digest", "known", "seed")

    def __init__(self, aggregator: Aggregator, asked: Judgements, known: Known, seed: int) -> None:
        self.aggregator, self.asked, self.known, self.seed = aggregator, asked, known, seed
        digest = hashlib.blake2b(repr((aggregator, seed, asked.classes)).encode())
        for names in (asked.items, asked.workers):
            digest.update("\x1f".join(names).encode())
        for part in (asked.item, asked.worker, asked.label, known.gold, known.writer):
            digest.update(b"-" if part is None else np.ascontiguousarray(part).tobytes())
        self.digest = digest.digest()

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, _Question) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


@lru_cache(maxsize=KEPT)
def _aggregate(question: _Question) -> Labelled:
    labelled = question.aggregator.aggregate(question.asked, seed=question.seed, known=question.known)
    return Labelled(labelled.label, labelled.confidence)
