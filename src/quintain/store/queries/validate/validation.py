"""Validations, their policies and items, and the pages that judges hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import Text, case, cast, func, insert, or_, select, text, update
from sqlalchemy.orm import Session, aliased

from quintain.core.hashing import ID_LENGTH
from quintain.core.rounds import RoundState
from quintain.store.tables import (
    Attempt,
    AttemptFlag,
    AttemptNote,
    FlagDecision,
    Judgement,
    JudgingNote,
    JudgingPage,
    Offer,
    Round,
    TaskRow,
    Validation,
    ValidationItem,
    ValidationPolicyVersion,
)

DRAWN_DIGITS = 8  # of a hash, that chance is made of
GOLD_COPY = "gold:"  # before the hash of an item that was made a gold item, too


class FoundValidation(NamedTuple):
    """A validation with its newest policy and the newest definition of its task."""

    id: int
    task_id: int
    round_id: int | None
    name: str
    state: str
    seed: int
    taken_to: int
    policy: str
    task_toml: str


class OfferRow(NamedTuple):
    """An offer with its item, and what the person said to it."""

    offer: Offer
    item: ValidationItem
    label: str | None
    skipped: bool


_FIND = text("""
    SELECT v.id, v.task_id, v.round_id, v.name, v.state, v.seed, v.taken_to, p.toml, d.toml
    FROM validations v JOIN tasks t ON t.id = v.task_id
    JOIN validation_policies p ON p.validation_id = v.id JOIN task_versions d ON d.task_id = t.id
    WHERE t.name = :task AND v.name = :name ORDER BY p.number DESC, d.number DESC LIMIT 1""")


class PartCount(NamedTuple):
    """The items of a part: all, those that are judged more often, and how many judgements these were to get."""

    part: str
    items: int
    often: int
    asked: int


def find(db: Session, task: str, name: str) -> FoundValidation | None:
    """Find the validation called *name* of *task*."""
    row = db.connection().execute(_FIND, {"task": task, "name": name}).first()
    return FoundValidation(*row) if row else None


def all_of(db: Session, task: str | None) -> list[tuple[str, Validation]]:
    """List the validations of *task*, or of all tasks, with the tasks' names."""
    query = select(TaskRow.name, Validation).join(TaskRow, TaskRow.id == Validation.task_id)
    query = query.order_by(TaskRow.name, Validation.id)
    if task is not None:
        query = query.where(TaskRow.name == task)
    return [(name, row) for name, row in db.execute(query)]


def round_id(db: Session, task_id: int, number: int) -> int | None:
    """Give the id of a task's round."""
    return db.scalar(select(Round.id).where(Round.task_id == task_id, Round.number == number))


def policies(db: Session, validation_id: int) -> Sequence[ValidationPolicyVersion]:
    """List every state of a policy, the newest first."""
    query = select(ValidationPolicyVersion).where(ValidationPolicyVersion.validation_id == validation_id)
    return db.scalars(query.order_by(ValidationPolicyVersion.number.desc())).all()


def is_judged(db: Session, of_round: int) -> bool:
    """Say whether the attempts of a round are being judged, or were."""
    return db.scalar(select(Validation.id).where(Validation.round_id == of_round)) is not None


def new_attempts(db: Session, validation_id: int, round_id: int, *, unfooled: float, seed: int) -> list[Attempt]:
    """List a round's attempts that may be judged and are no items yet: kept, neither retracted nor withheld.

    All that fooled the model, by its answer or by what the writer decided; of the others the share *unfooled*, drawn
    by *seed* from the hashes of their contents, so that it is the same ones whenever they are asked for.
    """
    newest = _newest_note
    known = select(ValidationItem.attempt_id).where(
        ValidationItem.validation_id == validation_id, ValidationItem.attempt_id == Attempt.id
    )
    query = select(Attempt).where(Attempt.round_id == round_id, ~known.exists(), ~gone())
    if unfooled < 1:
        said = func.coalesce(newest("decision"), Attempt.fooled)
        agreed = func.coalesce(newest("confirmed"), True)
        query = query.where((said.is_(True) & agreed.is_(True)) | _drawn(unfooled, seed))
    return [attempt for attempt in db.scalars(query.order_by(Attempt.id)) if attempt.inputs]


def _drawn(share: float, seed: int) -> Any:
    """Draw a share of the attempts: eight digits of their hash, from a place that *seed* says, below a limit."""
    digits = func.substr(Attempt.hash, 1 + seed % (ID_LENGTH - DRAWN_DIGITS + 1), DRAWN_DIGITS)
    return digits < f"{round(share * (16**DRAWN_DIGITS - 1)):0{DRAWN_DIGITS}x}"


def gone_items(db: Session, validation_id: int) -> list[int]:
    """List the items whose attempts were retracted or withheld."""
    query = select(ValidationItem.id).join(Attempt, Attempt.id == ValidationItem.attempt_id)
    return list(db.scalars(query.where(ValidationItem.validation_id == validation_id, gone())))


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


def items_of_attempt(db: Session, attempt_id: int) -> list[ValidationItem]:
    """List the items that an attempt became, gold copies too."""
    return list(db.scalars(select(ValidationItem).where(ValidationItem.attempt_id == attempt_id)))


def retire_items(db: Session, ids: Sequence[int], at: datetime) -> None:
    """Take items out of what is judged and counted."""
    change = update(ValidationItem).where(ValidationItem.id.in_(ids), ValidationItem.retired_at.is_(None))
    db.execute(change.values(retired_at=at).execution_options(synchronize_session=False))


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


def known_hashes(db: Session, validation_id: int, hashes: Sequence[str]) -> set[str]:
    """Say which of *hashes* are items already."""
    query = select(ValidationItem.hash).where(ValidationItem.validation_id == validation_id)
    found: set[str] = set()
    for start in range(0, len(hashes), 5000):
        found |= set(db.scalars(query.where(ValidationItem.hash.in_(hashes[start : start + 5000]))))
    return found


def add_items(db: Session, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Add items and give their ids in the order of *rows*."""
    made = db.scalars(insert(ValidationItem).returning(ValidationItem.id, sort_by_parameter_order=True), list(rows))
    return list(made)


def count_items(db: Session, validation_id: int) -> int:
    """Count the items that were ever taken in to be judged; gold items are not."""
    query = select(func.count()).where(ValidationItem.validation_id == validation_id, ValidationItem.gold.is_(None))
    return db.scalar(query) or 0


def count_standing(db: Session, validation_id: int) -> int:
    """Count the items that are judged and were neither retracted nor withheld."""
    query = select(func.count()).where(
        ValidationItem.validation_id == validation_id,
        ValidationItem.gold.is_(None),
        ValidationItem.retired_at.is_(None),
    )
    return db.scalar(query) or 0


def gone_ids(db: Session, validation_id: int) -> list[int]:
    """List the items that were taken out: retracted or withheld; gold items are not among them."""
    query = select(ValidationItem.id).where(
        ValidationItem.validation_id == validation_id,
        ValidationItem.gold.is_(None),
        ValidationItem.retired_at.is_not(None),
    )
    return list(db.scalars(query.order_by(ValidationItem.id)))


def count_gold(db: Session, validation_id: int) -> int:
    """Count the gold items that are still shown."""
    query = select(func.count()).where(
        ValidationItem.validation_id == validation_id,
        ValidationItem.gold.is_not(None),
        ValidationItem.retired_at.is_(None),
    )
    return db.scalar(query) or 0


def recent_seconds(db: Session, validation_id: int, count: int) -> list[float]:
    """Give the times that the newest judgements took, as far as they are known."""
    query = select(Judgement.seconds).where(Judgement.validation_id == validation_id)
    return [float(one) for one in db.scalars(query.order_by(Judgement.id.desc()).limit(count)) if one is not None]


def items(db: Session, ids: Sequence[int]) -> dict[int, ValidationItem]:
    """Give items by their ids."""
    found: dict[int, ValidationItem] = {}
    for start in range(0, len(ids), 5000):
        query = select(ValidationItem).where(ValidationItem.id.in_(ids[start : start + 5000]))
        found |= {item.id: item for item in db.scalars(query)}
    return found


def item_by_id(db: Session, validation_id: int, item_id: int) -> ValidationItem | None:
    """Give one item of a validation."""
    query = select(ValidationItem).where(ValidationItem.validation_id == validation_id, ValidationItem.id == item_id)
    return db.scalar(query)


def item_ids(db: Session, validation_id: int) -> npt.NDArray[np.int64]:
    """List the ids of the items that are judged and stand, in order."""
    query = select(ValidationItem.id).where(
        ValidationItem.validation_id == validation_id,
        ValidationItem.gold.is_(None),
        ValidationItem.retired_at.is_(None),
    )
    return np.array(db.scalars(query.order_by(ValidationItem.id)).all(), dtype=np.int64)


def writers(db: Session, validation_id: int, item_ids: Sequence[int] | None = None) -> dict[int, tuple[int, str]]:
    """Give who wrote items and what they aimed at, by the items' ids; items that nobody wrote are left out."""
    query = select(ValidationItem.id, ValidationItem.author_id, ValidationItem.aim)
    written = query.where(ValidationItem.validation_id == validation_id, ValidationItem.author_id.is_not(None))
    if item_ids is not None:
        written = written.where(ValidationItem.id.in_(item_ids))
    return {int(key): (int(author or 0), aim) for key, author, aim in db.execute(written)}


def aims(db: Session, validation_id: int) -> list[str]:
    """List the different labels that writers of items aimed at."""
    written = (ValidationItem.validation_id == validation_id) & ValidationItem.author_id.is_not(None)
    return [*db.scalars(select(ValidationItem.aim).where(written).distinct())]


def asked_often(db: Session, validation_id: int) -> dict[int, int]:
    """Give how many judgements the items were drawn to get that are judged more often than others."""
    query = select(ValidationItem.id, ValidationItem.asked).where(
        ValidationItem.validation_id == validation_id, ValidationItem.asked.is_not(None)
    )
    return {int(key): int(asked or 0) for key, asked in db.execute(query)}


def parts(db: Session, validation_id: int) -> list[PartCount]:
    """Count the items of each part that stand, those that are judged more often, and what is asked of these."""
    query = (
        select(
            ValidationItem.part,
            func.count(),
            func.count(ValidationItem.asked),
            func.coalesce(func.sum(ValidationItem.asked), 0),
        )
        .where(
            ValidationItem.validation_id == validation_id,
            ValidationItem.gold.is_(None),
            ValidationItem.retired_at.is_(None),
        )
        .group_by(ValidationItem.part)
        .order_by(ValidationItem.part)
    )
    return [PartCount(part, int(items), int(often), int(asked or 0)) for part, items, often, asked in db.execute(query)]


def written_by(db: Session, validation_id: int, user_id: int) -> list[int]:
    """List the items that a person wrote."""
    query = select(ValidationItem.id).where(
        ValidationItem.validation_id == validation_id, ValidationItem.author_id == user_id
    )
    return list(db.scalars(query))


def ids_with_text(db: Session, validation_id: int, wanted: str) -> list[int]:
    """List the items in whose inputs *wanted* occurs, whatever its case."""
    inputs = func.lower(cast(ValidationItem.inputs, Text))
    # JSON is kept with or without escapes; either way of writing the text may be the one.
    forms = {wanted.lower(), json.dumps(wanted.lower())[1:-1], json.dumps(wanted.lower(), ensure_ascii=False)[1:-1]}
    query = select(ValidationItem.id).where(
        ValidationItem.validation_id == validation_id,
        or_(*(inputs.contains(form, autoescape=True) for form in sorted(forms))),
    )
    return list(db.scalars(query))


def settled(db: Session, ids: Sequence[int]) -> set[int]:
    """Say which items nobody is asked about again: retracted, withheld, or made gold items, too."""
    copy = aliased(ValidationItem)
    copies = select(copy.id).where(
        copy.validation_id == ValidationItem.validation_id, copy.hash == GOLD_COPY + ValidationItem.hash
    )
    found: set[int] = set()
    for start in range(0, len(ids), 5000):
        query = select(ValidationItem.id).where(ValidationItem.id.in_(ids[start : start + 5000]))
        found |= set(db.scalars(query.where(or_(ValidationItem.retired_at.is_not(None), copies.exists()))))
    return found


def copied(db: Session, validation_id: int, hashes: Sequence[str]) -> set[str]:
    """Say which of *hashes* are of items that were made gold items, too."""
    found = known_hashes(db, validation_id, [GOLD_COPY + name for name in hashes])
    return {name.removeprefix(GOLD_COPY) for name in found}


def gold_items(db: Session, validation_id: int) -> list[tuple[ValidationItem, int]]:
    """List the gold items with how often each was shown."""
    shown = select(func.count()).where(Offer.item_id == ValidationItem.id, Offer.slot_id.is_(None))
    query = select(ValidationItem, shown.correlate(ValidationItem).scalar_subquery()).where(
        ValidationItem.validation_id == validation_id, ValidationItem.gold.is_not(None)
    )
    return [(item, int(count)) for item, count in db.execute(query.order_by(ValidationItem.id))]


def shown_gold_of_task(db: Session, task_id: int) -> list[ValidationItem]:
    """List the gold items that any validation of a task still shows."""
    query = (
        select(ValidationItem)
        .join(Validation, Validation.id == ValidationItem.validation_id)
        .where(Validation.task_id == task_id, ValidationItem.gold.is_not(None), ValidationItem.retired_at.is_(None))
        .order_by(ValidationItem.id)
    )
    return list(db.scalars(query))


def page_by_key(db: Session, key: str, *, locked: bool = False) -> JudgingPage | None:
    """Give a page by its key; *locked* keeps others from changing it until the transaction ends."""
    query = select(JudgingPage).where(JudgingPage.key == key)
    return db.scalar(query.with_for_update().execution_options(populate_existing=True) if locked else query)


def offers(db: Session, page_id: int) -> list[OfferRow]:
    """List what a page offers, with what was said to it."""
    skipped = select(1).where(JudgingNote.offer_id == Offer.id, JudgingNote.kind == "skip").exists()
    query = (
        select(Offer, ValidationItem, Judgement.label, skipped)
        .join(ValidationItem, ValidationItem.id == Offer.item_id)
        .outerjoin(Judgement, Judgement.offer_id == Offer.id)
        .where(Offer.page_id == page_id)
        .order_by(Offer.position)
    )
    return [OfferRow(offer, item, label, bool(skip)) for offer, item, label, skip in db.execute(query)]


def place_of(db: Session, validation_id: int) -> tuple[str, str]:
    """Give the task and the name of a validation by its id."""
    query = select(TaskRow.name, Validation.name).join(TaskRow, TaskRow.id == Validation.task_id)
    row = db.execute(query.where(Validation.id == validation_id)).one()
    return row[0], row[1]


def judges_of_task(db: Session, task_id: int) -> Sequence[int]:
    """List the people who were ever given a page to judge for a task."""
    query = select(JudgingPage.user_id).join(Validation, Validation.id == JudgingPage.validation_id)
    return db.scalars(query.where(Validation.task_id == task_id).distinct()).all()


def owner_if_written(db: Session, validation_id: int) -> int | None:
    """Give who began a validation, unless people may still write what it judges."""
    query = (
        select(Validation.created_by)
        .outerjoin(Round, Round.id == Validation.round_id)
        .where(Validation.id == validation_id, or_(Round.id.is_(None), Round.state == RoundState.CLOSED.value))
    )
    return db.scalar(query)
