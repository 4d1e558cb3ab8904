"""What contrast projects have for somebody: an example in hand or to take, variants to check, some to decide on."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.core.people import Actor, RoleName
from quintain.services.access.permissions import require_user
from quintain.services.contrast.projects import ProjectInfo, info_of, may_take_part
from quintain.store.base import now
from quintain.store.queries.contrast import projects as queries
from quintain.store.queries.contrast import variants

MOST = 4  # of the open projects, the newest are looked at


@dataclass(frozen=True, slots=True)
class ContrastOffer:
    """A project with what is there to do in it for one person: *held* is the example that they have in hand."""

    project: ProjectInfo
    held: int | None
    free: bool
    to_check: int
    contested: int


def contrast_offers(db: Session, actor: Actor, tasks: Collection[str]) -> Iterator[ContrastOffer]:
    """Go through the newest open projects of *tasks* in which *actor* may take part; panels' links lead to none."""
    user_id = require_user(actor)
    if actor.came_by_door:
        return
    moment = now()
    for row in queries.newest_open(db, MOST):
        info = info_of(row)
        if info.task not in tasks or not may_take_part(actor, info):
            continue
        held = queries.held(db, info.id, user_id, moment)
        decides = actor.has(RoleName.EXPERT, info.task) or actor.has(RoleName.OWNER, info.task)
        yield ContrastOffer(
            info,
            held.id if held else None,
            queries.any_free(db, info.id, moment),
            variants.count_to_check(db, info.id, user_id),
            variants.contested(db, info.id, user_id, limit=0, offset=0)[1] if decides else 0,
        )
