"""Taking in: which attempts of a round may be judged and are no items yet, and which items are to leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Integer,
    Select,
    Text,
    bindparam,
    case,
    cast,
    func,
    insert,
    or_,
    select,
    text,
    union,
    update,
)
from sqlalchemy.orm import Session, aliased

from quintain.core.hashing import ID_LENGTH
from quintain.store.base import table_of
from quintain.store.queries.collect.attempts import is_unsaid
from quintain.store.queries.validate.validation import ENDS, WINDOW
from quintain.store.tables import (
    Attempt,
    AttemptFlag,
    AttemptNote,
    FlagDecision,
    ValidationItem,
)

DRAWN_DIGITS = 8  # of a hash, that chance is made of
_MARKS = [
    text(ENDS.format(name=name, whose=whose, window=WINDOW))
    for name, whose in (("attempts", "round_id = :round"), ("attempt_notes", "1 = 1"), ("flag_decisions", "1 = 1"))
]


class NewAttempt(NamedTuple):
    """An attempt that may become an item; *again* where the same text was one, and its writer took it back."""

    id: int
    hash: str
    author_id: int | None
    again: bool


def new_attempts(
    db: Session,
    validation_id: int,
    round_id: int,
    *,
    unfooled: float,
    seed: int,
    after: int = 0,
    limit: int | None = None,
    since: str = "",
    until: int | None = None,
) -> list[NewAttempt]:
    """List a round's attempts that may be judged and are no items yet: kept, neither retracted nor withheld.

    With *after*, *until* and *limit*, the first so many beyond one and up to another; with *since*, only those that
    something was written about after that mark.

    One of which its writer has not said whether others would give the label is none of them.

    All that fooled the model, by its answer or by what the writer decided; of the others the share *unfooled*, drawn
    by *seed* from the hashes of their contents, so that it is the same ones whenever they are asked for.
    """
    # An item that was retired belongs to another attempt: the text was taken back, and has been written again.
    same = select(ValidationItem.id).where(
        ValidationItem.validation_id == validation_id, ValidationItem.hash == Attempt.hash
    )
    known = same.where(ValidationItem.retired_at.is_(None) | (ValidationItem.attempt_id == Attempt.id))
    query = select(Attempt.id, Attempt.hash, Attempt.user_id, same.exists()).where(
        Attempt.round_id == round_id, Attempt.id > after, ~known.exists(), ~is_gone_now()
    )
    query = query.where(cast(Attempt.inputs, Text) != "{}", ~is_unsaid(table_of(Attempt)), *_chosen(unfooled, seed))
    if since:
        query = query.where(Attempt.id.in_(_touched(round_id, since)))
    if until is not None:
        query = query.where(Attempt.id <= until)
    return [NewAttempt(*row) for row in db.execute(query.order_by(Attempt.id).limit(limit))]


def next_ids(db: Session, round_id: int, *, after: int, limit: int) -> Sequence[int]:
    """List the ids of a round's attempts beyond one, whether they may be judged or not; only an index is read."""
    query = select(Attempt.id).where(Attempt.round_id == round_id, Attempt.id > after)
    return db.scalars(query.order_by(Attempt.id).limit(limit)).all()


def _touched(round_id: int, since: str) -> CompoundSelect[int]:
    """Choose the attempts that were written, or about which something was said or decided, after a mark.

    What gets an id first may be committed last, so that some before it are looked at again.
    """
    attempt, note, decision = (int(one.partition(".")[0]) - WINDOW for one in since.split("/"))
    return union(
        select(Attempt.id).where(Attempt.round_id == round_id, Attempt.id > attempt),
        select(AttemptNote.attempt_id).where(AttemptNote.id > note),
        select(AttemptFlag.attempt_id)
        .join(FlagDecision, FlagDecision.flag_id == AttemptFlag.id)
        .where(FlagDecision.id > decision),
    )


def count_attempts(db: Session, round_id: int) -> int:
    """Count the attempts of a round."""
    return db.scalar(select(func.count()).where(Attempt.round_id == round_id)) or 0


def candidate_hashes(db: Session, round_id: int, *, unfooled: float, seed: int) -> list[str]:
    """List the hashes of a round's attempts that may be judged, items already or not, each once."""
    query = select(Attempt.hash).where(
        Attempt.round_id == round_id, ~gone(), ~is_unsaid(table_of(Attempt)), *_chosen(unfooled, seed)
    )
    return list(dict.fromkeys(db.scalars(query.order_by(Attempt.id))))


def count_attempts_to(db: Session, round_id: int, most: int) -> int:
    """Count the attempts of a round, and no further than *most*."""
    some = select(Attempt.id).where(Attempt.round_id == round_id).limit(most).subquery()
    return db.scalar(select(func.count()).select_from(some)) or 0


def _chosen(unfooled: float, seed: int) -> list[ColumnElement[bool]]:
    if unfooled >= 1:
        return []
    fooled = func.coalesce(_newest_note("decision"), Attempt.fooled)
    agreed = func.coalesce(_newest_note("confirmed"), True)
    return [(fooled.is_(True) & agreed.is_(True)) | _drawn(unfooled, seed)]


def _drawn(share: float, seed: int) -> Any:
    """Draw a share of the attempts: eight digits of their hash, from a place that *seed* says, below a limit."""
    digits = func.substr(Attempt.hash, 1 + seed % (ID_LENGTH - DRAWN_DIGITS + 1), DRAWN_DIGITS)
    return digits < f"{round(share * (16**DRAWN_DIGITS - 1)):0{DRAWN_DIGITS}x}"


def gone_items(db: Session, validation_id: int) -> list[int]:
    """List the items whose attempts were retracted or withheld: few of many, so that they are looked for by those."""
    retracted = select(AttemptNote.attempt_id).where(AttemptNote.kind == "retracted")
    suspects = or_(ValidationItem.attempt_id.in_(retracted), ValidationItem.attempt_id.in_(_withheld()))
    return list(db.scalars(_gone_items(validation_id).where(suspects)))


def gone_in_rounds(db: Session, round_ids: Sequence[int]) -> list[int]:
    """List the attempts of some rounds that were retracted or are withheld, looked for as in `gone_items`."""
    retracted = select(AttemptNote.attempt_id).where(AttemptNote.kind == "retracted")
    suspects = or_(Attempt.id.in_(retracted), Attempt.id.in_(_withheld()))
    return list(db.scalars(select(Attempt.id).where(Attempt.round_id.in_(round_ids), suspects, gone())))


def leaving_items(db: Session, validation_id: int, round_id: int, since: str) -> list[int]:
    """List the items that are still judged and whose attempts were retracted or withheld after a mark."""
    if not since:
        return gone_items(db, validation_id)
    left = _gone_items(validation_id).where(ValidationItem.retired_at.is_(None))
    return list(db.scalars(left.where(ValidationItem.attempt_id.in_(_touched(round_id, since)))))


def _gone_items(validation_id: int) -> Select[int]:
    query = select(ValidationItem.id).join(Attempt, Attempt.id == ValidationItem.attempt_id)
    return query.where(ValidationItem.validation_id == validation_id, gone())


def is_gone(db: Session, attempt_id: int) -> bool:
    """Whether an attempt was retracted or is withheld."""
    return db.scalar(select(Attempt.id).where(Attempt.id == attempt_id, is_gone_now())) is not None


def gone_among(db: Session, item_ids: Sequence[int]) -> set[int]:
    """Return which of some items were retracted or are withheld, reading no others."""
    query = select(ValidationItem.id).join(Attempt, Attempt.id == ValidationItem.attempt_id)
    return set(db.scalars(query.where(ValidationItem.id.in_(item_ids), is_gone_now())))


def retracted_items(db: Session, validation_id: int, hashes: Sequence[str]) -> list[ValidationItem]:
    """Return the items with these hashes whose attempts were retracted; what is withheld stays withheld."""
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
    items: list[ValidationItem] = []
    for start in range(0, len(hashes), 5000):
        items += db.scalars(query.where(ValidationItem.hash.in_(hashes[start : start + 5000])))
    return items


def mark(db: Session, round_id: int) -> str:
    """Return a text that changes with what was written, said or decided about a round's attempts, by ends of indices.

    Of notes and decisions, those of other rounds are counted, too: looking once too often costs little.
    """
    connection = db.connection()
    ends = [connection.execute(query, {"round": round_id}).one() for query in _MARKS]
    return "/".join(f"{newest or 0}.{number}" for newest, number in ends)


def gone() -> Any:
    """Return a condition on an attempt: it was retracted or is withheld."""
    return func.coalesce(_newest_note("retracted"), False).is_(True) | Attempt.id.in_(_withheld())


def is_gone_now() -> Any:
    """Return the same as `gone` for one attempt after another: for few, where that asks about all at once."""
    later = aliased(FlagDecision)
    undone = select(later.id).where(later.flag_id == FlagDecision.flag_id, later.id > FlagDecision.id)
    withheld = (
        select(AttemptFlag.id)
        .join(FlagDecision, FlagDecision.flag_id == AttemptFlag.id)
        .where(AttemptFlag.attempt_id == Attempt.id, FlagDecision.withhold, ~undone.exists())
        .correlate(Attempt)
    )
    return func.coalesce(_newest_note("retracted"), False).is_(True) | withheld.exists()


def _newest_note(kind: str) -> Any:
    # A retraction says yes by being there; a decision or a confirmation says yes or no.
    answer = case((AttemptNote.yes.is_(None), True), else_=AttemptNote.yes)
    query = select(answer).where(AttemptNote.attempt_id == Attempt.id, AttemptNote.kind == kind)
    return query.order_by(AttemptNote.id.desc()).limit(1).correlate(Attempt).scalar_subquery()


def _withheld() -> Any:
    newest = select(func.max(FlagDecision.id)).group_by(FlagDecision.flag_id)
    return (
        select(AttemptFlag.attempt_id)
        .join(FlagDecision, FlagDecision.flag_id == AttemptFlag.id)
        .where(FlagDecision.id.in_(newest), FlagDecision.withhold)
    )


def add_attempts(
    db: Session, validation_id: int, attempt_ids: Sequence[int], *, before: int, batch_size: int
) -> list[tuple[int, int]]:
    """Make items of attempts, each of which has a hash of its own; give the item and the batch of each, in order.

    *before* is how many items there are. The rows are copied within the database: nothing of them is read here.
    """
    if not attempt_ids:
        return []
    mine = ValidationItem.validation_id == validation_id
    newest = db.scalar(select(func.max(ValidationItem.id)).where(mine)) or 0
    params = {"validation": validation_id, "before": before, "size": batch_size, "chosen": list(attempt_ids)}
    db.connection().execute(_copying(), params)
    inserted = select(ValidationItem.attempt_id, ValidationItem.id, ValidationItem.batch).where(
        mine, ValidationItem.id > newest, ValidationItem.gold.is_(None)
    )
    positions = {attempt: (int(item), int(batch)) for attempt, item, batch in db.execute(inserted)}
    return [positions[one] for one in attempt_ids]


@cache
def _copying() -> Any:
    """Return the statement that makes items of attempts, put together once: it is long, and so are its lists."""
    position = bindparam("before", type_=Integer()) - 1 + func.row_number().over(order_by=Attempt.id)
    taken = {
        "validation_id": bindparam("validation", type_=Integer()),
        "attempt_id": Attempt.id,
        "author_id": Attempt.user_id,
        "batch": position // bindparam("size", type_=Integer()),
        "hash": Attempt.hash,
        "inputs": Attempt.inputs,
        "answer": Attempt.target,
        "aim": Attempt.aim,
        "predictions": Attempt.predictions,
        "source": Attempt.source,
    }
    chosen = select(*taken.values()).where(Attempt.id.in_(bindparam("chosen", expanding=True))).order_by(Attempt.id)
    return insert(table_of(ValidationItem)).from_select(list(taken), chosen)


def ask_often(db: Session, item_ids: Sequence[int], judgements: int) -> None:
    """Note of items that they are judged more often than others."""
    change = update(ValidationItem).where(ValidationItem.id.in_(item_ids)).values(asked=judgements)
    db.execute(change.execution_options(synchronize_session=False))


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
