"""Counts that are kept as facts arrive: adding to them, asking for them, and setting them right.

Whoever adds facts adds a tail and locks no count, so that writers of the same round never wait for each other. A count
is what was folded into it plus its tail, read in one statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from quintain.store.base import table_of
from quintain.store.tables import CountTail, KeptCount

HELD = ("count_tails", "owed_pay")  # to which whoever changes a count, or what is owed, writes
FOLD_BITS = 5  # one change in 32 folds the tail of its count
_counts, _tails = table_of(KeptCount), table_of(CountTail)
_OF = text("""
    SELECT name, sum(number) FROM (
        SELECT name, count AS number FROM kept_counts WHERE scope = :scope
        UNION ALL SELECT name, change FROM count_tails WHERE scope = :scope
    ) AS parts GROUP BY name""")
_ALL = text("""
    SELECT scope, name, sum(number) FROM (
        SELECT scope, name, count AS number FROM kept_counts
        UNION ALL SELECT scope, name, change FROM count_tails
    ) AS parts GROUP BY scope, name""")


class CountKey(NamedTuple):
    """Which count: whose, and of what."""

    scope: str
    name: str


def round_count(round_id: int, name: str) -> CountKey:
    """Name a count of a round."""
    return CountKey(f"round:{round_id}", name)


def task_count(task_id: int, name: str) -> CountKey:
    """Name a count of a task."""
    return CountKey(f"task:{task_id}", name)


def validation_count(validation_id: int, name: str) -> CountKey:
    """Name a count of a validation."""
    return CountKey(f"validation:{validation_id}", name)


def change(db: Session, changes: Mapping[CountKey, int]) -> None:
    """Change counts by so much each, in the transaction that adds what is counted."""
    rows = [{"scope": key.scope, "name": key.name, "change": by} for key, by in sorted(changes.items()) if by]
    if not rows:
        return
    inserted = db.execute(insert(_tails).returning(_tails.c.id, _tails.c.scope, _tails.c.name), rows).all()
    for key in sorted({CountKey(scope, name) for number, scope, name in inserted if folds(number)}):
        fold(db, key)


def folds(number: int) -> bool:
    """Whether the change of this number folds the tail of its count; nobody has to count.

    Numbers are mixed first: changes are made in groups, so that by remainders some counts would never have their turn.

    >>> sum(folds(number) for number in range(1, 32_001, 4)) in range(200, 300)
    True
    """
    mixed = (number * 0x9E3779B97F4A7C15) & (2**64 - 1)
    return (mixed ^ (mixed >> 29)) >> (64 - FOLD_BITS) == 0


def fold(db: Session, key: CountKey) -> bool:
    """Fold the tail of a count into it; leave it where somebody else is at it."""
    dialect = postgresql if db.get_bind().dialect.name == "postgresql" else sqlite
    is_it = _counts.c.scope == key.scope, _counts.c.name == key.name
    held = select(_counts.c.count).where(*is_it)
    if db.execute(held).first() is None:
        db.execute(dialect.insert(_counts).values(**key._asdict(), count=0).on_conflict_do_nothing())
    if db.execute(held.with_for_update(skip_locked=True)).first() is None:
        return False
    gone = delete(_tails).where(_tails.c.scope == key.scope, _tails.c.name == key.name).returning(_tails.c.change)
    by = sum(db.execute(gone).scalars())
    if by:
        db.execute(update(_counts).where(*is_it).values(count=_counts.c.count + by))
    return True


def counts(db: Session, scope: str) -> dict[str, int]:
    """Return the counts of a scope by their names; what was never counted is not among them."""
    return {name: int(number) for name, number in db.connection().execute(_OF, {"scope": scope})}


def of_round(db: Session, round_id: int) -> dict[str, int]:
    """Return the counts of a round."""
    return counts(db, f"round:{round_id}")


def of_task(db: Session, task_id: int) -> dict[str, int]:
    """Return the counts of a task."""
    return counts(db, f"task:{task_id}")


def of_validation(db: Session, validation_id: int) -> dict[str, int]:
    """Return the counts of a validation."""
    return counts(db, f"validation:{validation_id}")


def everything(db: Session, names: Iterable[str]) -> dict[CountKey, int]:
    """Return all counts whose names are, or begin with, one of *names* and a dot; none that is 0."""
    prefixes = tuple(names)
    totals = ((CountKey(scope, name), int(number)) for scope, name, number in db.connection().execute(_ALL))
    return {key: number for key, number in totals if number and key.name.split(".")[0] in prefixes}


def hold(db: Session, tables: Sequence[str] = HELD) -> None:
    """Let nobody write to *tables* until this transaction ends: what is counted meanwhile stays true."""
    if db.get_bind().dialect.name == "postgresql":
        db.execute(text(f"LOCK TABLE {', '.join(tables)} IN SHARE ROW EXCLUSIVE MODE"))
