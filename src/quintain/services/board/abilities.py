"""Ability on the board: how able models are by item response theory, over the data sets that score.

Whoever looks computes nothing: a job fits the model when runs are done and keeps the abilities; until the next ones are
there, the board shows the last. `quintain.services.study.abilities` has the computation.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.records.figures import Figure
from quintain.core.records.jobs import JobStanding
from quintain.services.jobs import figures, queue
from quintain.services.jobs.figures import ShownFigure
from quintain.store.queries.board import boards as queries
from quintain.store.queries.jobs import figures as kept_queries
from quintain.store.queries.tasks import board_settings

NAME = "ability"
JOB = f"figure:{NAME}"


def basis(db: Session, task: str) -> str:
    """Return what abilities would rest on now: the board's settings, and the runs that are done."""
    settings = board_settings.newest_settings(db, task)
    number, newest = queries.plain_runs(db, task)
    return f"{settings.id if settings else 0}/{number}/{newest.isoformat() if newest else ''}"


def shown_abilities(db: Session, task: str, moment: datetime | None = None) -> ShownFigure:
    """Return the abilities as they are known; the next ones are asked for if runs have outrun them.

    A board that is frozen at *moment* shows none that were computed later, and has none computed.
    """
    stored = kept_queries.figure(db, NAME, task)
    if moment is not None:
        known_then = stored is not None and stored.computed_at <= moment
        return ShownFigure(
            stored.value if stored and known_then else None,
            stored.computed_at if stored and known_then else None,
            fresh=True,
        )
    if stored is not None and stored.basis == basis(db, task):
        return ShownFigure(stored.value, stored.computed_at, fresh=True)
    job = _awake(db, task)
    return ShownFigure(stored.value if stored else None, stored.computed_at if stored else None, fresh=False, job=job)


def figures_of(shown: ShownFigure) -> dict[str, Figure]:
    """Return the ability of each model version as a figure of the board, by its reference."""
    if shown.value is None or shown.computed_at is None:
        return {}
    estimates: Mapping[str, Mapping[str, Any]] = shown.value["models"]
    at = shown.computed_at.isoformat(timespec="seconds")
    return {ref: Figure(**one, n=shown.value["items"], at=at) for ref, one in estimates.items()}


def _awake(db: Session, task: str) -> JobStanding:
    """Have them computed, unless that is on the way."""
    last = queue.newest(db, JOB, task)
    return (
        last
        if last is not None and last.state == "queued"
        else queue.enqueue(db, JOB, task, task=task, rest=figures.REST)
    )
