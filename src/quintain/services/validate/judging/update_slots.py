"""What follows for an item's slots when one of them was filled or opened again.

Filled slots come first in rank, so that the rank of an open slot says how many judgements its item has or is getting.
With an adaptive policy, an item whose label is sure and has its minimum of votes needs no more slots; any other gets
another one. Items that were drawn to be judged often keep all their slots.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.validation import Adaptive, SlotState
from quintain.services.validate.labels import choices, writers_label
from quintain.services.validate.types import ValidationInfo, slot_rows
from quintain.stats.adaptive import Stopping, is_enough
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.one_coin import vote_log_odds
from quintain.store.queries.validate import items as item_queries
from quintain.store.queries.validate import judgements as judgement_queries
from quintain.store.queries.validate import slots as slot_queries
from quintain.store.queries.validate.slots import SlotRow
from quintain.store.tables import ValidationItem


def update_slots(db: Session, validation: ValidationInfo, slots: Sequence[SlotRow]) -> None:
    """Put the slots of items in order and save them; *slots* are all those of each item, locked by the caller."""
    by_item: dict[int, list[SlotRow]] = {}
    for slot in slots:
        by_item.setdefault(slot.item_id, []).append(slot)
    for own in by_item.values():
        by_rank = sorted(
            (slot for slot in own if slot.state != SlotState.DROPPED),
            key=lambda listed: (listed.state != SlotState.FILLED, listed.rank),
        )
        for rank, slot in enumerate(by_rank):
            slot.rank = rank
    slot_queries.save(db, slots)
    if validation.policy.adaptive is not None and by_item:
        _adapt(db, validation, validation.policy.adaptive, by_item)


def ask_again(db: Session, validation: ValidationInfo, items: Sequence[ValidationItem]) -> None:
    """Ask for what is missing about items that come back after they had been taken out.

    That is what was not asked for any more, and what was set aside meanwhile or said by who is the writer now.
    """
    settled = item_queries.settled(db, [item.id for item in items])
    authors = {item.id: item.author_id for item in items if item.id not in settled}
    slots = slot_queries.of_items(db, list(authors))
    givers = judgement_queries.givers(db, [slot.judgement_id for slot in slots if slot.judgement_id is not None])
    aside = judgement_queries.set_aside(db, validation.id)
    for slot in slots:
        slot.author_id = authors[slot.item_id]
        judgement = slot.judgement_id or 0
        giver = givers.get(judgement)
        void = giver is not None and (giver == slot.author_id or judgement <= aside.get(giver, 0))
        if slot.state == SlotState.DROPPED or void:
            slot.state, slot.judgement_id = SlotState.OPEN.value, None
            slot.generation += 1
    update_slots(db, validation, slots)


def _adapt(db: Session, validation: ValidationInfo, adaptive: Adaptive, by_item: dict[int, list[SlotRow]]) -> None:
    settled = item_queries.settled(db, list(by_item))
    items = item_queries.items(db, [item_id for item_id in by_item if item_id not in settled])
    # What was drawn to be judged often is, however sure its label: that is what the sample is for.
    by_item = {item_id: by_item[item_id] for item_id, item in items.items() if item.asked is None}
    if not by_item:
        return
    scored = _scores(db, validation, adaptive, list(by_item))
    most = validation.policy.judgements
    stopping = Stopping(most, validation.policy.minimum, adaptive.least, adaptive.threshold)
    more: list[int] = []
    for item_id, own in by_item.items():
        filled = sum(slot.state == SlotState.FILLED for slot in own)
        if is_enough(*scored[item_id], filled, stopping)[0]:
            for slot in own:
                if slot.state == SlotState.OPEN:
                    slot.state = SlotState.DROPPED.value
        elif filled < most and not any(SlotState(slot.state).is_pending for slot in own):
            dropped = next((slot for slot in own if slot.state == SlotState.DROPPED), None)
            if dropped is not None:
                dropped.state, dropped.rank, dropped.generation = SlotState.OPEN.value, filled, dropped.generation + 1
            else:
                more.append(item_id)
    slot_queries.save(db, (slot for own in by_item.values() for slot in own))
    for item_id in more:
        item = items[item_id]
        shape = {"hash": item.hash, "batch": item.batch, "author_id": item.author_id}
        rows = slot_rows(validation, [item_id], [shape], len(by_item[item_id]), [1])
        # As if it came back: judges who are past its place in the order must still find it.
        slot_queries.add(db, rows, generation=1)


def _scores(
    db: Session, validation: ValidationInfo, adaptive: Adaptive, item_ids: Sequence[int]
) -> dict[int, tuple[FloatArray, IntArray]]:
    """Return the log scores and the votes of each item's labels, from judgements and writers' votes that count."""
    table = judgement_queries.table(db, validation.id, item_ids)
    aside = judgement_queries.set_aside(db, validation.id)
    known = judgement_queries.accuracies(db, validation.id, set(table.user.tolist()))
    items = item_queries.items(db, item_ids)
    by_item = {}
    for item_id in item_ids:
        names = [label.name for label in choices(validation.task, items[item_id].inputs)]
        scores, votes = np.zeros((1, len(names))), np.zeros((1, len(names)), dtype=np.int64)
        writer = writers_label(validation.task, items[item_id].aim) if validation.policy.writer else None
        if writer in names and items[item_id].author_id is not None:
            scores[0, names.index(writer)] += vote_log_odds(np.array([adaptive.accuracy]), len(names))[0]
            votes[0, names.index(writer)] += 1
        for row in np.flatnonzero(table.item == item_id):
            user = int(table.user[row])
            if table.id[row] > aside.get(user, 0) and table.label[row] in names:
                accuracy = np.array([known.get(user, adaptive.accuracy)])
                at = names.index(table.label[row])
                scores[0, at] += vote_log_odds(accuracy, len(names))[0]
                votes[0, at] += 1
        by_item[item_id] = scores, votes
    return by_item
