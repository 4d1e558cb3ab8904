"""Questions of reports: the texts of a round with their prompts, those of a validation, and how much people wrote."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from quintain.store.queries.validate.intake import gone
from quintain.store.tables import (
    Attempt,
    AttemptFlag,
    AttemptNote,
    FlagDecision,
    Prompt,
    Round,
    TaskRow,
    ValidationItem,
)


class WrittenText(NamedTuple):
    """An attempt that stands, as far as a comparison of texts needs it."""

    inputs: dict[str, Any]
    condition: str
    origin: str
    user_id: int | None
    prompt: dict[str, Any] | None


def of_round(db: Session, round_id: int) -> list[WrittenText]:
    """List the attempts of a round that were neither retracted nor withheld, in order."""
    query = (
        select(Attempt.inputs, Attempt.condition, Attempt.origin, Attempt.user_id, Prompt.inputs)
        .outerjoin(Prompt, Prompt.id == Attempt.prompt_id)
        .where(Attempt.round_id == round_id, ~gone())
        .order_by(Attempt.id)
    )
    return [WrittenText(*row) for row in db.execute(query)]


def taken_back_since(db: Session, task: str, number: int | None, at: datetime) -> bool:
    """Whether an attempt of a round, or of any round of *task*, was taken back or withheld after *at*."""
    rounds = select(Round.id).join(TaskRow, TaskRow.id == Round.task_id).where(TaskRow.name == task)
    if number is not None:
        rounds = rounds.where(Round.number == number)
    noted = select(AttemptNote.attempt_id).where(AttemptNote.kind == "retracted", AttemptNote.created_at >= at)
    withheld = (
        select(AttemptFlag.attempt_id)
        .join(FlagDecision, FlagDecision.flag_id == AttemptFlag.id)
        .where(FlagDecision.withhold, FlagDecision.created_at >= at)
    )
    left = select(Attempt.id).where(or_(Attempt.id.in_(noted), Attempt.id.in_(withheld)), Attempt.round_id.in_(rounds))
    return db.scalar(select(left.exists())) or False


def of_validation(db: Session, validation_id: int) -> list[dict[str, Any]]:
    """List the inputs of the items of a validation that stand, in order; gold items are none."""
    query = select(ValidationItem.inputs).where(
        ValidationItem.validation_id == validation_id,
        ValidationItem.gold.is_(None),
        ValidationItem.retired_at.is_(None),
    )
    return list(db.scalars(query.order_by(ValidationItem.id)))


class AimedItem(NamedTuple):
    """An item of a validation, with the label that it came with."""

    id: int
    hash: str
    inputs: dict[str, Any]
    aim: str


def aimed(db: Session, validation_id: int) -> list[AimedItem]:
    """List the items of a validation that stand, in order, with the labels that they came with."""
    query = (
        select(ValidationItem.id, ValidationItem.hash, ValidationItem.inputs, ValidationItem.aim)
        .where(
            ValidationItem.validation_id == validation_id,
            ValidationItem.gold.is_(None),
            ValidationItem.retired_at.is_(None),
        )
        .order_by(ValidationItem.id)
    )
    return [AimedItem(*row) for row in db.execute(query)]
