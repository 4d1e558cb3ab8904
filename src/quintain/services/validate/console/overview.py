"""All that the owner's console shows of a validation, from one look at what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.jobs import JobStanding
from quintain.core.records.validate import Act, JudgingNote, Validation, ValidationProgress
from quintain.services.access.permissions import require_owner
from quintain.services.jobs.figures import ShownFigure
from quintain.services.validate.console import audit_trail, prepare, status
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.quality import validation_figures
from quintain.services.validate.quality.judges import JudgeList
from quintain.services.validate.quality.validation_figures import ValidationFigures
from quintain.services.validate.types import ValidationInfo
from quintain.store.queries.validate import validation as queries


@dataclass(frozen=True, slots=True)
class Console:
    """A validation as its owner sees it. *counted* says how old its figures are, *preparing* how far it is made.

    Once it is *released*, nobody has to decide what is contested.
    """

    validation: ValidationInfo
    known: ValidationFigures
    status: Validation
    live: ValidationProgress
    judges: JudgeList
    notes: list[JudgingNote]
    trail: list[Act]
    preparing: JobStanding | None
    released: bool

    @property
    def counted(self) -> ShownFigure:
        """The age of the figures."""
        return validation_figures.figure_status_of(self.known)


def console(db: Session, actor: Actor, ref: str, *, glance: int) -> Console:
    """Return everything at once (owners): what is kept is read once, however many parts show some of it.

    At a *glance* are the rates of so many writers.
    """
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    known = validation_figures.validation_figures(db, validation)
    people = validation_figures.people_figures(db, validation)
    whole = status.status_of(db, validation, known, people.get("rates", {}), glance=glance)
    return Console(
        validation=validation,
        known=known,
        status=whole,
        live=status.progress_of(validation, known, whole.forecast, whole.waiting),
        judges=JudgeList(db, validation, people.get("judges", {})),
        notes=audit_trail.notes_of(db, validation),
        trail=audit_trail.trail_of(db, validation),
        preparing=prepare.preparation_of(db, validation),
        released=queries.is_released(db, validation.id),
    )
