"""The attempt: somebody writes at a model, and it answers at once.

The server computes all that matters (what the model said, whether it was fooled, who wrote it) and trusts a client
with nothing but the text and the answer aimed at. The model is asked outside of any transaction. What cannot be
submitted is kept as a draft.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, NotFound, QuintainError
from quintain.core.example import Answer, Example, Inputs
from quintain.core.people import Actor
from quintain.core.records.collect import Verdict, WritingSession
from quintain.core.rounds import RoundState
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.services.collect.rounds import round_figures
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.collect.rounds.question_types import TYPE, require_type
from quintain.services.collect.rounds.target_names import stand_ins
from quintain.services.collect.writing import sessions
from quintain.services.collect.writing.ask_targets import all_fooled, ask_targets, target_versions
from quintain.services.collect.writing.checks import Written, aim_of, check_writing
from quintain.services.collect.writing.content_flags import find_hints
from quintain.services.collect.writing.duplicates import Sketch, is_exact_duplicate, refuse_duplicates, sketch_of
from quintain.services.collect.writing.end_session import end_session
from quintain.services.collect.writing.justifications import JUSTIFIED, require_justified
from quintain.services.collect.writing.sessions import WritingPlace
from quintain.services.collect.writing.verdicts import (
    as_verdict,
    awaits_writer,
    counts_as_fooling,
    find_attempt,
    verdict,
    verdicts,
)
from quintain.services.events import ServiceEvent, announce
from quintain.services.models.ask import RUNNERS, SECONDS, AdapterRunner
from quintain.services.models.registry import ModelVersionInfo
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.collect import attempts as queries
from quintain.store.queries.collect import flags as flag_queries
from quintain.store.queries.collect import prompts
from quintain.store.queries.collect import rounds as round_queries
from quintain.store.queries.collect.rounds import is_judged
from quintain.store.tables import Attempt, AttemptFlag, AttemptNote, Prompt
from quintain.store.tables import WritingSession as SessionRow

logger = logging.getLogger(__name__)
MAX_TOKEN = 80


def submit_attempt(  # noqa: PLR0913 - what is submitted, and by what means it is answered
    db: Session,
    blobs: Blobs,
    actor: Actor,
    key: str,
    inputs: Inputs,
    *,
    target: Answer,
    token: str,
    justification: str = "",
    of_type: str = "",
    writing: WritingPlace | None = None,
    runners: Mapping[str, AdapterRunner] = RUNNERS,
    seconds: float = SECONDS,
) -> Verdict:
    """Submit what was written in the session *key*; the same *token* again gives the first verdict again.

    A *justification* and the type that it is *of_type* go with it where the round asks for them.

    *writing* is what `writing.find_place` gave for this key and token, where the caller has looked already.

    Raises BadInput for a text that cannot be taken, Conflict where the session or the round is over or the text is
    there already, Unavailable where a model does not answer: then no attempt is used up, and the text is kept.
    """
    if not 0 < len(token) <= MAX_TOKEN or "\x00" in token:
        raise BadInput("The form has no token of 1 to 80 characters.", remedy="Load the page again.")
    writing = writing or sessions.find_place(db, actor, key, token)
    info, task, row = writing.info, writing.task, writing.row
    if writing.before is not None:
        return verdict(db, actor, info, row, writing.before)
    try:
        _require_open(info, row)
        written = check_writing(task, info.spec, _prompt(db, row), inputs, target, assigned=row.target)
        require_type(db, info, row, of_type)
        require_justified(db, info, justification)
        sketch = sketch_of(task, written)
        refuse_duplicates(db, task, row, written, sketch)
        versions = target_versions(db, row.models)
        db.rollback()  # hold no connection while the model thinks
        answers = ask_targets(blobs, versions, task, info.spec, written, runners=runners, seconds=seconds)
        notes = {JUSTIFIED: justification.strip(), TYPE: of_type}
        return _store(db, actor, _Submitted(key, token, task, written, sketch, versions, answers, notes), info)
    except QuintainError as error:
        if not isinstance(error, NotFound):
            _keep(db, actor, key, inputs, target)
        raise


@dataclass(frozen=True, slots=True)
class _Submitted:
    key: str
    token: str
    task: Task
    written: Written
    sketch: Sketch
    versions: list[ModelVersionInfo]
    answers: list[dict[str, Any]]
    notes: Mapping[str, str]


def _store(db: Session, actor: Actor, submitted: _Submitted, info: RoundInfo) -> Verdict:
    with transaction(db):
        # Whoever closes the round waits for this, or has closed it before.
        state = round_queries.share_state(db, info.id)
        row = sessions.lock_own(db, actor, submitted.key)
        lock(db, f"text {submitted.sketch.text_key}")
        before = queries.before_adding(
            db, info.id, row.id, submitted.token, submitted.sketch.text_key, round_figures.worker_threshold()
        )
        attempts = before.made
        if before.before is not None:
            return verdict(db, actor, info, row, before.before)
        if state != RoundState.OPEN:
            raise _closed(info)
        _require_open(info, row)
        if attempts >= row.allowed:
            raise Conflict(
                "There are no attempts left in this session.", remedy="Begin a new one.", code="no_attempts_left"
            )
        if not sessions.keep_lease(db, row):
            raise Conflict(
                "You were away so long that your prompt was given to somebody else.",
                remedy="Your text is kept. Begin a new session.",
            )
        require_type(db, info, row, submitted.notes[TYPE])  # once more: two may have been on their way at once
        if before.same:  # the last look, while nobody else adds this text
            raise is_exact_duplicate(mine=False)
        stored, flags = _add(db, submitted, info, row, attempts + 1)
        if row.prompt_id is not None and attempts == 0:
            prompts.count_use(db, row.prompt_id, row.generation)
        if info.spec.targets.has_model and (stored.fooled is not False or attempts + 1 >= row.allowed):
            end_if_over(db, info, row)
        elif attempts + 1 >= row.allowed:  # where there is no model to fool, nothing is claimed and nothing waits
            end_session(db, info, row, "exhausted", attempts=attempts + 1)
        announce(db, ServiceEvent.ATTEMPT_KEPT, info, before.in_round + 1)
        hidden = stand_ins(db, actor, info.id, submitted.versions)
        asked = bool(stored.fooled) and info.spec.asks.confirm
        attempt = queries.AttemptRow(stored, stored.fooled, None, retracted=False, unsaid=asked)
        return as_verdict(info, row, attempt, attempts + 1, flags, hidden)


def _add(
    db: Session, submitted: _Submitted, info: RoundInfo, row: SessionRow, number: int
) -> tuple[Attempt, tuple[str, ...]]:
    written, sketch = submitted.written, submitted.sketch
    result = all_fooled(submitted.answers)
    is_kept = info.spec.keep_nonfooling or result is not False
    stored = queries.add(
        db,
        round_id=info.id,
        session_id=row.id,
        user_id=row.user_id,
        prompt_id=row.prompt_id,
        condition=row.condition,
        number=number,
        token=submitted.token,
        hash=Example(written.inputs).id,
        text_key=sketch.text_key,
        inputs=dict(written.inputs) if is_kept else {},
        target=written.target,
        aim=aim_of(submitted.task, written.target),
        predictions=submitted.answers,
        fooled=result,
        edit_distance=written.edit_distance,
        seconds=(now() - row.started_at).total_seconds(),
        source={} if written.edit_share is None else {"edit_share": round(written.edit_share, 4)},
    )
    if not is_kept:
        return stored, ()
    asked = {JUSTIFIED: info.spec.asks.justification, TYPE: bool(info.spec.asks.types)}
    for kind in (hint for hint, there in asked.items() if there):
        db.add(AttemptNote(attempt_id=stored.id, user_id=row.user_id, kind=kind, text=submitted.notes[kind]))
    if result and info.spec.asks.confirm:
        _leave_unsaid(db, stored.id, row)
    queries.add_bands(db, stored.id, sketch.bands)
    hints = find_hints(sketch.own.values(), info.spec.flags)
    if hints:
        flags = [AttemptFlag(attempt_id=stored.id, kind=hint.kind, detail=hint.detail) for hint in hints]
        flag_queries.add(db, info.id, flags)
    return stored, tuple(dict.fromkeys(hint.kind for hint in hints))


def _leave_unsaid(db: Session, attempt_id: int, row: SessionRow) -> None:
    """Note that the writer has not said whether others would give the label: until they do, it counts as a no."""
    note = AttemptNote(attempt_id=attempt_id, user_id=row.user_id, kind="confirmed", yes=False, text=queries.UNSAID)
    db.add(note)
    db.flush()


def confirm(db: Session, actor: Actor, attempt_id: int, yes: bool) -> Verdict:
    """Answer whether other people would give the label aimed at. Yes ends the session; no takes the fooling back."""
    return _say(db, actor, attempt_id, "confirmed", yes)


def decide(db: Session, actor: Actor, attempt_id: int, yes: bool) -> Verdict:
    """Note the writer's word on whether the model was fooled, where the round leaves it to them."""
    return _say(db, actor, attempt_id, "decision", yes)


def get_verdict(db: Session, actor: Actor, attempt_id: int) -> Verdict:
    """Return the verdict on one of the actor's own attempts again, as it stands now."""
    info, row = own_attempt(db, actor, attempt_id)
    return verdict(db, actor, info, row, attempt_id)


@dataclass(frozen=True, slots=True)
class WritingDesk:
    """All that a writer has before them: the task, the round, the session as it stands, and every verdict in it.

    *judged* says that what is written here is being judged.
    """

    task: Task
    info: RoundInfo
    session: WritingSession
    verdicts: tuple[Verdict, ...]
    judged: bool


def desk(db: Session, actor: Actor, key: str) -> WritingDesk:
    """Return one of the actor's own sessions with everything around it, as the page of writing shows it."""
    writing = sessions.find_place(db, actor, key)
    attempts = queries.rows_of_session(db, writing.row.id)
    versions = target_versions(db, writing.row.models)
    hidden = stand_ins(db, actor, writing.info.id, versions)
    session = sessions.session_view(db, actor, writing.info, writing.row, attempts, versions)
    answers = tuple(verdicts(db, writing.info, writing.row, attempts, hidden))
    return WritingDesk(
        writing.task, writing.info, session, answers, judged=session.ended and is_judged(db, writing.info.id)
    )


def _say(db: Session, actor: Actor, attempt_id: int, kind: str, yes: bool) -> Verdict:
    with transaction(db):
        info, row = own_attempt(db, actor, attempt_id, locked=True)
        attempt = find_attempt(db, attempt_id)
        if kind == "decision" and attempt.attempt.fooled is not None:
            raise Conflict("Whether the model was fooled is decided by the round's rule, not by the writer.")
        if kind == "confirmed" and not attempt.missed:
            raise Conflict("The model was not fooled, so there is nothing to confirm.")
        earlier = attempt.missed if kind == "decision" else attempt.confirmed
        if kind == "confirmed" and attempt.unsaid and row.ended_at is not None:
            raise Conflict(
                "This session is over, and the example counts as not confirmed.",
                remedy="The text is kept; begin a new session.",
                code="session_over",
            )
        if earlier is not None and row.ended_at is not None:
            if earlier == yes:
                return verdict(db, actor, info, row, attempt_id)
            raise Conflict("This session is over.", remedy="You can still retract the attempt.", code="session_over")
        if earlier != yes:
            db.add(AttemptNote(attempt_id=attempt_id, user_id=row.user_id, kind=kind, yes=yes))
            db.flush()
            if kind == "decision" and yes and info.spec.asks.confirm and attempt.confirmed is None:
                _leave_unsaid(db, attempt_id, row)
            announce(db, ServiceEvent.ATTEMPT_KEPT, info)
        if row.ended_at is None:
            end_if_over(db, info, row)
        return verdict(db, actor, info, row, attempt_id)


def end_if_over(db: Session, info: RoundInfo, row: SessionRow) -> None:
    """End a session, inside a transaction, that has fooled the model or has no attempts left, and waits for nothing."""
    attempts = queries.rows_of_session(db, row.id)
    if any(awaits_writer(attempt) for attempt in attempts):
        return
    if any(counts_as_fooling(attempt) for attempt in attempts):
        end_session(db, info, row, "fooled")
    elif len(attempts) >= row.allowed:
        end_session(db, info, row, "exhausted")


def _require_open(info: RoundInfo, row: SessionRow) -> None:
    if row.outcome == "closed" or info.closed_because(now()):
        raise _closed(info)
    if row.ended_at is not None:
        raise Conflict("This session is over.", remedy="Begin a new one.", code="session_over")


def _closed(info: RoundInfo) -> Conflict:
    why = info.closed_because(now()) or Text("Round {ref} is closed.", ref=info.ref)
    return Conflict(
        "{why} It ended while you were writing.", why=why, remedy="Your text is kept as a draft.", code="round_not_open"
    )


def _prompt(db: Session, row: SessionRow) -> Mapping[str, Any] | None:
    return None if row.prompt_id is None else db.get_one(Prompt, row.prompt_id).inputs


def _keep(db: Session, actor: Actor, key: str, inputs: Inputs, target: Answer) -> None:
    """Keep as a draft what could not be submitted, if it can be kept at all."""
    db.rollback()
    try:
        sessions.save_draft(db, actor, key, inputs, target)
    except QuintainError as error:
        logger.info("a draft was not kept: %s", error)


def own_attempt(db: Session, actor: Actor, attempt_id: int, *, locked: bool = False) -> tuple[RoundInfo, SessionRow]:
    """Find the round and the session of one of the actor's own attempts."""
    attempt = db.get(Attempt, attempt_id) if 0 < attempt_id < 2**31 else None
    session = db.get(SessionRow, attempt.session_id) if attempt is not None and attempt.session_id is not None else None
    if session is None or session.user_id != actor.user_id:
        raise NotFound("There is no such attempt of yours.")
    return sessions.find_session(db, actor, session.key, locked=locked)
