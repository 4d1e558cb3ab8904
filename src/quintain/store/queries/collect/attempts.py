"""Questions about attempts: replays, duplicates, notes, flags, counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, FromClause, Subquery, and_, bindparam, case, func, insert, or_, select, union
from sqlalchemy.orm import Session, aliased

from quintain.store.base import now, table_of
from quintain.store.queries.jobs import counts
from quintain.store.queries.jobs.counts import CountKey, round_count
from quintain.store.tables import (
    Attempt,
    AttemptBand,
    AttemptFlag,
    AttemptNote,
    FlagDecision,
    Prompt,
    Round,
    User,
)

BATCH = 1000
COUNTED = "attempts"  # all that were made, also those that were retracted
UNSAID = "not answered"  # the text of the note that stands until a writer says whether others would give the label


class AttemptRow(NamedTuple):
    """An attempt as it stands: with what its writer said of it since.

    *missed* is whether the model was wrong by the rule or the writer's decision; *fooled* whether that stands. It is
    *unsaid* until the writer has answered whether others would give the label, and counts as not confirmed till then.
    """

    attempt: Attempt
    missed: bool | None
    confirmed: bool | None
    retracted: bool
    unsaid: bool = False

    @property
    def fooled(self) -> bool | None:
        """Whether the model was fooled: not where the writer has not said that others would give the label."""
        return False if self.confirmed is False or self.unsaid else self.missed


class Likeness(NamedTuple):
    """What tells of an attempt whether a new text is too much like it.

    *same* where it is the same text, and was not retracted.
    """

    id: int
    user_id: int | None
    session_id: int | None
    prompt_id: int | None
    inputs: Mapping[str, Any]
    target: Any
    same: bool


class BeforeAdding(NamedTuple):
    """What there is before an attempt is added: how many its session has, and which was made with the same token.

    *same* says that the text is there and was not retracted; *in_round* counts the round's attempts, up to a number.
    """

    made: int
    before: int | None
    same: bool
    in_round: int


# What every attempt asks is put together once: that takes longer than the answer.
_made, _note, _band = (table_of(table) for table in (Attempt, AttemptNote, AttemptBand))


def _same_text(attempts: FromClause) -> ColumnElement[bool]:
    """Return a condition: attempts that have the same text, and were not retracted."""
    retracted = select(_note.c.attempt_id).where(_note.c.attempt_id == attempts.c.id, _note.c.kind == "retracted")
    return and_(attempts.c.text_key == bindparam("text_key"), ~retracted.correlate(attempts).exists())


_SAME = _same_text(_made)
_other = _made.alias()
_IN_SESSION = select(Attempt).where(Attempt.session_id == bindparam("session_id")).order_by(Attempt.number)
_SOME = select(_made.c.id).where(_made.c.round_id == bindparam("round_id")).limit(bindparam("most")).subquery()
_BEFORE = select(
    func.count(),
    func.max(case((_made.c.token == bindparam("token"), _made.c.id))),
    select(_other.c.id).where(_same_text(_other)).exists(),
    select(func.count()).select_from(_SOME).scalar_subquery(),
).where(_made.c.session_id == bindparam("session_id"))
_ALIKE = union(
    select(_made.c.id).where(_made.c.text_key == bindparam("text_key")),
    select(_band.c.attempt_id).where(_band.c.band.in_(bindparam("bands", expanding=True))),
)
_LIKE = (
    select(
        _made.c.id,
        _made.c.user_id,
        _made.c.session_id,
        _made.c.prompt_id,
        _made.c.inputs,
        _made.c.target,
        case((_SAME, 1), else_=0).label("same"),
    )
    .where(_made.c.id.in_(_ALIKE))
    .order_by(case((_SAME, 1), else_=0).desc(), _made.c.id.desc())
    .limit(bindparam("limit"))
)
_ADD = insert(_made).returning(_made.c.id)
_ADD_BANDS = insert(_band)


def before_adding(db: Session, round_id: int, session_id: int, token: str, text_key: str, most: int) -> BeforeAdding:
    """Look once more before an attempt is added, while nobody else adds to the session, or the same text."""
    params = {"round_id": round_id, "session_id": session_id, "token": token, "text_key": text_key, "most": most}
    in_session, before, same, in_round = db.execute(_BEFORE, params).one()
    return BeforeAdding(in_session, before, bool(same), in_round)


def in_session(db: Session, session_id: int) -> Sequence[Attempt]:
    """List the attempts of a session in order."""
    return db.scalars(_IN_SESSION, {"session_id": session_id}).all()


def count_in_session(db: Session, session_id: int) -> int:
    """Count the attempts of a session."""
    return db.scalar(select(func.count()).where(Attempt.session_id == session_id)) or 0


def like(db: Session, text_key: str, bands: Sequence[int], limit: int = 50) -> list[Likeness]:
    """List attempts with the same text, then those whose sketch shares a band, newest first."""
    params = {"text_key": text_key, "bands": list(bands), "limit": limit}
    return [Likeness(*row[:-1], same=bool(row.same)) for row in db.execute(_LIKE, params)]


def add(db: Session, **values: Any) -> Attempt:
    """Add an attempt, and give it as it is stored; the session does not look after it."""
    values = {"created_at": now(), **values}
    attempt = Attempt(id=db.execute(_ADD, values).scalar_one(), **values)
    counts.change(db, {round_count(values["round_id"], COUNTED): 1})
    return attempt


def counted(db: Session) -> dict[CountKey, int]:
    """Count the attempts of every round."""
    query = select(Attempt.round_id, func.count()).group_by(Attempt.round_id)
    return {round_count(round_id, COUNTED): int(number) for round_id, number in db.execute(query)}


def add_bands(db: Session, attempt_id: int, bands: Sequence[int]) -> None:
    """Keep the sketch of an attempt."""
    db.execute(_ADD_BANDS, [{"band": band, "attempt_id": attempt_id} for band in sorted(set(bands))])


def row(db: Session, attempt_id: int) -> AttemptRow | None:
    """Return an attempt as it stands; None without one."""
    rows = _as_they_stand(db, db.scalars(select(Attempt).where(Attempt.id == attempt_id)).all())
    return rows[0] if rows else None


def rows_of_session(db: Session, session_id: int) -> list[AttemptRow]:
    """List the attempts of a session as they stand, in order."""
    return _as_they_stand(db, in_session(db, session_id))


def rows_of_round(db: Session, round_id: int) -> Iterator[AttemptRow]:
    """Go through the attempts of a round as they stand, in order."""
    states = _current_state(Attempt.round_id == round_id)
    query = (
        select(Attempt, states.c.fooled, states.c.confirmed, states.c.retracted, states.c.unsaid)
        .join(states, states.c.id == Attempt.id)
        .order_by(Attempt.id)
        .execution_options(yield_per=BATCH)
    )
    for attempt, fooled, confirmed, retracted, unsaid in db.execute(query):
        agreed = None if unsaid else _flag(confirmed)
        yield AttemptRow(attempt, _flag(fooled), agreed, retracted is not None, bool(unsaid))


def is_agreed(attempts: FromClause) -> ColumnElement[bool]:
    """Return a condition: attempts that their writers stand by; not those that others would not label so."""
    newest = select(_note.c.yes).where(_note.c.attempt_id == attempts.c.id, _note.c.kind == "confirmed")
    answer = newest.order_by(_note.c.id.desc()).limit(1).correlate(attempts).scalar_subquery()
    return func.coalesce(answer, True).is_(True)


def is_unsaid(attempts: FromClause) -> ColumnElement[bool]:
    """Return a condition: attempts that wait for their writers' word on the label, or waited to the end."""
    newest = select(_note.c.text).where(_note.c.attempt_id == attempts.c.id, _note.c.kind == "confirmed")
    reason = newest.order_by(_note.c.id.desc()).limit(1).correlate(attempts).scalar_subquery()
    return func.coalesce(reason, "") == UNSAID


def count_in_round(db: Session, round_id: int) -> int:
    """Count the attempts of a round."""
    return db.scalar(select(func.count()).where(Attempt.round_id == round_id)) or 0


def page_of_round(
    db: Session, round_id: int, *, fooled: bool | None, before: int | None, limit: int
) -> list[tuple[AttemptRow, str | None]]:
    """List attempts of a round as they stand with their writers' names, newest first, those *before* an id.

    *fooled* keeps those at which the model was wrong, or right; where a writer decides, the first.
    """
    in_round = Attempt.round_id == round_id
    query = select(Attempt, User.name).outerjoin(User, User.id == Attempt.user_id).where(in_round)
    if fooled is not None:
        query = query.where(Attempt.fooled.is_not(False) if fooled else Attempt.fooled.is_(False))
    if before is not None:
        query = query.where(Attempt.id < before)
    named_attempts = db.execute(query.order_by(Attempt.id.desc()).limit(limit)).all()
    attempt_rows = _as_they_stand(db, [attempt for attempt, _ in named_attempts])
    return list(zip(attempt_rows, (name for _, name in named_attempts), strict=True))


def writers_of(db: Session, round_id: int) -> Sequence[int | None]:
    """List the people who made attempts in a round."""
    return db.scalars(select(Attempt.user_id).where(Attempt.round_id == round_id).distinct()).all()


def withheld(db: Session, round_id: int) -> set[int]:
    """List the attempts of a round that its owner withholds, for any of their flags."""
    newest = select(func.max(FlagDecision.id)).group_by(FlagDecision.flag_id)
    query = (
        select(AttemptFlag.attempt_id)
        .join(Attempt, Attempt.id == AttemptFlag.attempt_id)
        .join(FlagDecision, FlagDecision.flag_id == AttemptFlag.id)
        .where(Attempt.round_id == round_id, FlagDecision.id.in_(newest), FlagDecision.withhold)
    )
    return set(db.scalars(query))


def fooling_examples(db: Session, round_id: int, user_id: int, limit: int) -> list[Attempt]:
    """List attempts of others that fooled the model and are nobody's secret, newest first."""
    states = _current_state(Attempt.round_id == round_id)
    flagged = select(AttemptFlag.id).where(AttemptFlag.attempt_id == Attempt.id)
    query = (
        select(Attempt)
        .join(states, states.c.id == Attempt.id)
        .where(
            _claimed(states),
            states.c.retracted.is_(None),
            ~flagged.exists(),
            Attempt.user_id.is_distinct_from(user_id),
        )
        .order_by(Attempt.id.desc())
        .limit(limit)
    )
    return list(db.scalars(query))


def notes(db: Session, attempt_ids: Sequence[int], kinds: Sequence[str] = ()) -> Sequence[AttemptNote]:
    """List the notes on attempts, of all kinds or of some, oldest first."""
    query = select(AttemptNote).where(AttemptNote.attempt_id.in_(attempt_ids))
    query = query.where(AttemptNote.kind.in_(kinds)) if kinds else query
    return db.scalars(query.order_by(AttemptNote.id)).all()


def mine(
    db: Session, user_id: int, round_id: int | None, limit: int, *, task_id: int | None = None
) -> list[AttemptRow]:
    """List somebody's attempts as they stand, newest first: all, or those of a round, or of a task."""
    newest = select(Attempt.id).where(Attempt.user_id == user_id)
    if round_id is not None:
        newest = newest.where(Attempt.round_id == round_id)
    if task_id is not None:
        newest = newest.where(Attempt.round_id.in_(select(Round.id).where(Round.task_id == task_id)))
    return mine_among(db, user_id, list(db.scalars(newest.order_by(Attempt.id.desc()).limit(limit))))


def mine_among(db: Session, user_id: int, ids: Sequence[int]) -> list[AttemptRow]:
    """Return those of some attempts that somebody made, as they stand, newest first."""
    own = select(Attempt).where(Attempt.id.in_(ids), Attempt.user_id == user_id)
    return _as_they_stand(db, db.scalars(own.order_by(Attempt.id.desc())).all())


def flag_kinds(db: Session, attempt_ids: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """List what attempts are flagged for, each kind once."""
    query = select(AttemptFlag.attempt_id, AttemptFlag.kind).where(AttemptFlag.attempt_id.in_(attempt_ids))
    kinds: dict[int, tuple[str, ...]] = {}
    for attempt_id, kind in db.execute(query.order_by(AttemptFlag.id)):
        if kind not in kinds.get(attempt_id, ()):
            kinds[attempt_id] = (*kinds.get(attempt_id, ()), kind)
    return kinds


def attempt_of_flag(db: Session, flag_id: int) -> tuple[int, int] | None:
    """Return the ids of the attempt that was flagged and of its round."""
    query = select(Attempt.id, Attempt.round_id).join(AttemptFlag, AttemptFlag.attempt_id == Attempt.id)
    row = db.execute(query.where(AttemptFlag.id == flag_id)).first()
    return (row[0], row[1]) if row else None


def tally(db: Session, round_id: int, by: str | None = None) -> list[tuple[Any, int, int]]:
    """Count attempts that stand, and those of them that fooled the model; *by* one of the names of `_groups`.

    Without *by* there is one row whose first value is None.
    """
    states = _current_state(Attempt.round_id == round_id)
    group = _groups(db)[by] if by else None
    columns = [func.count(), func.count().filter(_claimed(states))]
    query = (
        select(*([group] if group is not None else []), *columns)
        .select_from(Attempt)
        .join(states, states.c.id == Attempt.id)
        .where(states.c.retracted.is_(None))
    )
    if by == "prompt":
        query = query.join(Prompt, Prompt.id == Attempt.prompt_id)
    if group is None:
        totals = db.execute(query).one()
        return [(None, int(totals[0]), int(totals[1]))]
    return [(key, int(made), int(good)) for key, made, good in db.execute(query.group_by(group).order_by(group))]


def retracted_count(db: Session, round_id: int) -> int:
    """Count the attempts of a round that were retracted."""
    query = (
        select(func.count(func.distinct(AttemptNote.attempt_id)))
        .join(Attempt, Attempt.id == AttemptNote.attempt_id)
        .where(Attempt.round_id == round_id, AttemptNote.kind == "retracted")
    )
    return db.scalar(query) or 0


def worker_count(db: Session, round_id: int) -> int:
    """Count the people who made attempts in a round."""
    return db.scalar(select(func.count(func.distinct(Attempt.user_id))).where(Attempt.round_id == round_id)) or 0


def _groups(db: Session) -> dict[str, Any]:
    if db.get_bind().dialect.name == "postgresql":
        hour = func.to_char(func.timezone("UTC", Attempt.created_at), "YYYY-MM-DD HH24:00")
    else:
        hour = func.strftime("%Y-%m-%d %H:00", Attempt.created_at)
    return {
        "worker": Attempt.user_id,
        "prompt": Prompt.hash,
        "label": Attempt.aim,
        "condition": Attempt.condition,
        "number": Attempt.number,
        "hour": hour,
    }


def _current_state(condition: ColumnElement[bool]) -> Subquery:
    """Return id, fooled, confirmed, retracted and unsaid of the attempts *condition*, from what was said last."""
    last = (
        select(AttemptNote.attempt_id, AttemptNote.kind, func.max(AttemptNote.id).label("id"))
        .join(Attempt, Attempt.id == AttemptNote.attempt_id)
        .where(condition, AttemptNote.kind.in_(("decision", "confirmed", "retracted")))
        .group_by(AttemptNote.attempt_id, AttemptNote.kind)
        .subquery()
    )
    decision, confirmed, retracted = aliased(AttemptNote), aliased(AttemptNote), aliased(last)
    first, second = aliased(last), aliased(last)
    return (
        select(
            Attempt.id,
            func.coalesce(Attempt.fooled, decision.yes).label("fooled"),
            confirmed.yes.label("confirmed"),
            retracted.c.id.label("retracted"),
            case((confirmed.text == UNSAID, 1), else_=0).label("unsaid"),
        )
        .outerjoin(first, and_(first.c.attempt_id == Attempt.id, first.c.kind == "decision"))
        .outerjoin(decision, decision.id == first.c.id)
        .outerjoin(second, and_(second.c.attempt_id == Attempt.id, second.c.kind == "confirmed"))
        .outerjoin(confirmed, confirmed.id == second.c.id)
        .outerjoin(retracted, and_(retracted.c.attempt_id == Attempt.id, retracted.c.kind == "retracted"))
        .where(condition)
        .subquery()
    )


def _claimed(states: Subquery) -> ColumnElement[bool]:
    """Return a condition: attempts where the model was fooled and the writer did not take it back."""
    return and_(states.c.fooled, or_(states.c.confirmed.is_(None), states.c.confirmed))


def _as_they_stand(db: Session, attempts: Sequence[Attempt]) -> list[AttemptRow]:
    """Put the newest notes beside a few attempts. For many there is `_current_state`, which takes longer to compile."""
    notes_by_kind: dict[tuple[int, str], AttemptNote] = {}
    if attempts:
        notes_by_kind = {(note.attempt_id, note.kind): note for note in notes(db, [attempt.id for attempt in attempts])}
    rows = []
    for attempt in attempts:
        decision, confirmed = notes_by_kind.get((attempt.id, "decision")), notes_by_kind.get((attempt.id, "confirmed"))
        fooled = attempt.fooled if attempt.fooled is not None or decision is None else decision.yes
        unsaid = confirmed is not None and confirmed.text == UNSAID
        agreed = confirmed.yes if confirmed is not None and not unsaid else None
        rows.append(AttemptRow(attempt, fooled, agreed, (attempt.id, "retracted") in notes_by_kind, unsaid))
    return rows


def _flag(value: object) -> bool | None:
    return None if value is None else bool(value)
