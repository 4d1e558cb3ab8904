"""Taking a withdrawn model back: it is in the lists again, and is run on what came while it was away."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.services.evaluate.cells.lifecycle import fill
from quintain.services.models import registry
from quintain.services.models.registry import ModelVersionInfo


def restore_model(db: Session, actor: Actor, ref: str) -> ModelVersionInfo:
    """Take a version back that was withdrawn, and queue the runs that are missing; who may withdraw it may."""
    version = registry.restore(db, actor, ref)
    fill(db, version.task)
    return version
