"""What was written in a project, with what others said of it: everything for owners, for others what is theirs to see.

Who may still check a variant does not see it here, because it has its author's answer.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.orm import Session

from quintain.core.contrast import VariantState
from quintain.core.errors import BadInput
from quintain.core.people import Actor, RoleName
from quintain.core.records import contrasting as records
from quintain.services.contrast.authoring import check_record, variant_record
from quintain.services.contrast.projects import ProjectInfo, find_project, require_part
from quintain.store.queries.contrast import variants
from quintain.store.queries.contrast.variants import VariantSight


def list_sets(
    db: Session, actor: Actor, ref: str, *, state: str = "", mine: bool = False, offset: int = 0, limit: int = 20
) -> records.ContrastSetPage:
    """Return a page of the sets of a project: pivots with their variants, and what was said of each.

    Owners see all of them and who wrote which. Experts see their own, and those of others that they have checked or
    that are decided or contested; who may write without being an expert sees their own. With *mine*, only those.
    """
    info = find_project(db, ref)
    require_part(actor, info)
    known = [known_state.value for known_state in VariantState]
    if state and state not in known:
        raise BadInput("'{word}' is not one of {known}.", word=state, known=", ".join(known))
    sight = _sight(actor, info, mine=mine)
    pivots, total = variants.pivots_with_variants(db, info.id, sight, state=state, limit=limit, offset=offset)
    written = variants.of_pivots(db, [pivot.id for pivot in pivots], sight, state=state)
    checks = variants.checks_of(db, [row.id for rows in written.values() for row, _ in rows])
    owns = actor.has(RoleName.OWNER, info.task)
    sets = [
        records.ContrastSet(
            id=pivot.id,
            example=pivot.example,
            inputs=pivot.inputs,
            answer=pivot.answer,
            state=pivot.state,
            variants=tuple(
                replace(
                    variant_record(row, author if owns else None, actor),
                    checks=tuple(map(check_record, checks[row.id])),
                )
                for row, author in written[pivot.id]
            ),
        )
        for pivot in pivots
    ]
    return records.ContrastSetPage(sets, total, offset)


def _sight(actor: Actor, info: ProjectInfo, *, mine: bool) -> VariantSight:
    if actor.has(RoleName.OWNER, info.task) and not mine:
        return VariantSight()
    expert = actor.has(RoleName.EXPERT, info.task) and not mine
    return VariantSight(actor.user_id, everything=False, decided=expert)
