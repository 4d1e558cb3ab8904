"""Attempts as data: what writers add to them, what owners look at, and live counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Fault
from quintain.core.people import Actor
from quintain.core.records.collect import Flag, Flags, OwnAttempt
from quintain.core.texts import Text
from quintain.services.access.permissions import require_owner, require_signed_in, require_user
from quintain.services.collect.rounds.manage import RoundInfo, get_round
from quintain.services.collect.writing import submit_attempt as collect
from quintain.services.collect.writing.verdicts import counts_as_fooling, find_attempt
from quintain.services.tasks.definitions import only_task_id
from quintain.store.database import transaction
from quintain.store.queries.collect import attempts as queries
from quintain.store.queries.collect import flags as flag_queries
from quintain.store.queries.collect import rounds as round_queries
from quintain.store.tables import AttemptFlag, AttemptNote

MAX_NOTE = 5_000


@dataclass(frozen=True, slots=True)
class RoundText:
    """What somebody wrote in a round, what the models said to it, and what became of it."""

    id: int
    inputs: Mapping[str, Any]
    target: Any
    predictions: tuple[Any, ...]
    fooled: bool | None
    retracted: bool
    writer: str
    number: int
    condition: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Notes:
    """Why the model failed, and phenomena, as the writer says; *given* where the writer was asked and has answered."""

    given: bool
    reason: str
    tags: tuple[str, ...]


def add_notes(db: Session, actor: Actor, attempt_id: int, *, reason: str = "", tags: Sequence[str] = ()) -> Notes:
    """Note why the model failed, and which phenomena are there, on one of the actor's own attempts.

    Both may be left out: that nothing was to be said is kept as well, so that nobody is asked twice.
    """
    if len(reason) > MAX_NOTE or "\x00" in reason:
        raise BadInput(faults=[Fault("is longer than {most} characters", most=MAX_NOTE, field="reason")])
    with transaction(db):
        info, row = collect.own_attempt(db, actor, attempt_id)
        known = info.spec.asks.tags
        for tag in tags:
            if tag not in known:
                hint = Text("there are {known}", known=", ".join(known)) if known else Text("this round asks for none")
                raise BadInput(faults=[Fault("there is no tag '{tag}'; {hint}", tag=tag, hint=hint, field="tags")])
        if reason.strip():
            db.add(AttemptNote(attempt_id=attempt_id, user_id=row.user_id, kind="reason", text=reason.strip()))
        if tags or not reason.strip():
            chosen = list(dict.fromkeys(tags))
            db.add(AttemptNote(attempt_id=attempt_id, user_id=row.user_id, kind="tags", tags=chosen))
        db.flush()
    return get_notes(db, actor, attempt_id)


def get_notes(db: Session, actor: Actor, attempt_id: int) -> Notes:
    """Return what the writer said of one of their own attempts, the newest of each."""
    collect.own_attempt(db, actor, attempt_id)
    notes = {note.kind: note for note in queries.notes(db, [attempt_id], ("reason", "tags"))}
    return Notes(
        given=bool(notes),
        reason=notes["reason"].text if "reason" in notes else "",
        tags=tuple(notes["tags"].tags) if "tags" in notes else (),
    )


def report(db: Session, actor: Actor, attempt_id: int, text: str) -> None:
    """Tell the owner that something is wrong with an attempt that one was shown."""
    require_signed_in(actor)
    if not text.strip() or len(text) > MAX_NOTE:
        raise BadInput(faults=[Fault("is empty or longer than {most} characters", most=MAX_NOTE, field="text")])
    with transaction(db):
        attempt = find_attempt(db, attempt_id).attempt
        flag = AttemptFlag(attempt_id=attempt_id, kind="reported", detail=text.strip(), user_id=actor.user_id)
        flag_queries.add(db, attempt.round_id, [flag])


def my_attempts(db: Session, actor: Actor, ref: str | None = None, *, limit: int = 100) -> list[OwnAttempt]:
    """List the actor's own attempts, newest first, in one round or in all; by a panel's link, of its task."""
    user_id, task_id = require_user(actor), only_task_id(db, actor)
    round_id = get_round(db, actor, ref).id if ref is not None else None
    return _told_of(db, queries.mine(db, user_id, round_id, limit, task_id=task_id))


def own_attempts(db: Session, actor: Actor, ids: Sequence[int]) -> list[OwnAttempt]:
    """Return those of some attempts that the actor made, the newest first."""
    return _told_of(db, queries.mine_among(db, require_user(actor), ids))


def _told_of(db: Session, rows: Sequence[queries.AttemptRow]) -> list[OwnAttempt]:
    """Tell a writer of their attempts."""
    places: dict[int, str] = {}
    attempts = []
    for row in rows:
        attempt = row.attempt
        if attempt.round_id not in places:
            places[attempt.round_id] = "/".join(str(part) for part in round_queries.place_of(db, attempt.round_id))
        attempts.append(
            OwnAttempt(
                id=attempt.id,
                round=places[attempt.round_id],
                number=attempt.number,
                inputs=attempt.inputs,
                target=attempt.target,
                prediction=attempt.predictions[0]["answer"] if attempt.predictions else None,
                fooled=counts_as_fooling(row) if row.fooled is not None else None,
                retracted=row.retracted,
                at=attempt.created_at,
            )
        )
    return attempts


def round_texts(
    db: Session, actor: Actor, ref: str, *, fooled: bool | None = None, before: int | None = None, limit: int = 50
) -> list[RoundText]:
    """List what was written in a round, newest first, for its owner: all of it, also what did not fool the model.

    *fooled* keeps one side; *before* is the id of the attempt after which to go on.
    """
    info = owned_round(db, actor, ref)
    return [
        RoundText(
            id=row.attempt.id,
            inputs=row.attempt.inputs,
            target=row.attempt.target,
            predictions=tuple(prediction["answer"] for prediction in row.attempt.predictions),
            fooled=None if row.fooled is None else counts_as_fooling(row),
            retracted=row.retracted,
            writer=name or "",
            number=row.attempt.number,
            condition=row.attempt.condition,
            at=row.attempt.created_at,
        )
        for row, name in queries.page_of_round(db, info.id, fooled=fooled, before=before, limit=limit)
    ]


def flag_queue(
    db: Session, actor: Actor, ref: str, *, decided: bool | None = False, offset: int = 0, limit: int | None = None
) -> Flags:
    """List what the owner of a round should look at: what nobody has decided on yet, or all (None).

    With *offset* and *limit*, one page of it.
    """
    info = owned_round(db, actor, ref)
    flags = [
        Flag(
            id=row.flag.id,
            attempt_id=row.attempt.id,
            kind=row.flag.kind,
            detail=row.flag.detail,
            inputs=row.attempt.inputs,
            at=row.flag.created_at,
            withhold=row.decision.withhold if row.decision else None,
            note=row.decision.note if row.decision else "",
        )
        for row in flag_queries.page(db, info.id, decided=decided, offset=offset, limit=limit)
    ]
    return Flags(flags, flag_queries.count(db, info.id, decided=decided))


def unknown_flags(db: Session, actor: Actor, ref: str, ids: Collection[int]) -> list[int]:
    """List those of *ids* that are no flags of a round (owners)."""
    known = flag_queries.among(db, owned_round(db, actor, ref).id, ids)
    return [one for one in ids if one not in known]


def owned_round(db: Session, actor: Actor, ref: str) -> RoundInfo:
    """Return a round for one of its task's owners; others are refused."""
    info = get_round(db, actor, ref)
    require_owner(actor, info.task)
    return info
