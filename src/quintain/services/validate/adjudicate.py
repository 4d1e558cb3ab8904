"""The queue of contested items, and the decisions of experts on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Forbidden, NotFound
from quintain.core.people import Actor, RoleName
from quintain.core.records.judging import Contested
from quintain.core.task import one_form
from quintain.services.access import audit
from quintain.services.access.permissions import require_role
from quintain.services.validate.final_labels import FinalLabels, final_labels
from quintain.services.validate.judge_figures import measured
from quintain.services.validate.labels import choices, label_fault
from quintain.services.validate.validations import find
from quintain.stats.judgements import NONE
from quintain.store.database import transaction
from quintain.store.queries.validate import validation as queries
from quintain.store.tables import Adjudication


@dataclass(frozen=True, slots=True)
class Queue:
    """Some contested items in order, from the one at *first* on, of *total* that wait."""

    items: list[Contested]
    first: int
    total: int


def queue(db: Session, actor: Actor, ref: str, *, limit: int = 50) -> list[Contested]:
    """List the items that experts should look at: complete, undecided, without a majority or with the narrowest one.

    Experts are not asked about what they wrote themselves.
    """
    return look(db, actor, ref, limit=limit).items


def look(db: Session, actor: Actor, ref: str, *, first: int = 0, limit: int = 1) -> Queue:
    """Give part of the queue, and how long it is; beyond its end it is the last item."""
    validation = find(db, ref)
    require_role(actor, RoleName.EXPERT, RoleName.OWNER, task=validation.task.name)
    known = measured(db, validation)
    final = final_labels(db, validation, known.evidence, known.figures)
    places = contested_places(final)
    own = [] if actor.user_id is None else queries.written_by(db, validation.id, actor.user_id)
    places = places[~np.isin(final.items[places], own)]
    first = min(max(first, 0), max(len(places) - 1, 0))
    found = queries.items(db, final.items[places[first : first + limit]].tolist())
    names = final.names()
    rows = []
    for place in places[first : first + limit].tolist():
        item = found[int(final.items[place])]
        votes = final.votes[place]
        rows.append(
            Contested(
                id=item.id,
                inputs=dict(item.inputs),
                answer=item.answer,
                labels=[label.name for label in choices(validation.task, item.inputs)],
                votes={name: int(count) for name, count in zip(final.classes, votes, strict=True) if count},
                label=names[place],
                share=float(votes.max() / max(votes.sum(), 1)),
            )
        )
    return Queue(rows, first, len(places))


def contested_places(final: FinalLabels) -> Any:
    """Give the places of contested items: those without a label first, then the least sure ones."""
    if not len(final.items):
        return np.zeros(0, dtype=np.int64)
    total, share = final.votes.sum(axis=1), final.confidence
    # One dissenting voice of five is no contest; two of five are.
    narrow = final.complete & ~final.decided & (total > 1) & ((final.label == NONE) | (share < 0.75))
    places = np.flatnonzero(narrow)
    return places[np.lexsort((final.items[places], share[places], final.label[places] != NONE))]


def adjudicate(db: Session, actor: Actor, ref: str, item_id: int, label: str, *, reason: str = "") -> None:
    """Decide on an item; an empty *label* takes the decision back. The judgements stay as they are."""
    label = one_form(label)
    with transaction(db):
        validation = find(db, ref)
        require_role(actor, RoleName.EXPERT, RoleName.OWNER, task=validation.task.name)
        item = queries.item_by_id(db, validation.id, item_id)
        if item is None or item.gold is not None:
            raise NotFound(
                "{ref} has no item {item}.",
                ref=ref,
                item=item_id,
                remedy="`quintain validate adjudicate {ref}` lists some.",
                page="The list of what is to be decided names those there are.",
            )
        if item.author_id is not None and item.author_id == actor.user_id:
            raise Forbidden("Nobody decides on what they wrote themselves.")
        fault = label_fault(validation.task, item.inputs, label) if label else None
        if fault is not None:
            raise BadInput(faults=[fault])
        db.add(Adjudication(item_id=item_id, user_id=actor.user_id, label=label, reason=reason.strip()))
        audit.record(db, actor, "validation.adjudicate", ref, item=item_id, label=label, reason=reason)
