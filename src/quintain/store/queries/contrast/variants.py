"""Queries for the variants of a contrast project, and what was said of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session

from quintain.core.contrast import VariantState
from quintain.store.tables import ContrastCheck, ContrastPivot, ContrastVariant, User

LIVE = ContrastVariant.state != VariantState.WITHDRAWN.value


class VariantSight(NamedTuple):
    """Which variants somebody sees: all; or their own, with *decided* also those that are not theirs to check."""

    user_id: int | None = None
    everything: bool = True
    decided: bool = False


ALL = VariantSight()


class WrittenVariant(NamedTuple):
    """A variant, its pivot, and the name of who wrote it."""

    variant: ContrastVariant
    pivot: ContrastPivot
    author: str | None


def find(db: Session, project_id: int, variant_id: int) -> WrittenVariant | None:
    """Return a variant of a project, as it is now."""
    row = db.execute(_written(project_id).where(ContrastVariant.id == variant_id)).one_or_none()
    return WrittenVariant(*row) if row else None


def of_pivots(
    db: Session, pivot_ids: Sequence[int], sight: VariantSight = ALL, *, state: str = ""
) -> dict[int, list[tuple[ContrastVariant, str | None]]]:
    """Return the variants of pivots, in the order in which they were written; without those taken back."""
    query = (
        select(ContrastVariant, User.name)
        .outerjoin(User, User.id == ContrastVariant.author_id)
        .where(ContrastVariant.pivot_id.in_(pivot_ids), _in_state(state), *_seen(sight))
        .order_by(ContrastVariant.id)
    )
    variants_by_pivot: dict[int, list[tuple[ContrastVariant, str | None]]] = {one: [] for one in pivot_ids}
    for variant, name in db.execute(query):
        variants_by_pivot[variant.pivot_id].append((variant, name))
    return variants_by_pivot


def is_there(db: Session, project_id: int, ids: Sequence[str]) -> bool:
    """Return whether a text, by any of its *ids*, is a pivot of a project, or a variant that was not taken back."""
    pivots = select(ContrastPivot.id).where(ContrastPivot.project_id == project_id, ContrastPivot.example.in_(ids))
    written = select(ContrastVariant.id).where(
        ContrastVariant.project_id == project_id, ContrastVariant.hash.in_(ids), LIVE
    )
    return db.scalar(select(or_(pivots.exists(), written.exists()))) or False


def pivots_with_variants(
    db: Session, project_id: int, sight: VariantSight = ALL, *, state: str = "", limit: int, offset: int
) -> tuple[list[ContrastPivot], int]:
    """List the pivots that have a variant (in that *state*), in the order of their first one; and count them."""
    first = (
        select(ContrastVariant.pivot_id, func.min(ContrastVariant.id).label("first"))
        .where(ContrastVariant.project_id == project_id, _in_state(state), *_seen(sight))
        .group_by(ContrastVariant.pivot_id)
        .subquery()
    )
    total = db.scalar(select(func.count()).select_from(first)) or 0
    query = select(ContrastPivot).join(first, first.c.pivot_id == ContrastPivot.id).order_by(first.c.first)
    return list(db.scalars(query.limit(limit).offset(offset))), total


def draw_check(
    db: Session, project_id: int, user_id: int, at: datetime, until: datetime
) -> tuple[ContrastVariant, ContrastPivot] | None:
    """Lease the oldest variant that somebody else wrote and that they have not checked. In a writing transaction."""
    free = or_(
        ContrastVariant.lease_until.is_(None), ContrastVariant.lease_until <= at, ContrastVariant.holder_id == user_id
    )
    query = (
        select(ContrastVariant)
        .where(_to_check(project_id, user_id), free)
        .order_by(ContrastVariant.id)
        .limit(1)
        .with_for_update(skip_locked=True)
        .execution_options(populate_existing=True)
    )
    variant = db.scalar(query)
    if variant is None:
        return None
    if variant.holder_id != user_id or variant.lease_until is None or variant.lease_until <= at:
        variant.holder_id, variant.held_since = user_id, at
    variant.lease_until = until
    db.flush()
    return variant, db.get_one(ContrastPivot, variant.pivot_id)


def count_to_check(db: Session, project_id: int, user_id: int | None) -> int:
    """Count the variants that somebody could check."""
    return db.scalar(select(func.count()).where(_to_check(project_id, user_id))) or 0


def checks_of(db: Session, variant_ids: Sequence[int]) -> dict[int, list[ContrastCheck]]:
    """Return what was said of variants, in order."""
    query = select(ContrastCheck).where(ContrastCheck.variant_id.in_(variant_ids)).order_by(ContrastCheck.id)
    checks_by_variant: dict[int, list[ContrastCheck]] = {one: [] for one in variant_ids}
    for check in db.scalars(query):
        checks_by_variant[check.variant_id].append(check)
    return checks_by_variant


def contested(
    db: Session, project_id: int, user_id: int | None, *, limit: int, offset: int
) -> tuple[list[WrittenVariant], int]:
    """List the variants that wait for somebody who neither wrote nor checked them, the oldest first; and count them."""
    conditions = [ContrastVariant.state == VariantState.CONTESTED.value, *_not_theirs(user_id)]
    total = db.scalar(select(func.count()).where(ContrastVariant.project_id == project_id, *conditions)) or 0
    query = _written(project_id).where(*conditions).order_by(ContrastVariant.id).limit(limit).offset(offset)
    return [WrittenVariant(*row) for row in db.execute(query)], total


def accepted(db: Session, project_id: int) -> list[WrittenVariant]:
    """Return every accepted variant with its pivot, in the order of pivots."""
    query = _written(project_id).where(ContrastVariant.state == VariantState.ACCEPTED.value)
    return [WrittenVariant(*row) for row in db.execute(query.order_by(ContrastPivot.draw, ContrastVariant.id))]


def _in_state(state: str) -> ColumnElement[bool]:
    return ContrastVariant.state == state if state else LIVE


def _seen(sight: VariantSight) -> list[ColumnElement[bool]]:
    if sight.everything:
        return []
    own = ContrastVariant.author_id == sight.user_id
    if not sight.decided:
        return [own]
    checked = select(ContrastCheck.id).where(
        ContrastCheck.variant_id == ContrastVariant.id, ContrastCheck.user_id == sight.user_id
    )
    return [or_(own, ContrastVariant.state != VariantState.WRITTEN.value, checked.exists())]


def _to_check(project_id: int, user_id: int | None) -> ColumnElement[bool]:
    checkable = ContrastVariant.project_id == project_id
    written = ContrastVariant.state == VariantState.WRITTEN.value
    for condition in (written, *_not_theirs(user_id)):
        checkable = checkable & condition
    return checkable


def _not_theirs(user_id: int | None) -> list[ColumnElement[bool]]:
    """Ask for variants that somebody neither wrote nor spoke of; the operator has written nothing."""
    if user_id is None:
        return []
    own_checks = select(ContrastCheck.id).where(
        ContrastCheck.variant_id == ContrastVariant.id, ContrastCheck.user_id == user_id
    )
    return [ContrastVariant.author_id.is_distinct_from(user_id), ~own_checks.exists()]


def _written(project_id: int) -> Select[ContrastVariant, ContrastPivot, str]:
    return (
        select(ContrastVariant, ContrastPivot, User.name)
        .join(ContrastPivot, ContrastPivot.id == ContrastVariant.pivot_id)
        .outerjoin(User, User.id == ContrastVariant.author_id)
        .where(ContrastVariant.project_id == project_id)
        .execution_options(populate_existing=True)
    )
