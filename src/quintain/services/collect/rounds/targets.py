"""Which models a writer faces: one, one at random, several at once, or the best of the board that day."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from quintain.core.errors import Unavailable
from quintain.core.people import ANONYMOUS, OPERATOR
from quintain.core.rounds import RoundSpec
from quintain.protocols.assignment import Draw
from quintain.services.board.cache import warm_board
from quintain.services.board.ranking import rank
from quintain.services.models.registry import get_model
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.collect import rounds as queries
from quintain.store.tables import RoundTarget


def pin_targets(db: Session, round_id: int, spec: RoundSpec) -> None:
    """Fix the versions of a round's named models, so that everybody faces the same; inside a transaction."""
    for ref in spec.targets.models:
        db.add(RoundTarget(round_id=round_id, model_version_id=get_model(db, OPERATOR, ref).version.id))


def prepare_targets(db: Session, blobs: Blobs, round_id: int, spec: RoundSpec) -> str:
    """Return the day whose targets count, after finding the board's best once a day where the round asks for it.

    The board is computed outside any writing transaction: it may take a while.
    """
    if spec.targets.mode != "best":
        return ""
    day = now().date().isoformat()
    if queries.targets(db, round_id, day):
        return day
    version_id = _best(db, blobs, spec.task)
    with transaction(db):
        lock(db, f"targets of round {round_id}")
        if not queries.targets(db, round_id, day):
            db.add(RoundTarget(round_id=round_id, model_version_id=version_id, day=day))
    return day


def usable_targets(db: Session, round_id: int, spec: RoundSpec, day: str) -> list[int]:
    """List the model versions that writers of a round may face; none where there is no model to fool."""
    if not spec.targets.has_model:
        return []
    chosen = queries.targets(db, round_id, day)
    usable = [version_id for version_id, withdrawn_at in chosen if withdrawn_at is None]
    if not usable or (spec.targets.mode == "ensemble" and len(usable) < len(chosen)):
        raise Unavailable(
            "A target model of round {task}/{number} was withdrawn.",
            task=spec.task,
            number=spec.number,
            remedy="Its owner has to clone the round with another model.",
            code="model_withdrawn",
        )
    return usable


def target_draw(spec: RoundSpec, usable: Sequence[int], unit: str) -> Draw | None:
    """Return what the model of one session is drawn from; None where the writer faces all that are usable."""
    return Draw(unit, {str(one): 1 for one in usable}) if spec.targets.mode == "random" else None


def _best(db: Session, blobs: Blobs, task: str) -> int:
    ranked = rank(
        warm_board(db, blobs, ANONYMOUS, task, wait=True).board
    )  # as everybody sees it: a private model meets no crowd by itself
    for row in ranked.order():
        model = ranked.board.models[row]
        if ranked.ranking.rank[row] is not None and not model.predictions_only:
            ref = model.seeds[0] if model.seeds else model.ref
            return get_model(db, OPERATOR, ref).version.id
    raise Unavailable(
        "The board of task '{task}' ranks no model that can be asked.",
        task=task,
        remedy="Let a data set score and evaluate a model first, or name one in the round's file.",
    )
