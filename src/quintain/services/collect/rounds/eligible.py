"""Who may write in a round, and why not: one person rule by rule, or everybody."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.people import Actor, RoleName
from quintain.core.records.work import Crowd, Eligible, Reason
from quintain.services.access.permissions import require_owner
from quintain.services.collect.rounds.manage import get_round
from quintain.services.collect.writing.readiness import rules_of
from quintain.services.tasks.definitions import find_row
from quintain.services.work.qualify import eligibility, why
from quintain.store.queries.access import people


def may_write(db: Session, actor: Actor, ref: str, name: str | None = None) -> Eligible:
    """Return rule by rule whether the actor, or for an owner the person called *name*, may write in a round."""
    info = get_round(db, actor, ref)
    reasons = why(db, actor, info.task, rules_of(info.spec), name)
    return _verdict(name or actor.name, reasons)


def crowd(db: Session, actor: Actor, ref: str, *, search: str = "", limit: int = 100, offset: int = 0) -> Crowd:
    """Return of everybody with the role of a worker whether they may write in a round; owners only."""
    info = get_round(db, actor, ref)
    require_owner(actor, info.task)
    rules = rules_of(info.spec)
    task_id = find_row(db, info.task).id
    workers = people.holders(db, RoleName.WORKER, task_id, search=search, limit=limit, offset=offset)
    verdicts = [_verdict(user.name, eligibility(db, user.id, rules, task=info.task)) for user in workers]
    return Crowd(info.ref, tuple(rules), people.count_holders(db, RoleName.WORKER, task_id, search=search), verdicts)


def _verdict(name: str, reasons: list[Reason]) -> Eligible:
    return Eligible(name, all(reason.ok for reason in reasons), tuple(reasons))
