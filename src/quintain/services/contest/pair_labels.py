"""Finding a pair of a contest, and reading the labels that judges or organisers give to its two sides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Fault, NotFound
from quintain.core.task import Task
from quintain.services.contest.contests import ContestInfo
from quintain.store.queries.contest import pairs as queries
from quintain.store.queries.contest.pairs import StoredPair
from quintain.store.tables import ContestPair
from quintain.tasks.contract import kind_of


def find_pair(db: Session, info: ContestInfo, pair: int) -> StoredPair:
    """Return a pair with its team's name; NotFound without one."""
    rows = queries.of_contest(db, info.id, ids=[pair])
    if not rows:
        raise NotFound("There is no pair {pair} in {ref}.", pair=pair, ref=info.ref)
    return rows[0]


def read_answer(
    task: Task, inputs: Mapping[str, Any], raw: Any, before: Mapping[str, Any] | None = None
) -> tuple[Any, list[Fault]]:
    """Return an answer to *inputs* as it is stored, or what is wrong with it.

    A word is read as a number, as itself or as both (`3:with`), and so is a piece of a text (`13:tea`). Where *inputs*
    are an edit of *before*, what still has its position from there moves along.
    """
    kind = kind_of(task)
    _, answer, unclear = kind.resolved(task, inputs, raw, before)
    faults = [fault for fault in unclear if fault.field == "answer"]
    if faults:
        return None, faults
    several = isinstance(answer, list) and kind.answers.is_text  # of which each is right
    try:
        stored = kind.answers.stored(answer if several else kind.parse_answer(task, inputs, answer).answer)
    except BadInput as error:
        return None, [Fault(error.message)]
    return stored, kind.check(task, inputs, stored)


def read_labels(task: Task, row: ContestPair, original: Any, modified: Any) -> tuple[Any, Any]:
    """Return the labels of both sides as they are stored, or refuse either with what is wrong with it."""
    labels: list[Any] = []
    faults: list[Fault] = []
    for name, inputs, raw in (("original", row.original, original), ("modified", row.modified, modified)):
        if raw is None or raw == "":
            faults.append(Fault("is missing", field=f"{name}_label"))
            continue
        answer, wrong = read_answer(task, inputs, raw)
        if not wrong:
            placed, unclear = kind_of(task).placed(task, inputs, answer)
            answer = answer if unclear else placed  # which of several places is meant makes no difference to a score
        faults += [fault.at(field=f"{name}_label") for fault in wrong]
        labels.append(answer)
    if faults:
        raise BadInput(faults=faults)
    return labels[0], labels[1]
