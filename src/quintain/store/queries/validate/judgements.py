"""Judgements and what is known of the people who gave them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import ColumnElement, Executable, delete, func, insert, or_, select, text
from sqlalchemy.orm import Session

from quintain.store.base import table_of
from quintain.store.database import driver_rows
from quintain.store.tables import (
    Adjudication,
    DueReview,
    JudgeEstimate,
    Judgement,
    JudgeStanding,
    JudgingNote,
    User,
    ValidationItem,
    ValidationReview,
)

_MARK_DUE = text("""
    INSERT INTO due_reviews (validation_id, batch) VALUES (:validation, :batch)
    ON CONFLICT (validation_id, batch) DO NOTHING""")
_judgements = table_of(Judgement)
_ADD = insert(_judgements).returning(_judgements.c.offer_id, _judgements.c.id)
# By the offers of gold items, which are few: a person's judgements may be many thousands.
_GOLD_ANSWERS = text("""
    SELECT j.id, j.label = i.gold FROM judging_offers o
    JOIN judgements j ON j.offer_id = o.id JOIN validation_items i ON i.id = o.item_id
    WHERE o.user_id = :user AND o.slot_id IS NULL AND j.validation_id = :validation ORDER BY j.id""")
_LATEST = "SELECT max(id) FROM judge_standings WHERE validation_id = :validation {whose} GROUP BY user_id"
# What somebody has judged up to their newest standing, where that is a good one.
_ANEW = """
    SELECT s.user_id, coalesce((
        SELECT max(j.id) FROM judgements j
        WHERE j.validation_id = :validation AND j.user_id = s.user_id AND j.created_at <= s.created_at
    ), 0) FROM judge_standings s WHERE s.id IN ({latest}) AND s.qualified"""
_BEGUN_ANEW = text(_ANEW.format(latest=_LATEST.format(whose="")))
_HAS_BEGUN_ANEW = text(_ANEW.format(latest=_LATEST.format(whose="AND user_id = :user")))
_DUE = text("SELECT batch FROM due_reviews WHERE validation_id = :validation ORDER BY batch")
FETCHED = 10_000  # rows that are read at a time
_KINDS = (np.int64, np.int64, np.int64, object, object, bool, np.float64)
FOREVER = 2**62  # set aside through this judgement: all of them


@dataclass(frozen=True, slots=True)
class JudgementTable:
    """All judgements of a validation as columns, in the order in which they were given. *gold* is "" where none."""

    id: npt.NDArray[np.int64]
    item: npt.NDArray[np.int64]
    user: npt.NDArray[np.int64]
    label: npt.NDArray[np.object_]
    gold: npt.NDArray[np.object_]
    late: npt.NDArray[np.bool_]
    seconds: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.id)

    def take(self, rows: npt.NDArray[Any]) -> JudgementTable:
        """Keep the judgements at *rows*."""
        return JudgementTable(
            self.id[rows],
            self.item[rows],
            self.user[rows],
            self.label[rows],
            self.gold[rows],
            self.late[rows],
            self.seconds[rows],
        )


def add(db: Session, rows: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Add judgements on offers, all in one statement, and give their ids by those of the offers."""
    return {offer: int(key) for offer, key in db.connection().execute(_ADD, list(rows))}


def table(db: Session, validation_id: int, item_ids: Sequence[int] | None = None) -> JudgementTable:
    """Read every judgement of a validation, or those on some items; none that the writer of the item gave."""
    query = (
        select(
            Judgement.id,
            Judgement.item_id,
            Judgement.user_id,
            Judgement.label,
            ValidationItem.gold,
            Judgement.late,
            Judgement.seconds,
        )
        .join(ValidationItem, ValidationItem.id == Judgement.item_id)
        .where(Judgement.validation_id == validation_id, _not_their_own())
        .order_by(Judgement.id)
    )
    if item_ids is not None:
        query = query.where(Judgement.item_id.in_(item_ids))
    return _columns(db, query, count(db, validation_id) if item_ids is None else 0)


def _not_their_own() -> ColumnElement[bool]:
    # A text can become somebody's own after they judged it: when another retracts it, and they submit it.
    return or_(ValidationItem.author_id.is_(None), ValidationItem.author_id != Judgement.user_id)


def _columns(db: Session, query: Executable, expected: int) -> JudgementTable:
    # The driver's own tuples, some at a time, into columns that are there already: a million row objects, or columns
    # in pieces, would take longer than all that is computed from them, and more memory. A label is one text, however
    # often it was given.
    texts: dict[str | None, str] = {None: ""}
    columns = [np.empty(expected, dtype=kind) for kind in _KINDS]
    filled = 0
    for rows in driver_rows(db, query, FETCHED):
        end = filled + len(rows)
        if end > len(columns[0]):
            columns = [np.concatenate([column[:filled], np.empty(end, column.dtype)]) for column in columns]
        for column, values in zip(columns, zip(*rows, strict=True), strict=True):
            column[filled:end] = (
                [texts.setdefault(value, value) for value in values] if column.dtype == object else values
            )
        filled = end
    return JudgementTable(*(column[:filled] for column in columns))


def of_user(db: Session, validation_id: int, user_id: int) -> list[tuple[int, int, str, str | None]]:
    """List id, item, label and gold label of a person's judgements, oldest first."""
    query = (
        select(Judgement.id, Judgement.item_id, Judgement.label, ValidationItem.gold)
        .join(ValidationItem, ValidationItem.id == Judgement.item_id)
        .where(Judgement.validation_id == validation_id, Judgement.user_id == user_id)
        .order_by(Judgement.id)
    )
    return [(int(key), int(item), label, gold) for key, item, label, gold in db.execute(query)]


def gold_answers(db: Session, validation_id: int, user_id: int) -> list[tuple[int, bool]]:
    """Return each judgement of a person on a gold item, oldest first, with whether it was right."""
    answers = db.connection().execute(_GOLD_ANSWERS, {"validation": validation_id, "user": user_id})
    return [(int(key), bool(right)) for key, right in answers]


def newest(db: Session, validation_id: int) -> int:
    """Return the id of the newest judgement, or 0."""
    return db.scalar(select(func.max(Judgement.id)).where(Judgement.validation_id == validation_id)) or 0


def count(db: Session, validation_id: int) -> int:
    """Count the judgements of a validation."""
    return db.scalar(select(func.count()).where(Judgement.validation_id == validation_id)) or 0


def givers(db: Session, ids: Sequence[int]) -> dict[int, int]:
    """Return who gave some judgements."""
    users_by_judgement: dict[int, int] = {}
    for start in range(0, len(ids), 5000):
        query = select(Judgement.id, Judgement.user_id).where(Judgement.id.in_(ids[start : start + 5000]))
        users_by_judgement |= {int(key): int(user) for key, user in db.execute(query)}
    return users_by_judgement


def lately(db: Session, validation_id: int, moment: datetime, most: int) -> tuple[int, datetime | None]:
    """Count the judgements since *moment* among the newest *most*, and give when the first of those came."""
    newest = select(Judgement.created_at).where(Judgement.validation_id == validation_id)
    some = newest.order_by(Judgement.id.desc()).limit(most).subquery()
    number, first = db.execute(
        select(func.count(), func.min(some.c.created_at)).where(some.c.created_at >= moment)
    ).one()
    return int(number), first


def count_to(db: Session, validation_id: int, most: int) -> int:
    """Count the judgements of a validation, and no further than *most*."""
    some = select(Judgement.id).where(Judgement.validation_id == validation_id).limit(most).subquery()
    return db.scalar(select(func.count()).select_from(some)) or 0


def standings(db: Session, validation_id: int) -> dict[int, JudgeStanding]:
    """Return the newest standing of everybody who has one."""
    latest = select(func.max(JudgeStanding.id)).where(JudgeStanding.validation_id == validation_id)
    query = select(JudgeStanding).where(JudgeStanding.id.in_(latest.group_by(JudgeStanding.user_id)))
    return {row.user_id: row for row in db.scalars(query)}


def count_standings(db: Session, validation_id: int) -> int:
    """Count the changes of judges' standings in a validation."""
    return db.scalar(select(func.count()).where(JudgeStanding.validation_id == validation_id)) or 0


def set_aside(db: Session, validation_id: int) -> dict[int, int]:
    """Return, for everybody of whom something is set aside, the judgement through which it is."""
    return {
        user: row.aside_through if row.qualified else FOREVER
        for user, row in standings(db, validation_id).items()
        if row.aside_through or not row.qualified
    }


def restored(db: Session, validation_id: int) -> dict[int, int]:
    """Return, for everybody whose judgements an owner let count again, how many they have made since."""
    numbers = {}
    for user, row in standings(db, validation_id).items():
        if row.qualified and not row.aside_through:
            mine = (Judgement.validation_id == validation_id) & (Judgement.user_id == user)
            query = select(func.count()).where(mine, Judgement.created_at > row.created_at)
            numbers[user] = db.scalar(query) or 0
    return numbers


def begun_anew(db: Session, validation_id: int) -> dict[int, int]:
    """Return, for everybody who was qualified again, their last judgement before that; 0 where there is none."""
    return {int(user): int(last) for user, last in db.connection().execute(_BEGUN_ANEW, {"validation": validation_id})}


def begun_anew_by(db: Session, validation_id: int, user_id: int) -> int:
    """Return the last judgement of a person before they were qualified again; 0 where they never were."""
    row = db.connection().execute(_HAS_BEGUN_ANEW, {"validation": validation_id, "user": user_id}).first()
    return int(row[1]) if row else 0


def standing_history(db: Session, validation_id: int, user_id: int | None = None) -> Sequence[JudgeStanding]:
    """List every change of a judge's standing, or of everybody's, oldest first."""
    query = select(JudgeStanding).where(JudgeStanding.validation_id == validation_id).order_by(JudgeStanding.id)
    return db.scalars(query if user_id is None else query.where(JudgeStanding.user_id == user_id)).all()


def accuracies(db: Session, validation_id: int, user_ids: Iterable[int]) -> dict[int, float]:
    """Return the accuracy that the newest review found for each person whom it knew."""
    latest = select(func.max(ValidationReview.id)).where(ValidationReview.validation_id == validation_id)
    query = select(JudgeEstimate.user_id, JudgeEstimate.right, JudgeEstimate.wrong).where(
        JudgeEstimate.review_id == latest.scalar_subquery(), JudgeEstimate.user_id.in_(list(user_ids))
    )
    return {int(user): right / (right + wrong) for user, right, wrong in db.execute(query)}


def add_review(db: Session, row: ValidationReview, estimates: Sequence[Mapping[str, Any]]) -> None:
    """Add a review and what it found about each judge."""
    db.add(row)
    db.flush()
    if estimates:
        db.execute(insert(JudgeEstimate), [{**estimate, "review_id": row.id} for estimate in estimates])


def reviews(db: Session, validation_id: int, limit: int = 100) -> Sequence[ValidationReview]:
    """List the reviews of a validation, the newest first."""
    query = select(ValidationReview).where(ValidationReview.validation_id == validation_id)
    return db.scalars(query.order_by(ValidationReview.id.desc()).limit(limit)).all()


def mark_due(db: Session, validation_id: int, batch: int) -> None:
    """Write down that a batch is to be reviewed as soon as nobody holds a slot of it."""
    db.execute(_MARK_DUE, {"validation": validation_id, "batch": batch})


def due_batches(db: Session, validation_id: int) -> list[int]:
    """List the batches of a validation that are to be reviewed."""
    return [int(batch) for (batch,) in db.connection().execute(_DUE, {"validation": validation_id})]


def due_validations(db: Session) -> list[int]:
    """List the validations of which batches are to be reviewed."""
    return list(db.scalars(select(DueReview.validation_id).distinct().order_by(DueReview.validation_id)))


def clear_due(db: Session, validation_id: int, batches: Sequence[int]) -> None:
    """Forget that some batches are to be reviewed."""
    db.execute(delete(DueReview).where(DueReview.validation_id == validation_id, DueReview.batch.in_(batches)))


def batches_since(db: Session, validation_id: int, newest: int) -> set[int]:
    """Name the batches in which something was judged after the judgement *newest*."""
    query = select(ValidationItem.batch).join(Judgement, Judgement.item_id == ValidationItem.id)
    later = (Judgement.validation_id == validation_id, Judgement.id > newest, ValidationItem.gold.is_(None))
    return set(db.scalars(query.where(*later).distinct()))


def estimate_history(db: Session, validation_id: int, user_id: int) -> list[tuple[ValidationReview, JudgeEstimate]]:
    """List what every review found about one judge, oldest first."""
    query = (
        select(ValidationReview, JudgeEstimate)
        .join(JudgeEstimate, JudgeEstimate.review_id == ValidationReview.id)
        .where(ValidationReview.validation_id == validation_id, JudgeEstimate.user_id == user_id)
        .order_by(ValidationReview.id)
    )
    return [(review, estimate) for review, estimate in db.execute(query)]


def notes(db: Session, validation_id: int, kind: str, limit: int = 200) -> list[tuple[JudgingNote, str]]:
    """List the newest skips or flags with the names of who made them."""
    query = (
        select(JudgingNote, User.name)
        .join(User, User.id == JudgingNote.user_id)
        .where(JudgingNote.validation_id == validation_id, JudgingNote.kind == kind)
        .order_by(JudgingNote.id.desc())
        .limit(limit)
    )
    return [(note, name) for note, name in db.execute(query)]


def adjudicated(db: Session, validation_id: int) -> dict[int, Adjudication]:
    """Return the newest decision on each item that experts decided on; taken-back ones are left out."""
    latest = (
        select(func.max(Adjudication.id))
        .join(ValidationItem, ValidationItem.id == Adjudication.item_id)
        .where(ValidationItem.validation_id == validation_id)
        .group_by(Adjudication.item_id)
    )
    query = select(Adjudication).where(Adjudication.id.in_(latest))
    return {row.item_id: row for row in db.scalars(query) if row.label}
