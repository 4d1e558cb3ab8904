"""Fixing the target models of a round when it is opened."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.people import OPERATOR
from quintain.core.rounds import RoundSpec
from quintain.services.models.registry import get_model
from quintain.store.tables import RoundTarget


def pin_targets(db: Session, round_id: int, spec: RoundSpec) -> None:
    """Fix the versions of a round's named models, so that everybody faces the same; inside a transaction."""
    for ref in spec.targets.models:
        db.add(RoundTarget(round_id=round_id, model_version_id=get_model(db, OPERATOR, ref).version.id))
