"""The end of a writing session: what was done is paid, and the prompt goes back."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.services.collect.rounds import RoundInfo
from quintain.services.pay import earnings
from quintain.store.base import now
from quintain.store.queries.collect import prompts
from quintain.store.tables import WritingSession


def end(db: Session, info: RoundInfo, row: WritingSession, outcome: str) -> None:
    """End a session inside a transaction: pay it, and give its prompt back."""
    row.ended_at, row.outcome = now(), outcome
    db.flush()
    earnings.earn_session(db, info.spec, info.task_id, row, full=outcome in {"fooled", "exhausted"})
    if row.prompt_id is not None:
        prompts.release(db, row.prompt_id, row.generation)
