"""Coding item by item: take the next, say what it is, go back and say it anew.

An item is kept for who took it, for as long as the owner says. Nobody gets an item that they wrote, or one twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.people import Actor
from quintain.core.records import coding as records
from quintain.services.access.permissions import require_user
from quintain.services.study.coding_figures import keep_figures
from quintain.services.study.codings import CodingInfo, find_coding, info_of, may_take_part, require_open, require_part
from quintain.store.base import now
from quintain.store.database import lock, repeated, transaction
from quintain.store.queries.study import coding as queries
from quintain.store.tables import CodingCode, CodingItem, CodingPlace

MOST_SECONDS = 3600.0
MAX_NOTE = 2000
OFFERED = 4  # of the open codings, the newest are looked at


@repeated
def next_to_code(db: Session, actor: Actor, ref: str) -> records.ItemToCode | None:
    """Lease the next item that *actor* may code, or give the one that they have; None where nothing is left."""
    user_id = require_user(actor)
    with transaction(db):
        info = find_coding(db, ref)
        require_part(actor, info)
        require_open(info)
        lock(db, f"coder {info.id} {user_id}")  # two windows of one person get the same item
        moment = now()
        until = moment + timedelta(minutes=info.spec.minutes)
        slot = queries.draw(db, info.id, user_id, moment, until)
        return _asked(db, info, slot, user_id) if slot else None


def look_back(db: Session, actor: Actor, ref: str, before: int | None = None) -> records.ItemToCode | None:
    """Return the item that *actor* coded last, to code it anew; with *before*, the one that they coded before that."""
    user_id = require_user(actor)
    info = find_coding(db, ref)
    require_part(actor, info)
    require_open(info)
    own = _own_place(db, info, before, user_id) if before is not None else None
    last = queries.last_of(db, info.id, user_id, own.id if own and own.done else None)
    return _asked(db, info, _own_place(db, info, last, user_id), user_id) if last is not None else None


def get_to_code(db: Session, actor: Actor, ref: str, item: int) -> records.ItemToCode:
    """Return an item that *actor* has in hand or has coded."""
    user_id = require_user(actor)
    info = find_coding(db, ref)
    require_part(actor, info)
    return _asked(db, info, _own_place(db, info, item, user_id), user_id)


def code_item(
    db: Session, actor: Actor, ref: str, item: int, categories: Sequence[str], *, note: str = ""
) -> records.CodingProgress:
    """Take down what *actor* says of an item that they have, or say it anew; the newest word counts.

    Who is late keeps the item as long as nobody else took it.
    """
    user_id = require_user(actor)
    with transaction(db):
        info = find_coding(db, ref)
        require_part(actor, info)
        require_open(info)
        chosen = _chosen(info, categories, note)
        lock(db, f"coding {ref}")
        slot = _own_place(db, info, item, user_id)
        moment = now()
        taken = None if slot.done or slot.held_since is None else (moment - slot.held_since).total_seconds()
        seconds = taken if taken is not None and 0 <= taken <= MOST_SECONDS else None
        db.add(CodingCode(place_id=slot.id, user_id=user_id, categories=chosen, note=note.strip(), seconds=seconds))
        slot.done = True
        db.flush()
    keep_figures(db, info)
    places, done, people = queries.counts(db, [info.id])[info.id]
    return records.CodingProgress(places // info.spec.coders, places, done, people)


def coding_offers(db: Session, actor: Actor) -> Iterator[CodingInfo]:
    """Go through the newest open codings that have something for *actor*; panels' links lead to none."""
    user_id = require_user(actor)
    if actor.came_by_door:
        return
    moment = now()
    for row in queries.newest_open(db, OFFERED):
        info = info_of(*row)
        if may_take_part(actor, info) and queries.any_open_to(db, info.id, user_id, moment):
            yield info


def _own_place(db: Session, info: CodingInfo, place_id: int, user_id: int) -> CodingPlace:
    slot = queries.place_of(db, info.id, place_id)
    if slot is None:
        raise NotFound("{ref} has no item {item}.", ref=info.ref, item=place_id)
    if slot.holder_id != user_id:
        raise Conflict(
            "This item is not in your hands any more.",
            remedy="Take the next one.",
            code="coding_lost",
        )
    attempt = db.get_one(CodingItem, slot.item_id).attempt_id
    if attempt is not None and queries.gone_among(db, [attempt]):
        raise Conflict("This text was taken back.", remedy="Take the next one.", code="coding_lost")
    return slot


def _chosen(info: CodingInfo, categories: Sequence[str], note: str) -> list[str]:
    """Return the categories in their order; refuse those that are none, and none at all."""
    faults = [
        Fault("'{name}' is not one of {known}", name=one, known=", ".join(info.spec.categories), field="categories")
        for one in dict.fromkeys(categories)
        if one not in info.spec.categories
    ]
    if not info.spec.several and len(set(categories)) > 1:
        faults.append(Fault("an item is in one category here, or in none", field="categories"))
    if len(note) > MAX_NOTE:
        faults.append(Fault("has more than {most} characters", most=MAX_NOTE, field="note"))
    if faults:
        raise BadInput(faults=faults)
    return [category for category in info.spec.categories if category in categories]


def _asked(db: Session, info: CodingInfo, slot: CodingPlace, user_id: int) -> records.ItemToCode:
    item = db.get_one(CodingItem, slot.item_id)
    code = queries.newest_code(db, slot.id) if slot.done else None
    gone = queries.gone_among(db, [attempt for attempt in item.alike_attempts if attempt is not None])
    beside = item.alike_attempts or [None] * len(item.alike)
    return records.ItemToCode(
        id=slot.id,
        coding=info.ref,
        inputs=item.inputs,
        answer=item.answer if info.spec.answers else None,
        text=item.text,
        alike=tuple(text for text, attempt in zip(item.alike, beside, strict=True) if attempt not in gone),
        chosen=tuple(code.categories) if code else None,
        note=code.note if code else "",
        lease_until=None if slot.done else slot.lease_until,
        mine=queries.count_by(db, info.id, user_id),
    )
