"""The judging of the first round: items with filled slots, pages, offers, judgements, gold, and a review of it all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count

import numpy as np
from sqlalchemy import select

from big.boards import LABELS, texts
from big.loading import CHUNK, Loader, packed
from big.people import People
from big.rounds import Written
from big.sizes import PAGE, REGULAR, SLOTS, TASK, Size
from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.validate.console.manage import find_validation, open_validation
from quintain.services.validate.quality.gold import add_gold
from quintain.services.validate.types import QUALIFICATION, ValidationInfo, slot_rows
from quintain.store.database import transaction
from quintain.store.queries.validate.intake import mark
from quintain.store.queries.validate.slots import NEW
from quintain.store.tables import (
    Judgement,
    JudgePlace,
    JudgingPage,
    Offer,
    Qualification,
    Slot,
    Validation,
    ValidationItem,
)

REF = f"{TASK}/1"
STAND_IN = "before-1"  # the judging begins without the round's attempts: those are loaded
POLICY = """
judgements = 5
minimum = 3
page_size = 10
items = "all"
[gold]
rate = 0.1
exposures = 1000
per_worker = 200
below = 0.1
[reward]
amount = 25
[[rules]]
rule = "disagreement"
limit = 0.99
least = 10
"""
OPEN_SHARE = 50  # of every so many items, the newest have open slots
MINUTES = 3.0


@dataclass(frozen=True, slots=True)
class Page:
    """A page that somebody handed in: its id, the judge, which slot of which items, and which gold item."""

    id: int
    user: int
    k: int
    items: range
    gold: int
    at: datetime


def begin(workspace: Workspace, load: Loader, size: Size, written: Written, begun: datetime) -> ValidationInfo:
    """Open the judging under a name of its own, add gold, and give it the round: the items are loaded after."""
    with workspace.session() as db:
        open_validation(db, OPERATOR, f"{TASK}/{STAND_IN}", POLICY)
        known = texts(123, size.gold)
        rows = [{"inputs": {"text": text}, "label": LABELS[n % 3]} for n, text in enumerate(known)]
        add_gold(db, OPERATOR, f"{TASK}/{STAND_IN}", rows)
        with transaction(db):
            row = db.scalars(select(Validation).where(Validation.name == STAND_IN)).one()
            row.name, row.round_id = "1", written.rounds[0]
            row.seen_to = mark(db, written.rounds[0])
            row.created_at = begun
        return find_validation(db, REF)


def add_items(load: Loader, size: Size, validation: ValidationInfo, written: Written, begun: datetime) -> int:
    """Add an item for every attempt; give the id of the first."""
    first, at = load.next_id(ValidationItem), load.when(begun)
    load.add(
        ValidationItem,
        (
            *("id", "validation_id", "attempt_id", "author_id", "batch", "hash", "inputs", "answer", "aim"),
            *("predictions", "source", "gold_note", "created_at"),
        ),
        (
            (
                *(first + n, validation.id, written.ids[n], written.users[n], n // validation.policy.batch_size),
                *(written.hashes[n], packed({"text": written.texts[n]}), packed(written.targets[n])),
                *(written.targets[n], written.predictions[n], packed({}), "", at),
            )
            for n in range(size.judged)
        ),
    )
    return first


def add_slots(
    load: Loader, size: Size, validation: ValidationInfo, written: Written, first_item: int, filled: dict[int, int]
) -> int:
    """Add five slots for every item; *filled* has the judgements by the places of their slots. Give the first id."""
    first = load.next_id(Slot)

    def rows() -> Iterator[tuple[object, ...]]:
        numbers = count()
        for start in range(0, size.judged, CHUNK):
            places = range(start, min(start + CHUNK, size.judged))
            items = [
                {
                    "hash": written.hashes[n],
                    "batch": n // validation.policy.batch_size,
                    "author_id": written.users[n],
                }
                for n in places
            ]
            for row in slot_rows(validation, [first_item + n for n in places], items, 0, [SLOTS] * len(items)):
                place = next(numbers)
                judgement = filled.get(place)
                state = "open" if judgement is None else "filled"
                yield (first + place, *row, state, 0 if judgement is None else 1, judgement)

    load.add(Slot, ("id", *NEW, "state", "generation", "judgement_id"), rows())
    return first


def pages_of(load: Loader, size: Size, people: People, begun: datetime) -> list[Page]:
    """Share the slots out: nine items and a gold one on a page, the five slots of an item with five judges."""
    first, found = load.next_id(JudgingPage), []
    seen: dict[int, int] = {}
    for chunk, start in enumerate(range(0, size.judged, REGULAR)):
        items = range(start, min(start + REGULAR, size.judged))
        open_ones = start >= size.judged - size.judged // OPEN_SHARE
        for k in range(2 if open_ones else SLOTS):
            judge = (chunk + chunk // size.judges * 7 + k * (size.judges // SLOTS)) % size.judges
            turn = seen.get(judge, 0)
            seen[judge] = turn + 1
            number = len(found)
            at = begun + timedelta(seconds=20 * number)
            found.append(Page(first + number, people.judges[judge], k, items, (turn * 17 + judge) % size.gold, at))
    return found


def add_judgements(
    load: Loader, size: Size, validation: ValidationInfo, written: Written, pages: list[Page], first_item: int
) -> int:
    """Add pages, offers and judgements, then the slots that those fill; give how many judgements there are."""
    offer, judgement = load.next_id(Offer), load.next_id(Judgement)
    slot = load.next_id(Slot)
    gold_first = first_item - size.gold
    load.add(
        JudgingPage,
        ("id", "key", "validation_id", "user_id", "size", "lease_until", "started_at", "ended_at", "outcome"),
        (
            (
                *(page.id, f"page-{page.id}", validation.id, page.user, len(page.items) + 1),
                *(load.when(page.at + timedelta(minutes=15)), load.when(page.at)),
                *(load.when(page.at + timedelta(minutes=MINUTES)), "submitted"),
            )
            for page in pages
        ),
    )

    def offers() -> Iterator[tuple[object, ...]]:
        number = count(offer)
        for page in pages:
            for position, item in enumerate(page.items):
                yield (
                    *(next(number), page.id, position, page.user),
                    *(first_item + item, slot + item * SLOTS + page.k, 1),
                )
            yield (next(number), page.id, len(page.items), page.user, gold_first + page.gold, None, 0)

    load.add(Offer, ("id", "page_id", "position", "user_id", "item_id", "slot_id", "generation"), offers())
    filled: dict[int, int] = {}
    total = load.add(
        Judgement,
        ("id", "validation_id", "item_id", "user_id", "offer_id", "label", "late", "seconds", "created_at"),
        _judgement_rows(load, size, validation, written, pages, filled=filled, first=(first_item, offer, judgement)),
    )
    add_slots(load, size, validation, written, first_item, filled)
    return total


def _judgement_rows(
    load: Loader,
    size: Size,
    validation: ValidationInfo,
    written: Written,
    pages: list[Page],
    *,
    filled: dict[int, int],
    first: tuple[int, int, int],
) -> Iterator[tuple[object, ...]]:
    """Give the rows, and note in *filled* which slot each of them fills. Judges are right on most of the items."""
    first_item, offer, judgement = first
    gold_first = first_item - size.gold
    rng = np.random.default_rng(11)
    right = dict(zip(range(size.judges), rng.uniform(0.75, 0.98, size=size.judges), strict=True))
    numbers = count()
    for page in pages:
        at = load.when(page.at + timedelta(minutes=MINUTES))
        draws = rng.random(PAGE)
        accuracy = right[page.user % size.judges]
        for position, item in enumerate(page.items):
            n = next(numbers)
            filled[item * SLOTS + page.k] = judgement + n
            label = _said(written.targets[item], draws[position] < accuracy, item + page.k)
            yield (*(judgement + n, validation.id, first_item + item, page.user, offer + n), label, False, 12.0, at)
        n = next(numbers)
        label = _said(LABELS[page.gold % 3], draws[-1] < accuracy, page.gold)
        yield (judgement + n, validation.id, gold_first + page.gold, page.user, offer + n, label, False, 12.0, at)


def _said(true: str, right: bool, other: int) -> str:
    return true if right else LABELS[(LABELS.index(true) + 1 + other % 2) % 3]


def add_standing(load: Loader, validation: ValidationInfo, people: People, begun: datetime, newest: int) -> None:
    """Let every judge be qualified, and have come through what there was."""
    at = load.when(begun)
    load.add(
        Qualification,
        ("task_id", "user_id", "name", "held", "reason", "created_at"),
        ((validation.task_id, user, QUALIFICATION, True, "", at) for user in people.judges),
    )
    load.add(
        JudgePlace,
        ("validation_id", "user_id", "batch", "rank", "draw", "newest"),
        ((validation.id, user, 0, 0, 0, newest) for user in people.judges),
    )
