"""The queue of contested items, and the decisions of experts on them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Forbidden, NotFound
from quintain.core.people import Actor, RoleName
from quintain.core.records.judging import Contested
from quintain.core.task import normalise_label
from quintain.services.access import audit
from quintain.services.access.permissions import require_role
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.labels import choices, label_fault
from quintain.services.validate.quality.validation_figures import validation_figures
from quintain.services.validate.types import ValidationInfo
from quintain.store.database import transaction
from quintain.store.queries.validate import item_figures
from quintain.store.queries.validate import items as item_queries
from quintain.store.queries.validate import validation as queries
from quintain.store.queries.validate.item_figures import ItemFigures
from quintain.store.tables import Adjudication, ValidationItem


@dataclass(frozen=True, slots=True)
class Queue:
    """Some contested items in order, from the one at *first* on, of *total* that wait."""

    items: list[Contested]
    first: int
    total: int


def adjudication_queue_of(db: Session, actor: Actor, ref: str, *, limit: int = 50) -> list[Contested]:
    """List the items that experts should look at: complete, undecided, without a majority or with the narrowest one.

    Experts are not asked about what they wrote themselves.
    """
    return adjudication_queue(db, actor, ref, limit=limit).items


def adjudication_queue(db: Session, actor: Actor, ref: str, *, first: int = 0, limit: int = 1) -> Queue:
    """Return part of the queue, and how long it is; beyond its end it is the last item."""
    validation = find_validation(db, ref)
    require_role(actor, RoleName.EXPERT, RoleName.OWNER, task=validation.task.name)
    validation_figures(db, validation)
    total = item_figures.count_contested(db, validation.id, actor.user_id)
    first = min(max(first, 0), max(total - 1, 0))
    rows = item_figures.contested(db, validation.id, actor.user_id, offset=first, limit=limit)
    items = item_queries.items(db, [row.item_id for row in rows])
    listed = [_contested(validation, row, items[row.item_id]) for row in rows]
    return Queue(listed, first, total)


def _contested(validation: ValidationInfo, row: ItemFigures, item: ValidationItem) -> Contested:
    return Contested(
        id=item.id,
        inputs=dict(item.inputs),
        answer=item.answer,
        labels=[label.name for label in choices(validation.task, item.inputs)],
        votes=row.votes,
        label=row.label,
        share=row.share or 0.0,
    )


def adjudicate(db: Session, actor: Actor, ref: str, item_id: int, label: str, *, reason: str = "") -> None:
    """Decide on an item; an empty *label* takes the decision back. The judgements stay as they are."""
    label = normalise_label(label)
    with transaction(db):
        validation = find_validation(db, ref)
        require_role(actor, RoleName.EXPERT, RoleName.OWNER, task=validation.task.name)
        item = item_queries.item_by_id(db, validation.id, item_id)
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
        queries.touch(db, validation.id)
        item_figures.decide(db, item_id, label)
        audit.record(db, actor, "validation.adjudicate", ref, item=item_id, label=label, reason=reason)
