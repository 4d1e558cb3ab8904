"""How far the trying of a model version is, for whoever shows the version."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.store.queries.models import tried


@dataclass(frozen=True, slots=True)
class TryoutInfo:
    """How far the trial of a version is. *reason* says why it was refused, or why it was put off."""

    state: str
    reason: str
    log: str
    attempts: int


def tryout_of(db: Session, version_id: int) -> TryoutInfo | None:
    """Return the trial of a version; None where it was tried before it was registered."""
    tryout = tried.tryouts(db, [version_id]).get(version_id)
    return None if tryout is None else TryoutInfo(tryout.state, tryout.reason, tryout.log, tryout.attempts)
