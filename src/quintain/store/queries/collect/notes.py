"""What writers add to what they wrote."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.store.base import table_of
from quintain.store.queries.collect.attempts import is_agreed
from quintain.store.tables import Attempt, AttemptNote


def newest_texts(db: Session, round_id: int, kind: str, most: int) -> list[str]:
    """Return the texts of a round's newest notes of one kind."""
    query = (
        select(AttemptNote.text)
        .join(Attempt, Attempt.id == AttemptNote.attempt_id)
        .where(Attempt.round_id == round_id, AttemptNote.kind == kind)
        .order_by(AttemptNote.id.desc())
        .limit(most)
    )
    return [*db.scalars(query)]


def texts_in_session(db: Session, session_id: int, kind: str, *, fooling: bool) -> list[str]:
    """List the texts of notes of one kind on what was written in a session; if *fooling*, on what fooled the model."""
    query = (
        select(AttemptNote.text)
        .join(Attempt, Attempt.id == AttemptNote.attempt_id)
        .where(Attempt.session_id == session_id, AttemptNote.kind == kind)
        .order_by(AttemptNote.id)
    )
    fooled = (Attempt.fooled.is_(True), is_agreed(table_of(Attempt)))
    return [*db.scalars(query.where(*fooled) if fooling else query)]


def texts_of(db: Session, attempts: Sequence[int], kind: str) -> dict[int, str]:
    """Return the note of one kind on each of some attempts."""
    query = select(AttemptNote.attempt_id, AttemptNote.text).where(
        AttemptNote.attempt_id.in_(attempts), AttemptNote.kind == kind
    )
    return {row.attempt_id: row.text for row in db.execute(query)}
