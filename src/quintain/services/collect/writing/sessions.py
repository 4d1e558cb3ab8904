"""Writing sessions: what a worker must do before, the prompt and the model they get, drafts, and the end.

A session is one go at fooling the model. Beginning again while one lasts gives the same one, so that a reloaded page
or a double click changes nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, TooMany, Unavailable
from quintain.core.hashing import canonical_json
from quintain.core.people import Actor, RoleName
from quintain.core.records.collect import WritingPrompt, WritingSession
from quintain.core.rounds import RoundState
from quintain.core.task import Task
from quintain.protocols.assignment import Draw
from quintain.services.access.permissions import require_role, require_user
from quintain.services.collect.rounds.manage import RoundInfo, get_round, info_of
from quintain.services.collect.rounds.question_types import types_left
from quintain.services.collect.rounds.target_names import stand_ins
from quintain.services.collect.rounds.targets import prepare_targets, target_draw, usable_targets
from quintain.services.collect.writing.ask_targets import target_versions
from quintain.services.collect.writing.end_session import end_session
from quintain.services.collect.writing.readiness import readiness_in, require_ready
from quintain.services.collect.writing.verdicts import awaits_writer
from quintain.services.models.registry import ModelVersionInfo
from quintain.services.pay import caps
from quintain.services.tasks.definitions import get_task, parse_stored
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.collect import attempts as attempt_queries
from quintain.store.queries.collect import prompts
from quintain.store.queries.collect import rounds as queries
from quintain.store.queries.collect.attempts import AttemptRow
from quintain.store.tables import Prompt, RoundAssignment
from quintain.store.tables import WritingSession as SessionRow

LEASE = timedelta(minutes=20)
MAX_DRAFT = 1_000_000
MAY_WRITE = (RoleName.WORKER, RoleName.EXPERT, RoleName.OWNER)


def refused_role(actor: Actor, task: str) -> Forbidden | None:
    """Return why *actor* may not write in a task for want of a role; None where they may."""
    try:
        require_role(actor, *MAY_WRITE, task=task)
    except Forbidden as error:
        return error
    return None


def start_session(db: Session, blobs: Blobs, actor: Actor, ref: str) -> WritingSession:
    """Begin a session, or take up the one that lasts: with a leased prompt, a label to aim at, and a model."""
    user_id = require_user(actor)
    info = get_round(db, actor, ref)
    require_role(actor, *MAY_WRITE, task=info.task)
    require_ready(readiness_in(db, actor, info))
    day = prepare_targets(db, blobs, info.id, info.spec)
    with transaction(db):
        # Whoever closes the round waits for this, or has closed it before.
        if queries.share_state(db, info.id) != RoundState.OPEN:
            raise Conflict(
                "Round {ref} is closed.", ref=info.ref, remedy="See which other rounds are open.", code="round_not_open"
            )
        lock(db, f"writer {info.id}:{user_id}")
        row = queries.open_session(db, info.id, user_id)
        if row is not None and not keep_lease(db, row) and not _waits_for_word(db, row):
            end_session(db, info, row, "lapsed")
            row = None
        if row is not None:
            return session_view(db, actor, info, row)
        return session_view(db, actor, info, _begin(db, info, user_id, day), fresh=True)


def _waits_for_word(db: Session, row: SessionRow) -> bool:
    """Whether a session waits for its writer's answer, for which they need no prompt: it is asked again."""
    return any(awaits_writer(one) for one in attempt_queries.rows_of_session(db, row.id))


def get_session(db: Session, actor: Actor, key: str) -> WritingSession:
    """Return one of the actor's own sessions as it stands, ended or not."""
    info, row = find_session(db, actor, key)
    return session_view(db, actor, info, row)


def save_draft(db: Session, actor: Actor, key: str, inputs: Mapping[str, Any], target: Any = None) -> datetime | None:
    """Keep what has been typed so far, whatever it is, and the prompt with it; give until when the prompt is ours."""
    inputs, target = _storable(dict(inputs)), _storable(target)
    if len(canonical_json([inputs, target])) > MAX_DRAFT:
        raise BadInput("This is too much to keep as a draft.", remedy="Shorten it.")
    with transaction(db):
        _, row = find_session(db, actor, key)
        put_draft(db, row, inputs, target)
        if row.ended_at is None and row.prompt_id is not None and keep_lease(db, row):
            return db.get_one(Prompt, row.prompt_id, populate_existing=True).lease_until
    return None


def give_up(db: Session, actor: Actor, key: str) -> WritingSession:
    """End a session early. The attempts that were made are paid by their share; the prompt goes back."""
    with transaction(db):
        info, row = find_session(db, actor, key, locked=True)
        if row.ended_at is None:
            end_session(db, info, row, "given_up")
        return session_view(db, actor, info, row)


@dataclass(frozen=True, slots=True)
class WritingPlace:
    """Where somebody writes: the round, the task, and the stored session.

    *before* is the attempt that was made with the token of the form, where it was sent before.
    """

    info: RoundInfo
    task: Task
    row: SessionRow
    before: int | None = None


def find_session(db: Session, actor: Actor, key: str, *, locked: bool = False) -> tuple[RoundInfo, SessionRow]:
    """Find one of the actor's own sessions with its round; *locked* keeps others from changing it meanwhile."""
    if locked:
        lock_own(db, actor, key)
    writing = find_place(db, actor, key)
    return writing.info, writing.row


def find_place(db: Session, actor: Actor, key: str, token: str = "") -> WritingPlace:
    """Find one of the actor's own sessions; whether there is another of that key is nobody's business."""
    user_id = require_user(actor)
    stored = queries.place_of_session(db, key, token if _is_text(token) else "") if _is_text(key) else None
    if stored is None or stored.session.user_id != user_id:
        raise _no_session()
    info = info_of(stored.round, stored.version, stored.task)
    return WritingPlace(info, parse_stored(stored.task_toml), stored.session, stored.before)


def lock_own(db: Session, actor: Actor, key: str) -> SessionRow:
    """Find one of the actor's own sessions without its round, and let nobody else change it meanwhile."""
    user_id = require_user(actor)
    row = queries.session_by_key(db, key, locked=True) if _is_text(key) else None
    if row is None or row.user_id != user_id:
        raise _no_session()
    return row


def _is_text(text: str) -> bool:
    return bool(text) and "\x00" not in text


def _no_session() -> NotFound:
    return NotFound("There is no such writing session.", remedy="Begin a new one.")


def keep_lease(db: Session, row: SessionRow) -> bool:
    """Make a session's lease of its prompt last longer; False where somebody else has the prompt now."""
    return row.prompt_id is None or prompts.extend(db, row.prompt_id, row.generation, now() + LEASE)


def put_draft(db: Session, row: SessionRow, inputs: Mapping[str, Any], target: Any) -> None:
    """Keep a draft inside a transaction."""
    queries.put_draft(db, session_id=row.id, user_id=row.user_id, inputs=dict(inputs), target=target, saved_at=now())


def session_view(
    db: Session,
    actor: Actor,
    info: RoundInfo,
    row: SessionRow,
    attempts: Sequence[AttemptRow] | None = None,
    versions: Sequence[ModelVersionInfo] | None = None,
    *,
    fresh: bool = False,
) -> WritingSession:
    """Return a stored session as its writer sees it; *attempts* and *versions* are its own, where the caller has them.

    In one that is *fresh*, nothing has been written yet.
    """
    if versions is None:
        versions = target_versions(db, row.models)
    hidden = stand_ins(db, actor, info.id, versions)
    if attempts is None:
        attempts = [] if fresh else attempt_queries.rows_of_session(db, row.id)
    prompt = db.get(Prompt, row.prompt_id) if row.prompt_id is not None else None
    typed: tuple[Mapping[str, Any], Any] = ({}, None)
    if attempts and info.spec.targets.has_model:  # it is tried again; without a model, the next text is a new one
        typed = (attempts[-1].attempt.inputs, attempts[-1].attempt.target)
    draft = None if fresh else queries.draft(db, row.id)
    if draft is not None and (not attempts or draft.saved_at > attempts[-1].attempt.created_at):
        typed = (draft.inputs, draft.target)
    return WritingSession(
        key=row.key,
        round=info.ref,
        task=info.task,
        condition=row.condition,
        prompt=WritingPrompt(prompt.id, prompt.inputs, prompt.answer, tuple(prompt.tags)) if prompt else None,
        target=row.target,
        allowed=row.allowed,
        attempts_left=max(0, row.allowed - len(attempts)) if row.ended_at is None else 0,
        lease_until=prompt.lease_until if prompt else None,
        models=tuple(hidden[version.id].model if version.id in hidden else version.ref for version in versions),
        started_at=row.started_at,
        outcome=row.outcome,
        draft=typed[0],
        draft_target=typed[1],
        pending=next((attempt.attempt.id for attempt in attempts if awaits_writer(attempt)), None)
        if not row.outcome
        else None,
        types=types_left(db, info, row),
    )


def _storable(value: Any) -> Any:
    """Leave out what no database keeps: NULs, and halves of surrogate pairs."""
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {str(_storable(str(name))): _storable(one) for name, one in value.items()}
    return [_storable(one) for one in value] if isinstance(value, list | tuple) else value


def _begin(db: Session, info: RoundInfo, user_id: int, day: str) -> SessionRow:
    caps.require_room(db, info.task_id, user_id, round_id=info.id)
    _require_room(db, info, user_id)
    condition = _condition(db, info, user_id)
    # Nobody chooses what they are shown: who wrote nothing begins with the same again.
    shown = queries.shown_for_nothing(db, info.id, user_id)
    prompt = _prompt(db, info, user_id, shown) if info.spec.condition(condition).prompt else None
    models = usable_targets(db, info.id, info.spec, day)
    draws = _draws(db, info, user_id, models, shown)
    seed = queries.seed(db, info.id) if draws else 0
    drawn = {name: draw.pick(seed) for name, draw in draws.items()}
    row = SessionRow(
        key=secrets.token_urlsafe(24),
        round_id=info.id,
        user_id=user_id,
        condition=condition,
        prompt_id=prompt.id if prompt else None,
        generation=prompt.generation if prompt else 0,
        models=[int(drawn["model"])] if "model" in drawn else models,
        target=drawn.get("target"),
        drawn={name: draw.as_dict() for name, draw in draws.items()} or None,
        allowed=info.spec.attempts,
    )
    db.add(row)
    db.flush()
    return row


def _prompt(db: Session, info: RoundInfo, user_id: int, shown: SessionRow | None) -> Prompt:
    """Lease the prompt of a session that begins: the one that was *shown* for nothing, or the one whose turn it is."""
    lock(db, f"prompts of {info.task}")  # two rounds may have the same one, and show it once
    moment = now()
    prompt = None
    if shown is not None and shown.prompt_id is not None:
        prompt = prompts.draw_again(db, shown.prompt_id, user_id, moment, moment + LEASE)
    prompt = prompt or prompts.draw(db, info.id, user_id, moment, moment + LEASE)
    if prompt is None:
        raise Unavailable(
            "Every prompt is with somebody else, or you have had it.",
            remedy="Try again in a few minutes.",
            code="nothing_to_write",
        )
    return prompt


def _draws(
    db: Session, info: RoundInfo, user_id: int, models: Sequence[int], shown: SessionRow | None
) -> dict[str, Draw]:
    """Return what is drawn for a session that begins, and from what; what was *shown* for nothing is drawn again."""
    if info.spec.targets.mode != "random" and info.spec.aiming != "assign":
        return {}
    if shown is not None and shown.drawn and ("model" not in shown.drawn or set(shown.models) <= set(models)):
        return {name: Draw(**draw) for name, draw in shown.drawn.items()}
    unit = f"session {queries.session_number(db, info.id, user_id) + 1} of {user_id}"
    draws = {"model": target_draw(info.spec, models, unit), "target": _label_draw(db, info, unit)}
    return {name: draw for name, draw in draws.items() if draw}


def _require_room(db: Session, info: RoundInfo, user_id: int) -> None:
    """Refuse one session more than a person or the round takes, in the transaction that begins it."""
    most, enough, fooling = info.spec.sessions, info.spec.wanted, info.spec.targets.has_model
    if most is not None and queries.sessions_used(db, info.id, user_id) >= most:
        raise Conflict(
            "You have written here as often as one person may ({n}).",
            n=most,
            remedy="What you wrote is paid. See what other work there is.",
            code="sessions_used",
        )
    if enough is not None and queries.texts_up_to(db, info.id, enough, fooling=fooling) >= enough:
        raise Conflict(
            "All that is wanted here has been written.", remedy="See what other work there is.", code="enough_written"
        )
    _require_room_today(db, info, user_id)


def _require_room_today(db: Session, info: RoundInfo, user_id: int) -> None:
    caps, moment = info.spec.caps, now()
    today = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    wait = int((today + timedelta(days=1) - moment).total_seconds()) + 1
    if caps.worker is not None and queries.sessions_since(db, info.id, today, user_id) >= caps.worker:
        raise TooMany(
            "You have written {n} times today, which is the limit.",
            n=caps.worker,
            retry_after=wait,
            remedy="Come back tomorrow.",
            code="quota_reached",
        )
    if caps.round is not None:
        lock(db, f"cap of round {info.id}")
        if queries.sessions_since(db, info.id, today) >= caps.round:
            raise TooMany(
                "This round has all it takes in a day.",
                retry_after=wait,
                remedy="Come back tomorrow.",
                code="quota_reached",
            )


def _condition(db: Session, info: RoundInfo, user_id: int) -> str:
    """Draw a condition once per worker, the one that is furthest below its share."""
    known = queries.assignment(db, info.id, user_id)
    if known is not None:
        return known
    weights = {condition.name: condition.weight for condition in info.spec.conditions}
    name, draw = next(iter(weights)), None
    if len(weights) > 1:
        lock(db, f"conditions of round {info.id}")
        draw = Draw(f"person {user_id}", weights, queries.assignment_counts(db, info.id))
        name = draw.pick(queries.seed(db, info.id))
    assignment = RoundAssignment(
        round_id=info.id, user_id=user_id, condition=name, drawn=draw.as_dict() if draw else None
    )
    db.add(assignment)
    return name


def _label_draw(db: Session, info: RoundInfo, unit: str) -> Draw | None:
    """Return what the label to aim at is drawn from: those that were aimed at least, so that nobody can tell which."""
    if info.spec.aiming != "assign":
        return None
    task = get_task(db, info.task)
    aimed = {label: count for label, count, _ in attempt_queries.tally(db, info.id, "label")}
    labels = task.label_names
    return Draw(unit, dict.fromkeys(labels, 1), {label: aimed[label] for label in labels if label in aimed})
