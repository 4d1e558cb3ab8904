"""What the figures of a round rest on, by the ends of indices: asked at every look, so that no table is read."""

from __future__ import annotations

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from quintain.store.tables import Attempt

WINDOW = 2000  # ids within which somebody may still commit what they began earlier
_ATTEMPTS = text(
    f"""SELECT max(id), count(*) FROM attempts WHERE round_id = :round AND id > (
        SELECT coalesce(max(id), 0) - {WINDOW} FROM attempts WHERE round_id = :round
    )"""  # noqa: S608 - a number of our own
)
# What is said of attempts, and decided, is short beside them; that of other rounds makes a figure outrun at worst.
_SAID = [
    text(f"SELECT max(id), count(*) FROM {name} WHERE id > (SELECT coalesce(max(id), 0) - {WINDOW} FROM {name})")  # noqa: S608
    for name in ("attempt_notes", "attempt_flags", "flag_decisions")
]


def newest_facts(db: Session, round_id: int) -> str:
    """Return a text that changes with the attempts of a round, and with what was said of attempts.

    The newest id alone would not do: what gets an id first may be committed last. So the last few are counted, too.
    """
    connection = db.connection()
    ends = [connection.execute(_ATTEMPTS, {"round": round_id}).one(), *(connection.execute(one).one() for one in _SAID)]
    return "/".join(f"{newest or 0}.{number}" for newest, number in ends)


def count_to(db: Session, round_id: int, most: int) -> int:
    """Count the attempts of a round, and no further than *most*."""
    some = select(Attempt.id).where(Attempt.round_id == round_id).limit(most).subquery()
    return db.scalar(select(func.count()).select_from(some)) or 0
