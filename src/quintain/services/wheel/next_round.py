"""The next turn: a draft of a round that is aimed at the model which solved the last one."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict
from quintain.core.people import OPERATOR, Actor
from quintain.core.rounds import RoundKind, RoundSpec, RoundState, Targets
from quintain.services.access.permissions import require_owner
from quintain.services.collect.rounds.manage import RoundInfo, clone_round, list_rounds, put_spec
from quintain.services.models.registry import ModelVersionInfo, get_model
from quintain.services.validate.console.manage import find_validation
from quintain.services.wheel.standings import solved
from quintain.store.database import lock, transaction


def start_next(db: Session, actor: Actor, ref: str, model: str | None = None) -> RoundInfo:
    """Add a draft of a round that asks what *ref* asks, aimed at *model*; where there is one already, give that.

    Without a *model* it is the best of those that do as well as people. The options are those of *ref* or, where it is
    no round that people write in, of the task's newest one; prompts and dates are not taken over. For owners.
    """
    validation = find_validation(db, ref)
    task = validation.task.name
    require_owner(actor, task)
    target = get_model(db, actor, model or _best(db, actor, ref)).version
    if target.task != task:
        raise BadInput("'{ref}' is a model of task '{task}'.", ref=target.ref, task=target.task)
    if target.withdrawn_at is not None:
        raise Conflict("Model '{ref}' was withdrawn.", ref=target.ref, remedy="Name another one.")
    with transaction(db):
        lock(db, f"next round of {task}")
        drafts = [info for info in list_rounds(db, OPERATOR, task) if _aims_at(info, target.ref)]
        if drafts:
            return drafts[-1]
        return _draft(db, actor, _model_of(db, task, validation.name), target)


def _best(db: Session, actor: Actor, ref: str) -> str:
    parity = solved(db, actor, ref)
    if not parity.solved_by:
        raise Conflict(
            "No model does as well as people on {ref} yet.",
            ref=ref,
            remedy="Name the model that the next round is to be aimed at.",
            code="not_solved",
        )
    return parity.solved_by[0]


def _aims_at(info: RoundInfo, target: str) -> bool:
    return info.state is RoundState.DRAFT and info.spec.targets.models == (target,)


def _model_of(db: Session, task: str, name: str) -> RoundInfo | None:
    """Return the round whose options are copied; nothing is written in a harvest, and nothing is asked in it."""
    known = [info for info in list_rounds(db, OPERATOR, task) if info.kind is RoundKind.WRITING]
    same = [one for one in known if str(one.number) == name]
    return same[0] if same else max(known, key=lambda info: info.number, default=None)


def _draft(db: Session, actor: Actor, like: RoundInfo | None, target: ModelVersionInfo) -> RoundInfo:
    # Everybody will read the title: it does not name what only some may know of.
    title = "Fool the model" if target.visibility == "private" else f"Fool {target.model}"
    targets = Targets("one", (target.ref,))
    if like is None:
        return put_spec(db, actor, RoundSpec(task=target.task, title=title, targets=targets))
    return clone_round(db, actor, like.ref, title=title, targets=targets)
