"""From a project to a data set version of role contrast: originals with the variants that hold.

A set is a group, named after its original; the role of a member is a tag, as in published contrast sets. The version
takes part in evaluation at once, and scores on the board once its owner lets it.
"""

from __future__ import annotations

from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.example import Role
from quintain.core.people import Actor
from quintain.core.records.contrasting import ContrastRelease
from quintain.core.task import Task
from quintain.data.contrast.contract import ROLE_TAGS
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.contrast.projects import find_project
from quintain.services.data.datasets import Facts, derive, get_version
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.contrast import variants as queries
from quintain.store.queries.contrast.variants import WrittenVariant
from quintain.tasks.contract import kind_of


def release_project(db: Session, blobs: Blobs, actor: Actor, ref: str) -> ContrastRelease:
    """Make a data set version of all accepted variants and their originals. For owners.

    The same content is the same version: what was released before and has not changed is found again.
    """
    info = find_project(db, ref)
    require_owner(actor, info.task)
    accepted = queries.accepted(db, info.id)
    if not accepted:
        raise Conflict("No variant of {ref} is accepted yet.", ref=ref, remedy="Write some, and let others check them.")
    source = get_version(db, actor, info.dataset)
    frame = _frame(get_task(db, info.task), accepted)
    sets = len({one.pivot.id for one in accepted})
    facts = Facts(
        Role.CONTRAST,
        hidden=source.hidden,
        language=source.language,
        description=info.spec.title,
        meta={"project": ref, "sets": sets},
    )
    settings = {"project": ref, "sets": sets, "variants": len(accepted)}
    with transaction(db):
        version = derive(
            db, blobs, actor, [source.ref], frame, how="contrast", settings=settings, name=info.name, facts=facts
        )
        if version.new:
            audit.record(db, actor, "contrast.release", ref, version=version.ref)
    return ContrastRelease(ref, version.ref, sets, len(accepted), version.new)


def _frame(task: Task, accepted: list[WrittenVariant]) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    seen: set[int] = set()
    for written in accepted:
        group = written.pivot.example[:16]
        if written.pivot.id not in seen:
            seen.add(written.pivot.id)
            rows.append(
                {**written.pivot.inputs, "answer": written.pivot.answer, "tags": [ROLE_TAGS[True]], "group": group}
            )
        answer = written.variant.answer if written.variant.settled is None else written.variant.settled
        tags = [ROLE_TAGS[False], *written.variant.tags]
        rows.append({**written.variant.inputs, "answer": answer, "tags": tags, "group": group})
    schema = {**kind_of(task).schema(task), "tags": pl.List(pl.String()), "group": pl.String()}
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)
