"""What helps a writer, where the owner allows it: which words moved the model, examples of others, a sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from sqlalchemy.orm import Session

from quintain.core.errors import Forbidden
from quintain.core.example import Answer, Inputs
from quintain.core.hashing import content_id
from quintain.core.people import Actor
from quintain.core.records.collect import Inspiration, Verdict, WordEffect, WritingPrompt, WritingSession
from quintain.services.access import throttle
from quintain.services.access.permissions import require_role, require_user
from quintain.services.collect.rounds.manage import RoundInfo, get_round
from quintain.services.collect.rounds.target_names import stand_ins
from quintain.services.collect.rounds.targets import prepare_targets, target_draw, usable_targets
from quintain.services.collect.writing import submit_attempt as collect
from quintain.services.collect.writing.ask_targets import all_fooled, ask_safely, ask_targets, target_versions
from quintain.services.collect.writing.checks import check_writing
from quintain.services.collect.writing.readiness import readiness, require_agreed
from quintain.services.collect.writing.sessions import MAY_WRITE, find_session
from quintain.services.collect.writing.verdicts import answers_of
from quintain.services.models.ask import RUNNERS, SECONDS, AdapterRunner
from quintain.services.models.occlusion import effects_of, limit_occlusions
from quintain.services.tasks.definitions import get_task
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.queries.collect import attempts as queries
from quintain.store.queries.collect import prompts, rounds
from quintain.store.tables import Attempt, Prompt
from quintain.tasks.contract import kind_of

SANDBOX_PER_MINUTE = 30


def occlusion(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    attempt_id: int,
    *,
    runners: Mapping[str, AdapterRunner] = RUNNERS,
    seconds: float = SECONDS,
) -> list[WordEffect]:
    """Return which words of one's own attempt moved the model, by leaving out each in turn, in one call to it."""
    info, row = collect.own_attempt(db, actor, attempt_id)
    if not info.spec.helps.occlusion:
        raise Forbidden("The owner of this round has not switched this help on.")
    limit_occlusions(db, f"user:{row.user_id}")
    task, inputs = get_task(db, info.task), dict(db.get_one(Attempt, attempt_id).inputs)
    version = target_versions(db, row.models)[0]
    db.rollback()  # hold no connection while the model thinks
    ask = partial(ask_safely, blobs, version, task, runners=runners, seconds=seconds)
    return effects_of(task, inputs, ask)


def inspiration(db: Session, actor: Actor, key: str, *, limit: int = 5) -> list[Inspiration]:
    """Return the newest examples of others that fooled the model, in the round of one of the actor's own sessions.

    None that were flagged or retracted. Whoever has begun a session has read the round's warning and agreed to it.
    """
    info, row = find_session(db, actor, key)
    if not info.spec.helps.inspiration:
        raise Forbidden("The owner of this round has not switched this help on.")
    examples = queries.fooling_examples(db, info.id, row.user_id, limit)
    return [Inspiration(attempt.inputs, attempt.target, attempt.predictions[0]["answer"]) for attempt in examples]


def try_session(db: Session, actor: Actor, ref: str) -> WritingSession:
    """Return a session of the sandbox: it looks like a real one, and nothing of it is stored.

    Its prompt has been used already, or is the kind's own example: trying costs no prompt.
    """
    info = _welcome(db, actor, ref)
    prompt = None
    condition = info.spec.conditions[0]
    if condition.prompt:
        used = prompts.some_used(db, info.id)
        example = kind_of(get_task(db, info.task)).example
        prompt = WritingPrompt(used.id, used.inputs, used.answer) if used else WritingPrompt(0, example.inputs)
    return WritingSession(
        key="",
        round=info.ref,
        task=info.task,
        condition=condition.name,
        prompt=prompt,
        target=None,
        allowed=info.spec.attempts,
        attempts_left=info.spec.attempts,
        lease_until=None,
        models=(),
        started_at=now(),
    )


def try_attempt(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    inputs: Inputs,
    *,
    target: Answer,
    prompt_id: int | None = None,
    runners: Mapping[str, AdapterRunner] = RUNNERS,
    seconds: float = SECONDS,
) -> Verdict:
    """Try a text in the sandbox: the same checks and the same model, and nothing is stored.

    *prompt_id* is that of the prompt in `try_session`; 0 stands for the kind's example, None for no prompt.
    """
    user_id = require_user(actor)
    throttle.hit(db, f"sandbox:user:{user_id}", SANDBOX_PER_MINUTE, 60)
    info = _welcome(db, actor, ref)
    task = get_task(db, info.task)
    prompt: Inputs | None = None
    if prompt_id is not None:
        stored = db.get(Prompt, prompt_id) if prompt_id else None
        usable = stored is not None and stored.round_id == info.id and stored.uses > 0
        prompt = stored.inputs if stored is not None and usable else kind_of(task).example.inputs
    written = check_writing(task, info.spec, prompt, inputs, target)
    day = prepare_targets(db, blobs, info.id, info.spec)
    faced = usable_targets(db, info.id, info.spec, day)
    draw = target_draw(info.spec, faced, f"practice of {user_id}: {content_id(dict(written.inputs))}")
    versions = target_versions(db, faced if draw is None else [int(draw.pick(rounds.seed(db, info.id)))])
    db.rollback()  # hold no connection while the model thinks
    answers = ask_targets(blobs, versions, task, info.spec, written, runners=runners, seconds=seconds)
    hidden = stand_ins(db, actor, info.id, versions)
    return Verdict(
        attempt_id=0,
        number=1,
        fooled=all_fooled(answers),
        answers=answers_of(answers, hidden),
        target=written.target,
        inputs=written.inputs,
        attempts_left=info.spec.attempts,
        edit_distance=written.edit_distance,
        edit_share=written.edit_share,
        ask="",
        flags=(),
        outcome="",
        at=now(),
    )


def _welcome(db: Session, actor: Actor, ref: str) -> RoundInfo:
    """Let into the sandbox who may write in a round, after its warning and consent; quizzes and rules may wait."""
    info = get_round(db, actor, ref)
    require_role(actor, *MAY_WRITE, task=info.task)
    require_agreed(readiness(db, actor, ref))
    return info
