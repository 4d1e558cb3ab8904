"""The last slots of a validation: handed out so that they can be filled, and who is needed where they cannot."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.records.validate import Waiting
from quintain.services.validate.types import QUALIFICATION, ValidationInfo
from quintain.stats.sharing_out import BoolArray, order_for
from quintain.store.base import now
from quintain.store.queries.access.people import names as people_names
from quintain.store.queries.validate import slots, tails
from quintain.store.queries.validate.tails import TailItem

LATELY = timedelta(hours=1)  # whoever took a page since then is reckoned with, or within four leases
LEASES = 4
EVER = datetime(1970, 1, 1, tzinfo=UTC)
ASKED = 100  # judges who are looked at for who could still help
NAMED = 5


def _advice(judgements: int, stuck: int, people: int, judges: Sequence[str]) -> str:
    """Return a sentence on who is needed."""
    if stuck:
        more = "one more person" if people == 1 else f"{people} more people"
        if stuck == 1:
            return f"1 item waits for somebody who has not seen it: invite {more}."
        return f"{stuck} items wait for somebody who has not seen them: invite {more}."
    wait = "1 judgement is" if judgements == 1 else f"{judgements} judgements are"
    return f"{wait} missing; {', '.join(judges)} can still give them."


def order_remaining(db: Session, validation: ValidationInfo, user_id: int, moment: datetime, count: int) -> list[int]:
    """Return the items of the tail that a person may judge, those first that the others can do without."""
    items = tails.tail(db, validation.id, moment)
    since = moment - max(LATELY, LEASES * timedelta(seconds=validation.policy.lease_seconds))
    others = tails.helpers(db, validation.id, validation.task_id, QUALIFICATION, since)
    shown = {user_id: 0, **{other.user_id: other.shown for other in others}}
    may = _may(db, list(shown), items)
    taken = np.array(list(shown.values()), dtype=np.int64)
    places = np.array([item.open for item in items], dtype=np.int64)
    return [items[place].id for place in order_for(0, places, may, taken, count).tolist()]


def who_is_missing(db: Session, validation: ValidationInfo) -> Waiting | None:
    """Return what the last open slots wait for; None while there are many, or none, or somebody is at a page."""
    moment = now()
    if tails.is_long(db, validation.id):
        return None
    items = tails.tail(db, validation.id, moment)
    known = tails.helpers(db, validation.id, validation.task_id, QUALIFICATION, EVER, ASKED)
    if not items or not known:
        return None
    people = [one.user_id for one in known]
    may = _may(db, people, items)
    places = np.array([item.open for item in items], dtype=np.int64)
    missing = np.maximum(places - may.sum(axis=0), 0)
    stuck = int((missing > 0).sum())
    if not stuck and slots.is_leased(db, validation.id, moment):
        return None
    able = may.sum(axis=1)
    best = [place for place in np.argsort(-able, kind="stable")[:NAMED].tolist() if able[place]]
    names = people_names(db, people)
    judges = [names[people[place]] for place in best]
    open_slots, more = int(places.sum()), int(missing.max())
    return Waiting(len(items), open_slots, stuck, more, judges, _advice(open_slots, stuck, more, judges))


def _may(db: Session, people: Sequence[int], items: Sequence[TailItem]) -> BoolArray:
    """Return who may judge what: what they neither wrote nor were shown."""
    row = {user: at for at, user in enumerate(people)}
    column = {item.id: at for at, item in enumerate(items)}
    may = np.ones((len(people), len(items)), dtype=bool)
    for user, seen in tails.seen(db, people, list(column)):
        may[row[user], column[seen]] = False
    for at, item in enumerate(items):
        if item.author_id in row:
            may[row[item.author_id], at] = False
    return may
