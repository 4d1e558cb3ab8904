"""Queries for how people do on the members of a project."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.store.tables import ContrastPivot, ContrastVariant, Judgement, ValidationItem


class JudgedMember(NamedTuple):
    """One judgement of one member: its content, what was aimed at, who judged, and what they said."""

    hash: str
    aim: str
    user_id: int
    label: str


def judged_members(db: Session, validation_id: int) -> list[JudgedMember]:
    """List the judgements of a validation in their order; without late ones and gold items."""
    query = (
        select(ValidationItem.hash, ValidationItem.aim, Judgement.user_id, Judgement.label)
        .join(ValidationItem, ValidationItem.id == Judgement.item_id)
        .where(Judgement.validation_id == validation_id, ValidationItem.gold.is_(None), Judgement.late.is_(False))
        .order_by(Judgement.id)
    )
    return [JudgedMember(*row) for row in db.execute(query)]


def items_of(db: Session, validation_id: int) -> list[str]:
    """List the contents of a validation's items."""
    query = select(ValidationItem.hash).where(ValidationItem.validation_id == validation_id)
    return list(db.scalars(query.where(ValidationItem.gold.is_(None)).order_by(ValidationItem.id)))


def sets_of(db: Session, project_id: int) -> dict[str, tuple[int, bool]]:
    """Return for every member of a project, by its content, which pivot it belongs to and whether it is that."""
    pivots = db.execute(select(ContrastPivot.example, ContrastPivot.id).where(ContrastPivot.project_id == project_id))
    pivot_sets = {example: (number, True) for example, number in pivots}
    query = select(ContrastVariant.hash, ContrastVariant.pivot_id).where(ContrastVariant.project_id == project_id)
    return {**{content: (number, False) for content, number in db.execute(query)}, **pivot_sets}
