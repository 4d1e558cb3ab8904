"""One vote for one person, though they come by several panel ids: people of one source judge an item once.

Ids cost nothing to invent. People who came by the same browser or from the same address are taken for one, unless the
panel or an owner has confirmed both of them: what one of them was shown, the others are not given, nor what one of them
wrote. That holds for judging, for grading in trials and for pairs of contests. Nothing that was done is refused; once
they are confirmed, each is a person of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.services.collect.panels.entry_codes import NAMES
from quintain.services.validate.types import ValidationInfo
from quintain.store.database import lock
from quintain.store.queries.collect import guests
from quintain.store.queries.validate import shared_source as queries


def people_of_same_source(db: Session, actor: Actor, task_id: int) -> list[int]:
    """Return the people who may be the actor under other ids; only whom a panel sent can have any."""
    if actor.user_id is None or not actor.name.startswith(NAMES):
        return []
    return guests.of_one_source(db, actor.user_id, task_id)


def items_left(db: Session, validation: ValidationInfo, users: Sequence[int]) -> list[int]:
    """Choose items for a page that none of *users* wrote or was shown; in a transaction, one after the other."""
    lock(db, f"judges of one source in {validation.id}")
    return queries.items_left(db, validation.id, users, validation.policy.page_size)
