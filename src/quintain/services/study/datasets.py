"""Data sets of a workspace beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.services.access.permissions import require_owner
from quintain.services.plain.reports.comparing.report import (
    CompareOptions,
    DataComparison,
    Done,
    compare_datasets,
    quiet,
)
from quintain.services.study.stored import compared_set, stored_set
from quintain.services.tasks.definitions import get_task
from quintain.stats.comparing.compared import ComparedSet
from quintain.store.blobs import Blobs


def datasets_report(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    refs: Sequence[str],
    options: CompareOptions | None = None,
    *,
    train: Sequence[str] = (),
    done: Done = quiet,
) -> DataComparison:
    """Compare data sets of one task (`task/name`, `task/name@2`); *train* has more, only to learn from. For owners."""
    options = options or CompareOptions()
    sets = [_set(db, blobs, actor, ref, refs[0]) for ref in dict.fromkeys(refs)]
    outside = [_set(db, blobs, actor, ref, refs[0]) for ref in dict.fromkeys(train)]
    key = [*(one.digest() for one in (*sets, *outside)), options.seeds, options.seed, options.learner.digest]
    return compare_datasets(sets, replace(options, outside=outside, checkpoints=options.checkpoints.keyed(key)), done)


def _set(db: Session, blobs: Blobs, actor: Actor, ref: str, first: str) -> ComparedSet:
    task_name = ref.partition("/")[0]
    if task_name != first.partition("/")[0]:
        raise BadInput(
            "{ref} is not of task {task}.",
            ref=ref,
            task=first.partition("/")[0],
            remedy="Data sets of one task are compared at a time.",
        )
    task = get_task(db, task_name)
    require_owner(actor, task_name)
    compared = compared_set(stored_set(db, blobs, actor, task, ref))
    if compared is None:
        raise BadInput(
            "The answers of {ref} are neither labels nor options.", ref=ref, remedy="Only those can be compared."
        )
    return compared
