"""What a task's owner promises and allows to be spent: reading it, changing it, and what follows at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.editing import ANYHOW, EditOrigin, revision_of_spec, settled
from quintain.core.pay import PaySpec
from quintain.core.people import Actor
from quintain.core.records.pay import PayPolicyText
from quintain.core.rounds import Money
from quintain.core.spec import plain, read, restore
from quintain.core.spec_changes import review
from quintain.core.toml import parse_toml
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.pay.earnings import earn
from quintain.services.tasks.definitions import find_row
from quintain.store.database import lock, transaction
from quintain.store.queries.pay import policies as queries
from quintain.store.tables import PayPolicy
from quintain.tasks.writing import dump_toml


def policy_of(db: Session, task_id: int) -> PaySpec:
    """Return the pay policy of a task; for other services, which have asked who may read it."""
    row = queries.newest(db, task_id)
    return restore(PaySpec, row.definition) if row is not None else PaySpec()


def get_policy(db: Session, actor: Actor, task: str) -> PaySpec:
    """Return the pay policy of a task (owners)."""
    row = find_row(db, task)
    require_owner(actor, task)
    return policy_of(db, row.id)


def policy_text(db: Session, actor: Actor, task: str) -> PayPolicyText:
    """Return the pay policy of a task as a TOML file (owners)."""
    spec = get_policy(db, actor, task)
    return PayPolicyText(task, dump_toml(plain(spec, whole=True)), revision_of_spec(spec))


def put_policy(
    db: Session, actor: Actor, task: str, text: str, *, file: str | None = None, edit: EditOrigin = ANYHOW
) -> PaySpec:
    """Let what a TOML *text* says hold from now on (owners)."""
    return save_policy(db, actor, task, parse_toml(text, file=file), file=file, edit=edit)


def save_policy(
    db: Session, actor: Actor, task: str, data: Mapping[str, Any], *, file: str | None = None, edit: EditOrigin = ANYHOW
) -> PaySpec:
    """Let plain data, as TOML or a page gives it, hold from now on; *edit* says what it was made from (owners)."""
    spec = read(PaySpec, data, file=file)
    with transaction(db):
        row = find_row(db, task)
        require_owner(actor, task)
        lock(db, f"pay policy of {row.id}")
        spec = settled(edit, policy_of(db, row.id), spec, partial(read, PaySpec))
        before = policy_of(db, row.id)
        review(edit, plain(before, whole=True), plain(spec, whole=True), data, file)
        if spec != before:
            db.add(PayPolicy(task_id=row.id, definition=plain(spec, whole=True), by=actor.user_id))
            audit.record(db, actor, "pay.policy", task)
    return spec


def reach_step(db: Session, task_id: int, user_id: int, qualification: str) -> bool:
    """Pay the bonus for a qualification that somebody reached, once; for other services, in their transaction."""
    spec = policy_of(db, task_id)
    step = next((step for step in spec.steps if step.qualification == qualification), None)
    if step is None:
        return False
    return earn(
        db,
        user_id,
        task_id,
        kind="bonus",
        work=f"step:{task_id}:{user_id}:{qualification}",
        money=Money(step.amount, spec.currency),
        what=f"Qualified: {qualification}",
    )
