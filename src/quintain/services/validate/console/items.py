"""The items of a validation as a list: what became of each, by state and label, and those whose text says something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.core.records.validate import STATES, ItemState, JudgedItem, JudgedItems
from quintain.services.access.permissions import require_owner
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.quality.validation_figures import validation_figures
from quintain.store.queries.validate import item_figures
from quintain.store.queries.validate import items as item_queries
from quintain.store.queries.validate.item_figures import ItemFigures, ItemFilter
from quintain.store.tables import ValidationItem

ItemOrder = Literal["item", "share", "judgements", "label"]
ORDERS: tuple[ItemOrder, ...] = get_args(ItemOrder)


@dataclass(frozen=True, slots=True)
class ItemQuery:
    """Which items: of a *state*, with a *label*, whose inputs contain a *text*; in what order, and which of them.

    Contested items are those that experts should look at; undecided ones are complete and have no majority.
    """

    state: str = ""
    label: str = ""
    text: str = ""
    order: str = "item"
    down: bool = False
    offset: int = 0
    limit: int = 25


def list_items(db: Session, actor: Actor, ref: str, query: ItemQuery | None = None) -> JudgedItems:
    """List items of a validation, for its owner, as they were counted last."""
    query = query or ItemQuery()
    _check(query)
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    figures = validation_figures(db, validation)
    chosen = ItemFilter(query.state, query.label, query.text.strip())
    total = _total(db, validation.id, chosen, figures.whole.get("states", []))
    first = min(query.offset, max(total - 1, 0) // query.limit * query.limit)  # beyond the end: the last page
    rows = item_figures.page(
        db, validation.id, chosen, order=query.order, down=query.down, offset=first, limit=query.limit
    )
    items = item_queries.items(db, [row.item_id for row in rows])
    copies = item_queries.copied(db, validation.id, [item.hash for item in items.values()])
    listed = [_row(row, items[row.item_id], copies) for row in rows]
    counts, searched = _counts(figures.whole.get("states", [])), _searched(db, validation.id, chosen)
    return JudgedItems(listed, total, counts, as_of=figures.as_of, searched=searched, counted=figures.counted)


def _searched(db: Session, validation_id: int, chosen: ItemFilter) -> int | None:
    """Return among how many of the newest items a text was looked for, where that is not among all."""
    most = item_queries.SEARCHED
    if not chosen.text or item_queries.count_items_to(db, validation_id, most + 1) <= most:
        return None
    return most


def _total(db: Session, validation_id: int, chosen: ItemFilter, states: Sequence[Sequence[Any]]) -> int:
    """Return how many items fit: by what is kept, unless a text is looked for."""
    if chosen.text:
        return item_figures.count(db, validation_id, chosen)
    return sum(
        number
        for state, contested, label, number in states
        if (not chosen.label or label == chosen.label)
        and (not chosen.state or state == chosen.state or (chosen.state == "contested" and contested))
    )


def _counts(states: Sequence[Sequence[Any]]) -> dict[str, int]:
    """Count the items in each state; contested ones have another one, too."""
    counts: dict[str, int] = dict.fromkeys(STATES, 0)
    for state, contested, _label, number in states:
        counts[state] += number
        counts["contested"] += number if contested else 0
    return counts


def _check(query: ItemQuery) -> None:
    if query.state and query.state not in STATES:
        raise BadInput(
            "'{state}' is no state of items.",
            state=query.state,
            known=", ".join(STATES),
            remedy="Use one of {known}.",
        )
    if query.order not in ORDERS:
        raise BadInput(
            "Items are not ordered by '{order}'.",
            order=query.order,
            known=", ".join(ORDERS),
            remedy="Use one of {known}.",
        )


def _row(row: ItemFigures, item: ValidationItem, copies: set[str]) -> JudgedItem:
    return JudgedItem(
        id=item.id,
        inputs=dict(item.inputs),
        state=cast(ItemState, row.state),
        contested=row.contested,
        label=row.label,
        votes=row.votes,
        share=row.share,
        by_expert=row.by_expert,
        gold=item.hash in copies,
    )
