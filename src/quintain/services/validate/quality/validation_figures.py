"""The figures of a validation as they are kept: counted when judgements come in, by a worker, never by who looks.

Where there are few judgements they are counted at once, so that a small site is always up to date.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.people import Actor, RoleName
from quintain.core.records.base import decode, plain
from quintain.core.records.jobs import JobStanding
from quintain.core.records.validate import Batch, ItemProgress, JudgedConfusion
from quintain.services.access.permissions import require_role
from quintain.services.jobs import figures
from quintain.services.jobs.figures import FigureKind, ShownFigure, WithRows
from quintain.services.validate.console.manage import find_validation, list_validations
from quintain.services.validate.quality.recount import recount
from quintain.services.validate.types import ValidationInfo
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.jobs import figures as figure_queries
from quintain.store.queries.validate import item_figures, judgements
from quintain.store.queries.validate import items as item_queries
from quintain.store.queries.validate import validation as queries

SHAPE = 3  # of what is kept: figures of another shape are counted anew
PEOPLE = "validation people"  # kept apart from the rest, and written before it
WRITERS = "validation writers"  # the rates by writer, all of them: nobody needs more than the first for a look
FIRST_WRITERS = 20
NOTHING = ItemProgress(0, 0, 0, 0, 0, 0, 0, 0, 0, {}, 0, 0.0, 0)


@dataclass(frozen=True, slots=True)
class ValidationFigures:
    """What is known of a validation: *whole* is plain data, empty where nothing was counted yet.

    Where it is not *fresh*, it is as of *computed_at*, and *job* counts anew.
    """

    whole: Mapping[str, Any]
    computed_at: datetime | None
    fresh: bool
    job: JobStanding | None

    @property
    def slots(self) -> dict[str, int]:
        """The number of slots by state."""
        return dict(self.whole.get("slots", {}))

    @property
    def judgements(self) -> int:
        """The number of all judgements."""
        return int(self.whole.get("judgements", 0))

    @property
    def contested(self) -> int:
        """The number of contested items."""
        return int(self.whole.get("contested", 0))

    @property
    def progress(self) -> ItemProgress:
        """How many items and judgements there are."""
        return decode(ItemProgress, self.whole["progress"]) if self.whole else NOTHING

    @property
    def confusion(self) -> JudgedConfusion:
        """What judges said where the label is another."""
        return decode(JudgedConfusion, self.whole["confusion"]) if self.whole else JudgedConfusion([], [])

    @property
    def batches(self) -> list[Batch]:
        """How far the batches are."""
        return decode(list[Batch], self.whole.get("batches", []))

    @property
    def counted(self) -> bool:
        """Whether anything was counted yet; otherwise all numbers are 0, and a worker is at it."""
        return bool(self.whole)

    @property
    def as_of(self) -> datetime | None:
        """The time of the figures, where more has come in since; None where they are up to date."""
        return None if self.fresh else self.computed_at


def validation_figures(db: Session, validation: ValidationInfo) -> ValidationFigures:
    """Return what is known of a validation; it is counted anew beside where more has come in."""
    shown = figures.shown_figure(db, None, VALIDATION, validation.ref, task=validation.task.name)
    return ValidationFigures(shown.value or {}, shown.computed_at, shown.fresh, shown.job)


def people_figures(db: Session, validation: ValidationInfo) -> Mapping[str, Any]:
    """Return the figures of judges, and the rates with those of the first writers; empty where nothing is known."""
    figure = figure_queries.figure(db, PEOPLE, validation.ref)
    return figure.value if figure is not None else {}


def all_rates(db: Session, validation: ValidationInfo) -> Mapping[str, Any]:
    """Return the rates with those of every writer; empty where nothing is known."""
    rates, stored = people_figures(db, validation).get("rates", {}), figure_queries.figure(db, WRITERS, validation.ref)
    return {**rates, **stored.value} if rates and stored is not None else rates


def is_large(db: Session, validation: ValidationInfo) -> bool:
    """Whether there is so much to read that nobody should wait for it."""
    return _facts(db, validation.ref) > VALIDATION.at_once


def schedule_refresh(db: Session, validation: ValidationInfo) -> None:
    """Have a validation counted anew where that is left to workers; for other services, in their transaction."""
    if not figures.is_refresh_scheduled(db, VALIDATION, validation.ref) and is_large(db, validation):
        figures.schedule_refresh(db, VALIDATION, validation.ref, task=validation.task.name)


def figure_status(db: Session, actor: Actor, ref: str) -> ShownFigure:
    """Return how old the figures of a validation are, and how far the next ones (owners, experts)."""
    validation = find_validation(db, ref)
    require_role(actor, RoleName.EXPERT, RoleName.OWNER, task=validation.task.name)
    return figure_status_of(validation_figures(db, validation))


def figure_status_of(stored: ValidationFigures) -> ShownFigure:
    """Return the same of what was read already; for other services."""
    return ShownFigure(stored.whole or None, stored.computed_at, stored.fresh, stored.job)


def _basis(db: Session, ref: str) -> str:
    validation = find_validation(db, ref)
    rules = zlib.crc32(repr((validation.policy, validation.task.judgement_labels)).encode())
    return f"{SHAPE}/{queries.newest_facts(db, validation.id, validation.round_id)}/{validation.revision}/{rules:08x}"


def _facts(db: Session, ref: str) -> int:
    """Count the judgements, and no further than matters; items that nobody has judged cost as much to write."""
    validation_id, most = find_validation(db, ref).id, VALIDATION.at_once + 1
    judged = judgements.count_to(db, validation_id, most)
    return judged if judged == most else max(judged, item_queries.count_items_to(db, validation_id, most))


def _compute(db: Session, blobs: Blobs | None, ref: str, tell: figures.ReportProgress) -> WithRows:
    basis, validation = _basis(db, ref), find_validation(db, ref)
    counted = recount(db, validation)
    people: dict[str, Any] = json.loads(json.dumps(counted.people, default=plain, allow_nan=False))
    writers = people["rates"]["writers"]
    people["rates"]["writers"] = writers[:FIRST_WRITERS]
    apart = {WRITERS: {"writers": writers}, PEOPLE: people}

    def keep(db: Session) -> int:
        wrong = item_figures.keep(db, validation.id, counted.items)
        before = {name: figure_queries.figure(db, name, ref) for name in apart}
        wrong += sum(kept is None or kept.value != apart[name] for name, kept in before.items())
        with transaction(db):
            for name, value in apart.items():
                figure_queries.put(db, name, ref, basis=basis, value=value, at=now(), seconds=0.0)
        return wrong

    return WithRows(json.loads(json.dumps(counted.whole, default=plain, allow_nan=False)), keep)


VALIDATION = FigureKind(
    "validation", basis=_basis, facts=_facts, compute=_compute, subjects=list_validations, rows=True
)
