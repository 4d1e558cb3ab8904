"""Prompts: adding them, drawing one, leases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, insert, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from quintain.store.queries.jobs import counts
from quintain.store.queries.jobs.counts import CountKey, round_count
from quintain.store.tables import Attempt, CorpusUse, Prompt, Round, WritingSession

Column = InstrumentedAttribute[str]
COUNTED = "prompts"
_BY_USE = ("prompts.used", "prompts.repeated")  # at least so often as their places say
CHUNK = 500  # parameters of one statement


def count(db: Session, round_id: int) -> int:
    """Return the number of the prompts of a round."""
    return counts.of_round(db, round_id).get(COUNTED, 0)


def add(db: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add prompts that nobody has used."""
    if rows:
        db.execute(insert(Prompt), list(rows))
        counts.change(db, Counter(round_count(row["round_id"], COUNTED) for row in rows))


def inputs_of(db: Session, round_id: int) -> list[Mapping[str, Any]]:
    """List the inputs of a round's prompts."""
    return list(db.scalars(select(Prompt.inputs).where(Prompt.round_id == round_id)))


def taken_hashes(db: Session, task_id: int, hashes: Sequence[str]) -> set[str]:
    """Return which of the contents *hashes* any round of the task has, shown or not, or was harvested."""
    values: set[str] = set()
    for some in _chunks(hashes):
        query = select(Prompt.hash).join(Round, Round.id == Prompt.round_id)
        values.update(db.scalars(query.where(Round.task_id == task_id, Prompt.hash.in_(some))))
        other = select(CorpusUse.hash).where(CorpusUse.task_id == task_id, CorpusUse.hash.in_(some))
        values.update(db.scalars(other))
    return values


def used_hashes(db: Session, task_id: int, hashes: Sequence[str], *, but: int) -> set[str]:
    """Return which of the contents *hashes* the task has shown or harvested outside the round *but*."""
    return _used(db, task_id, hashes, but, Prompt.hash, CorpusUse.hash)


def used_reviews(db: Session, task_id: int, reviews: Sequence[str], *, but: int) -> set[str]:
    """Return the reviews of *reviews* of which the task showed or harvested a sentence outside the round *but*."""
    return _used(db, task_id, [name for name in reviews if name], but, Prompt.review, CorpusUse.review)


def _used(db: Session, task_id: int, keys: Sequence[str], but: int, prompt: Column, use: Column) -> set[str]:
    values: set[str] = set()
    for some in _chunks(keys):
        query = select(prompt).join(Round, Round.id == Prompt.round_id).where(_was_shown(Prompt))
        values.update(db.scalars(query.where(Round.task_id == task_id, Round.id != but, prompt.in_(some))))
        other = select(use).where(CorpusUse.task_id == task_id, use.in_(some))
        values.update(db.scalars(other.where(CorpusUse.round_id.is_distinct_from(but))))
    return values


def rounds_with(db: Session, task_id: int, hashes: Sequence[str]) -> Counter[tuple[int, int]]:
    """Count for each round of a task, by its id and number, the prompts that have one of these contents."""
    prompts_by_round: Counter[tuple[int, int]] = Counter()
    for some in _chunks(hashes):
        query = select(Round.id, Round.number, func.count()).join(Prompt, Prompt.round_id == Round.id)
        query = query.where(Round.task_id == task_id, Prompt.hash.in_(some)).group_by(Round.id, Round.number)
        for round_id, number, prompts in db.execute(query):
            prompts_by_round[round_id, number] += prompts
    return prompts_by_round


def used_parts(db: Session, task_id: int, *, but: int) -> set[tuple[str, str]]:
    """List the parts of corpora, by corpus and name, of which the task has shown or harvested any outside *but*."""
    query = select(Prompt.corpus, Prompt.part).join(Round, Round.id == Prompt.round_id).distinct()
    rounds = query.where(Round.task_id == task_id, Round.id != but, Prompt.part != "", _was_shown(Prompt))
    other = select(CorpusUse.corpus, CorpusUse.part).distinct()
    harvests = other.where(CorpusUse.task_id == task_id, CorpusUse.round_id.is_distinct_from(but), CorpusUse.part != "")
    return {(corpus, part) for query in (rounds, harvests) for corpus, part in db.execute(query)}


def _was_shown(prompt: type[Prompt]) -> ColumnElement[bool]:
    return or_(prompt.generation > 0, prompt.uses > 0)


def _free_of_others() -> list[ColumnElement[bool]]:
    """Ask of a prompt that neither it nor a sentence of its review was shown in another round, or harvested."""
    other, here = aliased(Prompt), aliased(Round)
    other_round = aliased(Round)
    task = select(here.task_id).where(here.id == Prompt.round_id).correlate(Prompt).scalar_subquery()
    shown = (
        select(other.id)
        .join(other_round, other_round.id == other.round_id)
        .where(other.round_id != Prompt.round_id, other_round.task_id == task, _was_shown(other))
    )
    used = select(CorpusUse.id).where(CorpusUse.task_id == task, CorpusUse.round_id.is_distinct_from(Prompt.round_id))
    return [
        ~shown.where(other.hash == Prompt.hash).exists(),
        ~used.where(CorpusUse.hash == Prompt.hash).exists(),
        ~shown.where(other.review == Prompt.review, Prompt.review != "").exists(),
        ~used.where(CorpusUse.review == Prompt.review, Prompt.review != "").exists(),
    ]


def add_uses(db: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write down texts of a corpus that were used for something other than a prompt."""
    if rows:
        db.execute(insert(CorpusUse), list(rows))


def draw(db: Session, round_id: int, user_id: int, at: datetime, until: datetime) -> Prompt | None:
    """Lease the prompt whose turn it is: the least used, in the drawn order. Inside a writing transaction.

    A lease that has lapsed counts as free. Two who draw at the same moment never get the same one: on PostgreSQL a
    row that somebody else is taking is skipped, on SQLite there is one writer at a time. Nobody gets one again, nor
    one that another round of the task has shown meanwhile: who draws holds the lock of the task's prompts.
    """
    had = select(WritingSession.id).where(WritingSession.prompt_id == Prompt.id, WritingSession.user_id == user_id)
    query = (
        select(Prompt)
        .where(Prompt.round_id == round_id, _free(at), ~had.exists(), *_free_of_others())
        .order_by(Prompt.uses, Prompt.draw)
        .limit(1)
        .with_for_update(skip_locked=True)
        .execution_options(populate_existing=True)
    )
    return _leased(db, db.scalar(query), user_id, until)


def draw_again(db: Session, prompt_id: int, user_id: int, at: datetime, until: datetime) -> Prompt | None:
    """Lease a prompt that somebody had and from which nothing of theirs is left; None where others have, or used it.

    Uses by what they took back do not stand against them.
    """
    here = aliased(Prompt)
    least = select(func.min(here.uses)).where(here.round_id == Prompt.round_id).correlate(Prompt).scalar_subquery()
    mine = select(WritingSession.id).where(WritingSession.prompt_id == Prompt.id, WritingSession.user_id == user_id)
    written = select(Attempt.id).where(Attempt.session_id == WritingSession.id).exists()
    own = select(func.count()).select_from(mine.where(written).correlate(Prompt).subquery()).scalar_subquery()
    query = select(Prompt).where(Prompt.id == prompt_id, _free(at), Prompt.uses <= least + own)
    query = query.with_for_update(skip_locked=True)
    return _leased(db, db.scalar(query.execution_options(populate_existing=True)), user_id, until)


def _leased(db: Session, prompt: Prompt | None, user_id: int, until: datetime) -> Prompt | None:
    if prompt is not None:
        prompt.holder_id = user_id
        prompt.lease_until = until
        prompt.generation += 1
        db.flush()
    return prompt


def extend(db: Session, prompt_id: int, generation: int, until: datetime) -> bool:
    """Make a lease last longer for its holder; False where somebody else has the prompt now.

    A lease that lapsed while nobody wanted the prompt is taken up again.
    """
    return _change(db, prompt_id, generation, lease_until=until)


def release(db: Session, prompt_id: int, generation: int) -> bool:
    """Put a prompt back; False where it is not ours any more."""
    return _change(db, prompt_id, generation, lease_until=None, holder_id=None)


def count_use(db: Session, prompt_id: int, generation: int) -> bool:
    """Count that something was written from a prompt; False where it is not ours any more."""
    held = and_(Prompt.id == prompt_id, Prompt.generation == generation)
    used = update(Prompt).where(held).values(uses=Prompt.uses + 1).returning(Prompt.round_id, Prompt.uses)
    counted = db.execute(used.execution_options(synchronize_session=False)).first()
    if counted is not None and counted.uses <= len(_BY_USE):
        counts.change(db, {round_count(counted.round_id, _BY_USE[counted.uses - 1]): 1})
    return counted is not None


def counted(db: Session) -> dict[CountKey, int]:
    """Count the prompts of every round: all, those used, and those used more than once."""
    query = select(Prompt.round_id, *(func.count().filter(Prompt.uses >= most) for most in range(len(_BY_USE) + 1)))
    return {
        round_count(round_id, name): number
        for round_id, *numbers in db.execute(query.group_by(Prompt.round_id))
        for name, number in zip((COUNTED, *_BY_USE), numbers, strict=True)
    }


def release_all(db: Session, round_id: int) -> None:
    """Put every prompt of a round back."""
    db.execute(update(Prompt).where(Prompt.round_id == round_id).values(lease_until=None, holder_id=None))


def tally(db: Session, round_id: int, at: datetime) -> dict[str, int]:
    """Count the prompts of a round: all, used, used more than once, leased, free."""
    known = counts.of_round(db, round_id)
    total, used, repeated = (known.get(name, 0) for name in (COUNTED, *_BY_USE))
    leased = select(func.count(), func.count().filter(Prompt.uses == 0))
    held, new = db.execute(leased.where(Prompt.round_id == round_id, Prompt.lease_until > at)).one()
    return {"prompts": total, "used": used, "repeated": repeated, "leased": held, "unused": total - used - new}


def page(db: Session, round_id: int, *, limit: int, offset: int) -> Sequence[Prompt]:
    """List prompts of a round in the order in which they were added."""
    query = select(Prompt).where(Prompt.round_id == round_id).order_by(Prompt.id).limit(limit).offset(offset)
    return db.scalars(query).all()


def by_hash(db: Session, round_id: int, hashes: Sequence[str]) -> Sequence[Prompt]:
    """Return the prompts of a round whose contents have the hashes *hashes*."""
    if not hashes:
        return []
    return db.scalars(select(Prompt).where(Prompt.round_id == round_id, Prompt.hash.in_(hashes))).all()


def some_used(db: Session, round_id: int) -> Prompt | None:
    """Return a prompt that has been used already, for trying the page out."""
    return db.scalar(select(Prompt).where(Prompt.round_id == round_id, Prompt.uses > 0).order_by(Prompt.id).limit(1))


def _free(at: datetime) -> ColumnElement[bool]:
    return or_(Prompt.lease_until.is_(None), Prompt.lease_until <= at)


def _change(db: Session, prompt_id: int, generation: int, **values: Any) -> bool:
    held = and_(Prompt.id == prompt_id, Prompt.generation == generation)
    result = db.execute(update(Prompt).where(held).values(**values).execution_options(synchronize_session=False))
    return bool(result.rowcount)  # type: ignore[attr-defined]  # an UPDATE gives a CursorResult


def _chunks(values: Sequence[str]) -> Sequence[tuple[str, ...]]:
    return [tuple(values[start : start + CHUNK]) for start in range(0, len(values), CHUNK)]
