"""Finding a pair of a contest, and reading the labels that judges or organisers give to its two sides."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Fault, NotFound
from quintain.core.task import Task
from quintain.services.contest.contests import ContestInfo
from quintain.store.queries.contest import pairs as queries
from quintain.store.queries.contest.pairs import PairFound
from quintain.store.tables import ContestPair
from quintain.tasks.contract import kind_of


def find_pair(db: Session, info: ContestInfo, pair: int) -> PairFound:
    """Give a pair with its team's name."""
    rows = queries.of_contest(db, info.id, ids=[pair])
    if not rows:
        raise NotFound("There is no pair {pair} in {ref}.", pair=pair, ref=info.ref)
    return rows[0]


def read_labels(task: Task, row: ContestPair, original: Any, modified: Any) -> tuple[Any, Any]:
    """Read the labels of both sides as they are stored, or say what is wrong with either."""
    labels: list[Any] = []
    faults: list[Fault] = []
    kind = kind_of(task)
    for name, inputs, raw in (("original", row.original, original), ("modified", row.modified, modified)):
        if raw is None or raw == "":
            faults.append(Fault("is missing", field=f"{name}_label"))
            continue
        try:
            answer = kind.answers.stored(kind.parse_answer(task, inputs, raw).answer)
        except BadInput as error:
            faults.append(Fault(error.message, field=f"{name}_label"))
            continue
        faults += [fault.at(field=f"{name}_label") for fault in kind.check(task, inputs, answer)]
        labels.append(answer)
    if faults:
        raise BadInput(faults=faults)
    return labels[0], labels[1]
