"""Items that nobody of several people wrote or was shown."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.core.validation import SlotState
from quintain.store.tables import Offer, Slot


def items_left(db: Session, validation_id: int, users: Sequence[int], count: int) -> list[int]:
    """List items with open slots that none of *users* wrote or was shown, in the order in which they are handed out."""
    slot = Slot
    shown = select(Offer.id).where(Offer.item_id == slot.item_id, Offer.user_id.in_(users))
    query = (
        select(slot.item_id)
        .where(slot.validation_id == validation_id, slot.state == SlotState.OPEN.value)
        .where(slot.author_id.is_(None) | slot.author_id.not_in(users), ~shown.exists())
        .group_by(slot.item_id)
        .order_by(func.min(slot.batch), func.min(slot.rank), func.min(slot.draw))
        .limit(count)
    )
    return list(db.scalars(query))
