"""The gold items of a validation as a list: which are used, and how judges do on each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.core.records.figures import Estimate
from quintain.core.records.judging import GOLD_USES, Gold, GoldItems
from quintain.services.access.permissions import require_owner
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.quality.gold_quiz import asked_in, text_of
from quintain.services.validate.quality.validation_figures import validation_figures
from quintain.stats.workers import wilson
from quintain.store.queries.validate import gold_items as queries
from quintain.store.queries.validate.gold_items import GoldCount, GoldFilter
from quintain.store.tables import ValidationItem

GoldOrder = Literal["added", "text", "label", "shown", "accuracy"]
GOLD_ORDERS: tuple[GoldOrder, ...] = get_args(GoldOrder)
NO_ANSWERS = Estimate(None, reason="nobody has answered it yet")


@dataclass(frozen=True, slots=True)
class GoldQuery:
    """Which gold items: `used` or `retired` ones, whose inputs contain a *text*; in what order, and which of them."""

    use: str = ""
    text: str = ""
    order: str = "added"
    down: bool = False
    offset: int = 0
    limit: int = 50


def list_gold(db: Session, actor: Actor, ref: str, query: GoldQuery | None = None) -> GoldItems:
    """List gold items with how judges do on them: one that most get wrong may itself be wrong.

    What is said of each is counted now, of those that are listed; sorted they are by what was counted last.
    """
    query = query or GoldQuery()
    _check(query)
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    as_of = validation_figures(db, validation).as_of if query.order == "accuracy" else None
    use: dict[str, int] = {one: queries.count(db, validation.id, GoldFilter(one)) for one in GOLD_USES}
    chosen = GoldFilter(query.use, query.text.strip())
    total = queries.count(db, validation.id, chosen)
    first = min(query.offset, max(total - 1, 0) // query.limit * query.limit)  # beyond the end: the last page
    items = queries.page(db, validation.id, chosen, order=query.order, down=query.down, offset=first, limit=query.limit)
    counts, asked = queries.counts(db, items), asked_in(db, validation.task.name)
    listed = [_row(item, counts[item.id], asked.get(text_of(item.inputs), "")) for item in items]
    return GoldItems(listed, total, use, as_of=as_of)


def _row(item: ValidationItem, count: GoldCount, quiz: str) -> Gold:
    low, high = wilson(np.array([count.right]), np.array([count.answered]))
    known = Estimate(count.right / count.answered, float(low[0]), float(high[0])) if count.answered else NO_ANSWERS
    return Gold(
        id=item.id,
        inputs=dict(item.inputs),
        label=item.gold or "",
        note=item.gold_note,
        shown=count.shown,
        answered=count.answered,
        right=count.right,
        accuracy=known,
        retired=item.retired_at is not None,
        quiz=quiz,
    )


def _check(query: GoldQuery) -> None:
    if query.use and query.use not in GOLD_USES:
        raise BadInput(
            "Gold items are not '{use}'.", use=query.use, known=", ".join(GOLD_USES), remedy="Use one of {known}."
        )
    if query.order not in GOLD_ORDERS:
        raise BadInput(
            "Gold items are not ordered by '{order}'.",
            order=query.order,
            known=", ".join(GOLD_ORDERS),
            remedy="Use one of {known}.",
        )
