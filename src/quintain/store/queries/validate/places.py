"""How far a judge has come through the open slots, so that a claim does not walk past all that they have seen.

Open slots are claimed by batch, rank and draw. A judge's place in that order says: of the slots before it that were
never leased, of items up to the newest one then, none can ever be this judge's, who has seen or written their items.
Slots that came back have a generation above 0 and an index of their own; where items were added, the place is the
start again. Before a place, then, only what came back has to be looked at.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Integer, column, text
from sqlalchemy.orm import Session

SEASONED = 200  # offers from which on a judge has a place
AHEAD = 500  # open slots that a claim looks at from the place on, with the write lock of SQLite in its hands


class SlotPlace(NamedTuple):
    """A place in the order of open slots."""

    batch: int
    rank: int
    draw: int


class Window(NamedTuple):
    """The part of the open slots that a claim looks at."""

    start: SlotPlace
    end: SlotPlace

    @property
    def whole(self) -> bool:
        """Whether nothing comes after it."""
        return self.end == END


START = SlotPlace(-1, 0, 0)
END = SlotPlace(2**31 - 1, 0, 0)

_COLUMNS = (column("batch", Integer()), column("rank", Integer()), column("draw", Integer()))
_NEWEST = text("SELECT max(id) AS newest FROM validation_items WHERE validation_id = :validation")
_FIND = text("""
    SELECT batch, "rank", draw FROM judge_places
    WHERE validation_id = :validation AND user_id = :user AND newest = (
        SELECT max(id) FROM validation_items WHERE validation_id = :validation
    )""").columns(*_COLUMNS)
_AHEAD = text(f"""
    SELECT batch, rank, draw FROM validation_slots
    WHERE validation_id = :validation AND state = 'open' AND (batch, rank, draw) >= (:batch, :rank, :draw)
    ORDER BY batch, rank, draw LIMIT 1 OFFSET {AHEAD}""").columns(*_COLUMNS)  # noqa: S608 - a number of ours
_LEFT = {
    name: text(f"""
    SELECT s.batch, s.rank, s.draw FROM validation_slots s
    WHERE s.validation_id = :validation AND s.state = 'open'
    AND (s.batch, s.rank, s.draw) >= (:batch, :rank, :draw)
    AND (s.author_id IS NULL OR s.author_id <> :user)
    AND NOT EXISTS (SELECT 1 FROM judging_offers o WHERE o.user_id = :user AND o.item_id = s.item_id {by_index})
    ORDER BY s.batch, s.rank, s.draw LIMIT 1""").columns(*_COLUMNS)  # noqa: S608 - as above
    for name, by_index in (("sqlite", ""), ("postgresql", "OFFSET 0"))
}
_SAVE = text("""
    INSERT INTO judge_places (validation_id, user_id, batch, "rank", draw, newest)
    VALUES (:validation, :user, :batch, :rank, :draw, :newest)
    ON CONFLICT (validation_id, user_id) DO UPDATE SET
    batch = excluded.batch, "rank" = excluded."rank", draw = excluded.draw, newest = excluded.newest""")


def window(db: Session, validation_id: int, user_id: int) -> Window:
    """Return what a claim of this judge looks at: so many open slots from their place on."""
    row = db.connection().execute(_FIND, {"validation": validation_id, "user": user_id}).first()
    return _window(db, validation_id, SlotPlace(*row) if row else START)


def _window(db: Session, validation_id: int, start: SlotPlace) -> Window:
    row = db.connection().execute(_AHEAD, {"validation": validation_id, **start._asdict()}).first()
    return Window(start, SlotPlace(*row) if row else END)


def first_open_from(db: Session, validation_id: int, user_id: int, start: SlotPlace) -> tuple[Window, int]:
    """Find the first open slot from *start* on that can be this judge's, however far; locks nothing.

    Slots that others are about to lease count as open: they may yet let go of them. Also give the newest item, which
    is asked for first: what is added meanwhile makes the place void.
    """
    connection = db.connection()
    newest = connection.execute(_NEWEST, {"validation": validation_id}).scalar() or 0
    params = {"validation": validation_id, "user": user_id, **start._asdict()}
    row = connection.execute(_LEFT[connection.dialect.name], params).first()
    return _window(db, validation_id, SlotPlace(*row) if row else END), int(newest)


def save(db: Session, validation_id: int, user_id: int, slot_place: SlotPlace, newest: int) -> None:
    """Keep a judge's place."""
    params = {"validation": validation_id, "user": user_id, "newest": newest, **slot_place._asdict()}
    db.connection().execute(_SAVE, params)
