"""Everything that is known of a validation, counted anew from its facts: what workers do, and small sites at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.records.validate import Batch, ItemProgress, JudgedConfusion
from quintain.core.validation import SlotState
from quintain.services.validate.quality.final_labels import FinalLabels, final_labels
from quintain.services.validate.quality.judge_figures import Evidence, Figures, gather, measure, patterns
from quintain.services.validate.quality.tallies import OutcomeTally, Tallies, tally
from quintain.services.validate.types import ValidationInfo
from quintain.stats.agreement import measure_agreement
from quintain.stats.bootstrap import IntArray
from quintain.stats.judgements import NONE, Judgements
from quintain.store.queries.validate import items as item_queries
from quintain.store.queries.validate import judgements as queries
from quintain.store.queries.validate import slots as slot_queries
from quintain.store.queries.validate.item_figures import GOLD, ItemFigures
from quintain.store.queries.validate.items import PartCount

RESAMPLES = 200
NARROW = 0.75  # one dissenting voice of five is no contest; two of five are


@dataclass(frozen=True, slots=True)
class Recount:
    """The figures of a validation as plain data, those of its judges and writers apart, and a row for each item."""

    whole: dict[str, Any]
    people: dict[str, Any]
    items: dict[int, ItemFigures]


def recount(db: Session, validation: ValidationInfo) -> Recount:
    """Count everything from one reading of the judgements."""
    evidence = gather(db, validation)
    figures = measure(evidence)
    final = final_labels(db, validation, evidence, figures)
    ids = item_queries.item_ids(db, validation.id)
    rows = item_rows(final, ids)
    slots, parts = slot_queries.counts(db, validation.id), item_queries.parts(db, validation.id)
    whole = {
        "judgements": queries.count(db, validation.id),
        "slots": {state.value: count for state, count in slots.items()},
        "progress": _progress(validation, evidence, final, parts, slots),
        "parts": [list(part) for part in parts],
        "agreement": agreement_of(final.compared),
        "labels": _label_counts(final),
        "confusion": confusion(evidence, final),
        "contested": sum(row.contested for row in rows.values()),
        "states": _states(rows),
        "batches": batches(db, validation),
    }
    people = {"judges": _judges(evidence, figures), "rates": _rates(tally(db, validation, final))}
    return Recount(whole, people, {**rows, **gold_rows(evidence)})


def _progress(
    validation: ValidationInfo,
    evidence: Evidence,
    final: FinalLabels,
    parts: Sequence[PartCount],
    slots: Mapping[SlotState, int],
) -> ItemProgress:
    table = evidence.table
    gold = int((table.gold != "").sum())
    saved = _saved(final) if validation.policy.adaptive else 0
    settled = int(final.asked[final.complete & ~final.decided].sum())
    return ItemProgress(
        items=sum(part.items for part in parts),
        complete=int(final.complete.sum()),
        labelled=int((final.complete & (final.label != NONE)).sum()),
        judgements=len(table) - gold,
        gold_judgements=gold,
        counted=len(evidence.counted),
        kept=int(final.kept.sum()),
        set_aside=len(table) - gold - len(evidence.counted),
        late=int(table.late.sum()),
        slots={state.value: count for state, count in slots.items()},
        # What an adaptive policy has not had to ask for, as far as the items are complete.
        saved=saved,
        saved_share=saved / settled if settled else 0.0,
        asked_without_adapting=sum(
            (part.items - part.often) * validation.policy.judgements + part.asked for part in parts
        ),
    )


def _saved(final: FinalLabels) -> int:
    over = final.complete & ~final.decided
    return int(np.maximum(final.asked - final.compared.sizes(), 0)[over].sum())


def agreement_of(judgements: Judgements) -> dict[str, Any]:
    """Return the statistics of agreement of the judgements that are kept."""
    if not len(judgements):
        return {"reason": "there are no judgements yet"}
    return measure_agreement(judgements, resamples=RESAMPLES).as_dict()


def _label_counts(final: FinalLabels) -> dict[str, int]:
    counts = np.bincount(final.label[final.complete] + 1, minlength=len(final.classes) + 1)
    return {**{name: int(counts[code + 1]) for code, name in enumerate(final.classes)}, "no majority": int(counts[0])}


def confusion(evidence: Evidence, final: FinalLabels) -> JudgedConfusion:
    """Count what judges said (columns) where the label is what the rows say, over all judgements that count."""
    counted = evidence.counted
    label = final.label[counted.item] if len(counted) else np.zeros(0, dtype=np.int64)
    is_labelled = label != NONE
    size = len(final.classes)
    cells = np.bincount(label[is_labelled] * size + counted.label[is_labelled], minlength=size * size).reshape(
        size, size
    )
    return JudgedConfusion(list(final.classes), cells.tolist())


def batches(db: Session, validation: ValidationInfo) -> list[Batch]:
    """List the batches with how far they are."""
    listed = []
    for batch, counts in slot_queries.batch_counts(db, validation.id).items():
        waiting = any(state.is_pending for state in counts)
        total = sum(counts.values()) - counts.get(SlotState.DROPPED, 0)
        listed.append(Batch(batch + 1, total, counts.get(SlotState.FILLED, 0), done=not waiting))
    return listed


def contested_places(final: FinalLabels) -> IntArray:
    """Return the places of contested items: those without a label first, then the least sure ones."""
    if not len(final.items):
        return np.zeros(0, dtype=np.int64)
    total, share = final.votes.sum(axis=1), final.confidence
    narrow = final.complete & ~final.decided & (total > 1) & ((final.label == NONE) | (share < NARROW))
    places = np.flatnonzero(narrow)
    return np.asarray(places[np.lexsort((final.items[places], share[places], final.label[places] != NONE))])


def item_rows(final: FinalLabels, ids: IntArray) -> dict[int, ItemFigures]:
    """Return a row for each of the items *ids*, judged or not."""
    rows = {int(one): ItemFigures(int(one), "waiting", False, None, 0, None, 0.0, False, {}) for one in ids}
    if not len(final.items):
        return rows
    contested = np.zeros(len(final.items), dtype=bool)
    contested[contested_places(final)] = True
    total = final.votes.sum(axis=1)
    share = final.votes.max(axis=1, initial=0) / np.maximum(total, 1)
    labelled = final.label != NONE
    sureness = np.where(labelled, final.confidence, final.confidence - 2.0)
    state = np.where(~final.complete, "waiting", np.where(labelled, "labelled", "undecided"))
    columns = (final.items, state, contested, total, share, sureness, final.decided)
    votes = _votes(final)
    for at, (item, how, narrow, votes_cast, part, sure, by_expert) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        if item in rows:
            label = final.classes[final.label[at]] if labelled[at] else None
            rows[item] = ItemFigures(
                item, how, narrow, label, votes_cast, part if votes_cast else None, sure, by_expert, votes[at]
            )
    return rows


def gold_rows(evidence: Evidence) -> dict[int, ItemFigures]:
    """Return a row for each gold item that was answered: how often, and which share was right."""
    asked = evidence.table.gold != ""
    items, at = np.unique(evidence.table.item[asked], return_inverse=True)
    right = np.bincount(at, evidence.table.label[asked] == evidence.table.gold[asked], minlength=len(items))
    answered = np.bincount(at, minlength=len(items))
    return {
        item: ItemFigures(item, GOLD, False, None, total, good / total, 0.0, False, {})
        for item, total, good in zip(items.tolist(), answered.tolist(), right.tolist(), strict=True)
    }


def _votes(final: FinalLabels) -> list[dict[str, int]]:
    """Return the votes of each item by label, those that there are."""
    votes: list[dict[str, int]] = [{} for _ in final.items]
    places, codes = np.nonzero(final.votes)
    for at, code, count in zip(places.tolist(), codes.tolist(), final.votes[places, codes].tolist(), strict=True):
        votes[at][final.classes[code]] = count
    return votes


def _states(rows: Mapping[int, ItemFigures]) -> list[list[Any]]:
    """Count the items by state, whether they are contested, and label."""
    counts = Counter((row.state, row.contested, row.label or "") for row in rows.values())
    return [[*key, number] for key, number in sorted(counts.items())]


def _judges(evidence: Evidence, figures: Figures) -> dict[str, list[Any]]:
    """Return the figures of the judges as columns; people by their ids, since names can change and be erased."""
    patterns_of = patterns(evidence, figures)
    return {
        "user": figures.users.tolist(),
        "judgements": figures.judgements.tolist(),
        "compared": figures.compared.tolist(),
        "agreed": figures.agreed.tolist(),
        "gold_seen": figures.gold_seen.tolist(),
        "gold_right": figures.gold_right.tolist(),
        "right": figures.right.tolist(),
        "wrong": figures.wrong.tolist(),
        "seconds": [None if np.isnan(one) else one for one in figures.seconds.tolist()],
        "patterns": [list(patterns_of[user]) for user in figures.users.tolist()],
    }


def _rates(counted: Tallies) -> dict[str, Any]:
    """Return the rates, the writers with most items first."""

    def named(tallies: Mapping[Any, OutcomeTally]) -> list[list[Any]]:
        return [[name, one.rates()] for name, one in sorted(tallies.items())]

    writers = sorted(counted.writers.items(), key=lambda pair: (-pair[1].collected, pair[0]))
    return {
        "whole": counted.whole.rates(),
        "models": named(counted.models),
        "labels": named(counted.labels),
        "writers": [[user, one.rates()] for user, one in writers],
    }
