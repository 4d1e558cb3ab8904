"""The table of a contest: its pairs as they stand, beside what every system answered to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.contests import PairReason, PairStatus
from quintain.core.records import contests as records
from quintain.core.task import Task
from quintain.services.contest.answers import answer_cells, dev_accuracies, given_answers
from quintain.services.contest.contests import ContestInfo
from quintain.services.contest.grading import as_cell, grading_of
from quintain.services.contest.pair_files import STRATEGY
from quintain.services.contest.pair_outcomes import PairOutcome, pair_outcomes, rules_of
from quintain.services.contest.pairs import described
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.queries.contest import pairs as queries
from quintain.store.queries.contest.pairs import StoredPair
from quintain.store.tables import ContestSystem
from quintain.tasks.contract import kind_of

Names = Sequence[tuple[ContestSystem, str]]


@dataclass(frozen=True, slots=True)
class Matrix:
    """The table of a contest: its pairs as they stand, and every system's answers by the ids of sentences."""

    info: ContestInfo
    task: Task
    pairs: Sequence[StoredPair]
    settled: Mapping[int, PairOutcome]
    answers: Mapping[str, Mapping[str, Any]]
    dev_accuracy: Mapping[str, float]

    @property
    def counted(self) -> list[StoredPair]:
        """The pairs that were not dropped."""
        return [pair for pair in self.pairs if self.settled[pair.row.id].status is not PairStatus.DROPPED]

    def count(self, *reasons: PairReason) -> int:
        """Count the pairs that stand so for one of these *reasons*."""
        return sum(standing.why in reasons for standing in self.settled.values())

    @property
    def waiting(self) -> int:
        """How many pairs only the organisers can settle."""
        rules = rules_of(self.info, self.task)
        return sum(rules.waits(standing) for standing in self.settled.values())

    def rows(self) -> list[dict[str, Any]]:
        """Return the table that `quintain contest score` reads: two rows for each pair that was not dropped."""
        return [row for one in self.counted for row in self._pair_rows(one)]

    def _pair_rows(self, stored: StoredPair) -> list[dict[str, Any]]:
        row, stands = stored.row, self.settled[stored.row.id]
        tags = [*row.tags, *([f"{STRATEGY}{row.strategy}"] if row.strategy else [])]
        sides = (
            ("a", row.original, row.original_hash, stands.original),
            ("b", row.modified, row.modified_hash, stands.modified),
        )
        return [
            {
                "breaker": stored.team,
                "pair_id": row.name,
                "side": side,
                "sentence": sentence_of(self.task, inputs),
                "gold": as_cell(self.task, gold),
                "rationale": row.rationale,
                "tags": ";".join(tags),
                "status": stands.status.value,
                **{name: said.get(key) for name, said in self.answers.items()},
            }
            for side, inputs, key, gold in sides
        ]


def matrix_of(
    db: Session,
    blobs: Blobs,
    info: ContestInfo,
    names: Names,
    *,
    ids: Sequence[int] | None = None,
    team_id: int | None = None,
) -> Matrix:
    """Put the pairs beside the answers of those systems that have some."""
    task = get_task(db, info.task)
    pairs = queries.of_contest(db, info.id, ids=ids, team_id=team_id)
    submitted = given_answers(db, info, [one for one, _ in names])
    hashes = (
        None if ids is None else [key for pair in pairs for key in (pair.row.original_hash, pair.row.modified_hash)]
    )
    answers = {
        name: answer_cells(blobs, task, blob, hashes)
        for one, name in names
        if (one.id, "pairs") in submitted and (blob := submitted[one.id, "pairs"].blob)
    }
    accuracy = accuracies_of(db, blobs, info, task, names)
    return Matrix(info, task, pairs, pair_outcomes(db, info, task, [pair.row for pair in pairs]), answers, accuracy)


def sentence_of(task: Task, inputs: Mapping[str, Any]) -> str:
    """Write what may be changed of an example as one text."""
    names = [field.name for field in kind_of(task).fields(task) if field.editable]
    parts = [inputs[name] for name in names if inputs.get(name) is not None]
    return " / ".join(" ".join(map(str, part)) if isinstance(part, list) else str(part) for part in parts)


def accuracies_of(db: Session, blobs: Blobs, info: ContestInfo, task: Task, names: Names) -> dict[str, float]:
    """Return the dev accuracies of the systems that enter the breakers' scores and have answered the pairs."""
    submitted = given_answers(db, info, [one for one, _ in names])
    known = dev_accuracies(db, blobs, info, task, submitted)
    return {
        name: known[one.id]
        for one, name in names
        if one.counts and one.id in known and (one.id, "pairs") in submitted and submitted[one.id, "pairs"].blob
    }


def with_answers(matrix: Matrix, stored: StoredPair) -> records.ContestPair:
    """Return a pair as it stands, with every system's answers and the systems that it broke."""
    row, stands = stored.row, matrix.settled[stored.row.id]
    grade = grading_of(matrix.task, matrix.info.spec)
    golds = (as_cell(matrix.task, stands.original), as_cell(matrix.task, stands.modified))
    answers = {
        name: (said.get(row.original_hash), said.get(row.modified_hash)) for name, said in matrix.answers.items()
    }
    broken = tuple(
        name
        for name, (first, second) in answers.items()
        if grade(first, golds[0]).right != grade(second, golds[1]).right
    )
    return replace(
        described(matrix.task, stored),
        original_label=golds[0],
        modified_label=golds[1],
        status=stands.status.value,
        why=stands.why.value,
        answers=answers,
        broken=broken,
    )
