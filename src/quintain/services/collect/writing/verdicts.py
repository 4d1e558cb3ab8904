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
    """Give what target models said, as it is stored, to somebody from whom those in *hidden* are kept."""
    return tuple(
        ModelAnswer(one["model"], one["hash"], one["answer"], one["probabilities"], one["fooled"])
        for one in redact_predictions(predictions, hidden)
    )


def awaits_writer(made: queries.AttemptRow) -> bool:
    """Say whether an attempt waits for its writer's word."""
    return not made.retracted and (made.fooled is None or made.unsaid)


def counts_as_fooling(made: queries.AttemptRow) -> bool:
    """Say whether an attempt fooled the model and its writer stands by it."""
    return bool(made.fooled) and not made.retracted


def find_attempt(db: Session, attempt_id: int) -> queries.AttemptRow:
    """Give an attempt as it stands."""
    found = queries.row(db, attempt_id) if 0 < attempt_id < 2**31 else None
    if found is None:
        raise NotFound("There is no attempt {attempt}.", attempt=attempt_id)
    return found


def verdict(db: Session, actor: Actor, info: RoundInfo, row: SessionRow, attempt_id: int) -> Verdict:
    """Give the verdict on an attempt as it stands now."""
    found = find_attempt(db, attempt_id)
    flags = queries.flag_kinds(db, [attempt_id]).get(attempt_id, ())
    hidden = stand_ins(db, actor, info.id, target_versions(db, row.models))
    return as_verdict(info, row, found, queries.count_in_session(db, row.id), flags, hidden)


def verdicts(
    db: Session, info: RoundInfo, row: SessionRow, made: Sequence[queries.AttemptRow], hidden: Mapping[int, StandIn]
) -> list[Verdict]:
    """Give the verdicts on all attempts that were *made* in a session; *hidden* are names of models to keep."""
    flags = queries.flag_kinds(db, [one.attempt.id for one in made]) if made else {}
    return [as_verdict(info, row, one, len(made), flags.get(one.attempt.id, ()), hidden) for one in made]


def as_verdict(
    info: RoundInfo,
    row: SessionRow,
    found: queries.AttemptRow,
    made: int,
    flags: tuple[str, ...],
    hidden: Mapping[int, StandIn],
) -> Verdict:
    """Give a stored attempt as a verdict; *made* counts the attempts of its session, *hidden* are names to keep."""
    stored = found.attempt
    waiting = awaits_writer(found) and row.ended_at is None
    wanted = "" if not waiting else "decide" if found.fooled is None else "confirm"
    return Verdict(
        attempt_id=stored.id,
        number=stored.number,
        fooled=found.missed if waiting else found.fooled,
        answers=answers_of(stored.predictions, hidden),
        target=stored.target,
        inputs=stored.inputs,
        attempts_left=max(0, row.allowed - made) if row.ended_at is None else 0,
        edit_distance=stored.edit_distance,
        edit_share=stored.source.get("edit_share"),
        ask=wanted,
        flags=flags,
        outcome=row.outcome,
        at=stored.created_at,
    )
