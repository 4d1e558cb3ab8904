"""What came of an attempt, as its writer is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import NotFound
from quintain.core.people import Actor
from quintain.core.records.collect import ModelAnswer, Verdict
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.collect.rounds.target_names import StandIn, redact_predictions, stand_ins
from quintain.services.collect.writing.ask_targets import target_versions
from quintain.store.queries.collect import attempts as queries
from quintain.store.tables import WritingSession as SessionRow


def answers_of(predictions: Sequence[Mapping[str, Any]], hidden: Mapping[int, StandIn]) -> tuple[ModelAnswer, ...]:
    """Return what target models said, as it is stored, for somebody who reads stand-ins for the models in *hidden*."""
    return tuple(
        ModelAnswer(
            prediction["model"],
            prediction["hash"],
            prediction["answer"],
            prediction["probabilities"],
            prediction["fooled"],
        )
        for prediction in redact_predictions(predictions, hidden)
    )


def awaits_writer(attempt: queries.AttemptRow) -> bool:
    """Whether an attempt waits for its writer's word."""
    return not attempt.retracted and (attempt.fooled is None or attempt.unsaid)


def counts_as_fooling(attempt: queries.AttemptRow) -> bool:
    """Whether an attempt fooled the model and its writer stands by it."""
    return bool(attempt.fooled) and not attempt.retracted


def find_attempt(db: Session, attempt_id: int) -> queries.AttemptRow:
    """Return an attempt as it stands; NotFound without one."""
    attempt = queries.row(db, attempt_id) if 0 < attempt_id < 2**31 else None
    if attempt is None:
        raise NotFound("There is no attempt {attempt}.", attempt=attempt_id)
    return attempt


def verdict(db: Session, actor: Actor, info: RoundInfo, row: SessionRow, attempt_id: int) -> Verdict:
    """Return the verdict on an attempt as it stands now."""
    attempt = find_attempt(db, attempt_id)
    flags = queries.flag_kinds(db, [attempt_id]).get(attempt_id, ())
    hidden = stand_ins(db, actor, info.id, target_versions(db, row.models))
    return as_verdict(info, row, attempt, queries.count_in_session(db, row.id), flags, hidden)


def verdicts(
    db: Session, info: RoundInfo, row: SessionRow, attempts: Sequence[queries.AttemptRow], hidden: Mapping[int, StandIn]
) -> list[Verdict]:
    """Return the verdicts on all *attempts* of a session; *hidden* has stand-ins for models."""
    flags = queries.flag_kinds(db, [attempt.attempt.id for attempt in attempts]) if attempts else {}
    return [
        as_verdict(info, row, attempt, len(attempts), flags.get(attempt.attempt.id, ()), hidden) for attempt in attempts
    ]


def as_verdict(
    info: RoundInfo,
    row: SessionRow,
    attempt: queries.AttemptRow,
    attempts: int,
    flags: tuple[str, ...],
    hidden: Mapping[int, StandIn],
) -> Verdict:
    """Return a stored attempt as a verdict; *attempts* counts those of its session, *hidden* has stand-ins."""
    stored = attempt.attempt
    waiting = awaits_writer(attempt) and row.ended_at is None
    ask = "" if not waiting else "decide" if attempt.fooled is None else "confirm"
    return Verdict(
        attempt_id=stored.id,
        number=stored.number,
        fooled=attempt.missed if waiting else attempt.fooled,
        answers=answers_of(stored.predictions, hidden),
        target=stored.target,
        inputs=stored.inputs,
        attempts_left=max(0, row.allowed - attempts) if row.ended_at is None else 0,
        edit_distance=stored.edit_distance,
        edit_share=stored.source.get("edit_share"),
        ask=ask,
        flags=flags,
        outcome=row.outcome,
        at=stored.created_at,
    )
