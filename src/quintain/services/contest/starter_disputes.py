"""Breakers who dispute a label of the starter set: their pairs come in, and are contested from the start.

Until somebody has judged or decided, the starter set's label is the pair's; what judges or organisers say counts then.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.task import Task
from quintain.services.contest.contests import ContestInfo
from quintain.services.contest.grading import as_cell
from quintain.services.tasks.definitions import get_task
from quintain.store.queries.contest import pairs as queries
from quintain.store.tables import ContestDispute, ContestPair


def dispute_starter_labels(db: Session, info: ContestInfo) -> int:
    """Write down that the pairs whose teams dispute a starter label are contested; give how many.

    It is no team's contest of another's pair, so it is by no team: the pair says what its own claims.
    """
    task = get_task(db, info.task)
    claimed = queries.claiming(db, info.id)
    db.add_all(ContestDispute(pair_id=row.id, user_id=row.author_id, reason=_reason(task, row)) for row in claimed)
    queries.bump(db, info.id, len(claimed))
    return len(claimed)


def _reason(task: Task, row: ContestPair) -> str:
    known, claimed = as_cell(task, row.original_gold), as_cell(task, row.claimed_gold)
    return f"The starter set says '{known}' of the original; its breakers say '{claimed}'."
