"""Taking in: which attempts of a round may be judged and are no items yet, and which items are to leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, case, func, insert, or_, select
from sqlalchemy.orm import Session

from quintain.core.hashing import ID_LENGTH
from quintain.store.tables import (
    Attempt,
    AttemptFlag,
    AttemptNote,
    FlagDecision,
    ValidationItem,
)

DRAWN_DIGITS = 8  # of a hash, that chance is made of


def new_attempts(
    db: Session,
    validation_id: int,
    round_id: int,
    *,
    unfooled: float,
    seed: int,
    after: int = 0,
    limit: int | None = None,
) -> list[Attempt]:
    """List a round's attempts that may be judged and are no items yet: kept, neither retracted nor withheld.

    With *after* and *limit*, the first so many beyond that one.

    All that fooled the model, by its answer or by what the writer decided; of the others the share *unfooled*, drawn
    by *seed* from the hashes of their contents, so that it is the same ones whenever they are asked for.
    """
    known = select(ValidationItem.attempt_id).where(
        ValidationItem.validation_id == validation_id, ValidationItem.attempt_id == Attempt.id
    )
    query = select(Attempt).where(Attempt.round_id == round_id, Attempt.id > after, ~known.exists(), ~gone())
    query = query.where(*_chosen(unfooled, seed))
    return list(db.scalars(query.order_by(Attempt.id).limit(limit)))


def count_attempts(db: Session, round_id: int) -> int:
    """Count the attempts of a round."""
    return db.scalar(select(func.count()).where(Attempt.round_id == round_id)) or 0


def candidate_hashes(db: Session, round_id: int, *, unfooled: float, seed: int) -> list[str]:
    """List the hashes of a round's attempts that may be judged, items already or not, each once."""
    query = select(Attempt.hash).where(Attempt.round_id == round_id, ~gone(), *_chosen(unfooled, seed))
    return list(dict.fromkeys(db.scalars(query.order_by(Attempt.id))))


def count_attempts_to(db: Session, round_id: int, most: int) -> int:
    """Count the attempts of a round, and no further than *most*."""
    some = select(Attempt.id).where(Attempt.round_id == round_id).limit(most).subquery()
    return db.scalar(select(func.count()).select_from(some)) or 0


def _chosen(unfooled: float, seed: int) -> list[ColumnElement[bool]]:
    if unfooled >= 1:
        return []
    said = func.coalesce(_newest_note("decision"), Attempt.fooled)
    agreed = func.coalesce(_newest_note("confirmed"), True)
    return [(said.is_(True) & agreed.is_(True)) | _drawn(unfooled, seed)]


def _drawn(share: float, seed: int) -> Any:
    """Draw a share of the attempts: eight digits of their hash, from a place that *seed* says, below a limit."""
    digits = func.substr(Attempt.hash, 1 + seed % (ID_LENGTH - DRAWN_DIGITS + 1), DRAWN_DIGITS)
    return digits < f"{round(share * (16**DRAWN_DIGITS - 1)):0{DRAWN_DIGITS}x}"


def gone_items(db: Session, validation_id: int) -> list[int]:
    """List the items whose attempts were retracted or withheld: few of many, so that they are looked for by those."""
    said = select(AttemptNote.attempt_id).where(AttemptNote.kind == "retracted")
    query = select(ValidationItem.id).join(Attempt, Attempt.id == ValidationItem.attempt_id)
    suspects = or_(ValidationItem.attempt_id.in_(said), ValidationItem.attempt_id.in_(_withheld()))
    return list(db.scalars(query.where(ValidationItem.validation_id == validation_id, suspects, gone())))


def retracted_items(db: Session, validation_id: int, hashes: Sequence[str]) -> list[ValidationItem]:
    """Give the items with these hashes whose attempts were retracted; what is withheld stays withheld."""
    query = (
        select(ValidationItem)
        .join(Attempt, Attempt.id == ValidationItem.attempt_id)
        .where(
            ValidationItem.validation_id == validation_id,
            ValidationItem.gold.is_(None),
            ValidationItem.retired_at.is_not(None),
            func.coalesce(_newest_note("retracted"), False).is_(True),
            Attempt.id.not_in(_withheld()),
        )
        .order_by(ValidationItem.id)
    )
    found: list[ValidationItem] = []
    for start in range(0, len(hashes), 5000):
        found += db.scalars(query.where(ValidationItem.hash.in_(hashes[start : start + 5000])))
    return found


def mark(db: Session, round_id: int) -> int:
    """Give a number that grows whenever something is written, said or decided about a round's attempts.

    It counts rows, which are never deleted. Their newest ids would not do: what gets an id first may be committed last.
    """
    written = (
        select(func.count()).where(Attempt.round_id == round_id),
        select(func.count()).select_from(AttemptNote),
        select(func.count()).select_from(FlagDecision),
    )
    return sum(db.scalar(query) or 0 for query in written)


def gone() -> Any:
    """Say of an attempt that it was retracted or is withheld."""
    return func.coalesce(_newest_note("retracted"), False).is_(True) | Attempt.id.in_(_withheld())


def _newest_note(kind: str) -> Any:
    # A retraction says yes by being there; a decision or a confirmation says yes or no.
    said = case((AttemptNote.yes.is_(None), True), else_=AttemptNote.yes)
    query = select(said).where(AttemptNote.attempt_id == Attempt.id, AttemptNote.kind == kind)
    return query.order_by(AttemptNote.id.desc()).limit(1).correlate(Attempt).scalar_subquery()


def _withheld() -> Any:
    newest = select(func.max(FlagDecision.id)).group_by(FlagDecision.flag_id)
    return (
        select(AttemptFlag.attempt_id)
        .join(FlagDecision, FlagDecision.flag_id == AttemptFlag.id)
        .where(FlagDecision.id.in_(newest), FlagDecision.withhold)
    )


def add_items(db: Session, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Add items of one validation and give their ids in the order of *rows*."""
    if not rows:
        return []
    # Asking for the ids of what is inserted would make SQLite insert row by row.
    db.execute(insert(ValidationItem), list(rows))
    ids: dict[str, int] = {}
    query = select(ValidationItem.hash, ValidationItem.id)
    mine = query.where(ValidationItem.validation_id == rows[0]["validation_id"])
    for start in range(0, len(rows), 5000):
        some = [row["hash"] for row in rows[start : start + 5000]]
        ids |= {key: int(found) for key, found in db.execute(mine.where(ValidationItem.hash.in_(some)))}
    return [ids[row["hash"]] for row in rows]
