"""Scouting: a look at what a model says of a few examples, which leave the project by that. Every look is logged."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy.orm import Session

from quintain.core.contrast import PivotState
from quintain.core.errors import BadInput, Conflict, NotFound
from quintain.core.people import Actor
from quintain.core.records.contrasting import ContrastLook
from quintain.services.access import audit
from quintain.services.access.permissions import require_user
from quintain.services.contrast.projects import find_project, require_open, require_part
from quintain.services.models.ask import RUNNERS, AdapterRunner, ask
from quintain.services.models.registry import get_model
from quintain.services.tasks.definitions import get_task
from quintain.store import tables
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.contrast import projects as queries


def scout(
    db: Session, blobs: Blobs, actor: Actor, ref: str, model: str, *, runners: Mapping[str, AdapterRunner] = RUNNERS
) -> ContrastLook:
    """Show what *model* says of an example that nobody has taken, and take that example out of the project."""
    user_id = require_user(actor)
    version = get_model(db, actor, model).version
    with transaction(db):
        info = find_project(db, ref)
        require_part(actor, info)
        require_open(info)
        if version.task != info.task:
            raise BadInput("'{ref}' is a model of task '{task}'.", ref=version.ref, task=version.task)
        looked = queries.looks_of(db, info.id, user_id)
        if looked >= info.spec.scouting:
            raise Conflict(
                "You have looked at {n} examples, the most that {ref} allows.", n=looked, ref=ref, code="looked_enough"
            )
        moment = now()
        pivot = queries.draw(db, info.id, user_id, moment, moment + timedelta(minutes=1))
        if pivot is None:
            raise NotFound("{ref} has no example left that nobody has.", ref=ref, code="no_pivots")
        # It is out before the model is asked: what may have been seen is never edited.
        pivot.state, pivot.lease_until = PivotState.SCOUTED.value, None
        audit.record(db, actor, "contrast.scout", ref, pivot=pivot.id, model=version.ref)
        facts = (pivot.id, dict(pivot.inputs), pivot.answer)
        task = get_task(db, info.task)
        db.flush()
    prediction = ask(blobs, version, task, [facts[1]], runners=runners)[0]
    with transaction(db):
        db.add(
            tables.ContrastLook(
                pivot_id=facts[0], user_id=user_id, model_version_id=version.id, answer=prediction.answer
            )
        )
        db.flush()
    return ContrastLook(*facts, prediction.answer, info.spec.scouting - looked - 1)
