"""What came of a contest: the table of pairs with every system's answers, and the figures that follow from it.

The figures are those of `quintain contest score` on the exported table, because the same function makes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.contests import PairStatus, Phase
from quintain.core.errors import BadInput, Conflict, Forbidden
from quintain.core.hashing import content_id
from quintain.core.people import Actor
from quintain.core.records import contests as records
from quintain.core.records.base import decode, to_json
from quintain.core.records.contest import ContestScore
from quintain.core.task import Task
from quintain.data.rows import PlainRow
from quintain.data.tables import write_table
from quintain.services.contest.answers import answer_cells, dev_accuracies, given_answers
from quintain.services.contest.contests import ContestInfo, organises
from quintain.services.contest.freezing import freeze
from quintain.services.contest.grading import as_cell, grading_of
from quintain.services.contest.pair_files import STRATEGY
from quintain.services.contest.pairs import MAX_PAGE, described
from quintain.services.contest.settling import PairStanding, settle
from quintain.services.contest.systems import list_systems, visible_systems
from quintain.services.contest.teams import find_team, team_of
from quintain.services.plain.contest import ContestOptions, score_rows
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.contest import pairs as queries
from quintain.store.queries.contest.pairs import PairFound
from quintain.store.queries.evaluate import results as cache
from quintain.store.tables import ContestSystem
from quintain.tasks.contract import kind_of

SCORED = 2  # goes up when figures or notes of the same answers change
SIFTED = 1  # goes up when the shape of what pairs are found by changes


@dataclass(frozen=True, slots=True)
class Matrix:
    """The table of a contest: its pairs as they stand, and every system's answers by the ids of sentences."""

    info: ContestInfo
    task: Task
    pairs: Sequence[PairFound]
    settled: Mapping[int, PairStanding]
    answers: Mapping[str, Mapping[str, Any]]
    dev_accuracy: Mapping[str, float]

    @property
    def counted(self) -> list[PairFound]:
        """The pairs that were not dropped."""
        return [one for one in self.pairs if self.settled[one.row.id].status is not PairStatus.DROPPED]

    def rows(self) -> list[dict[str, Any]]:
        """Give the table that `quintain contest score` reads: two rows for each pair that was not dropped."""
        return [row for one in self.counted for row in self._pair_rows(one)]

    def _pair_rows(self, found: PairFound) -> list[dict[str, Any]]:
        row, stands = found.row, self.settled[found.row.id]
        tags = [*row.tags, *([f"{STRATEGY}{row.strategy}"] if row.strategy else [])]
        sides = (
            ("a", row.original, row.original_hash, stands.original),
            ("b", row.modified, row.modified_hash, stands.modified),
        )
        return [
            {
                "breaker": found.team,
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


def results(db: Session, blobs: Blobs, actor: Actor, ref: str) -> records.ContestResults:
    """Give the score tables and what lies behind them; names are those that *actor* may know."""
    info = freeze(db, blobs, ref)
    require_results(db, actor, info)
    task = get_task(db, info.task)
    systems = list_systems(db, blobs, actor, ref)
    names = visible_systems(db, actor, info)
    given = given_answers(db, info, [one for one, _ in names])
    score, dropped = _score(db, blobs, info, task, names)
    accuracy = _accuracy(db, blobs, info, task, names)
    own: dict[str, list[str]] = {}
    for item in systems:
        if item.team and not item.reference:
            own.setdefault(item.team, []).append(item.name)
    missing = [name for one, name in names if given.get((one.id, "pairs")) is None or not given[one.id, "pairs"].blob]
    notes = list(score.notes)
    if missing:
        notes.append(f"{', '.join(missing)}: without answers to the pairs, and left out.")
    return records.ContestResults(
        score=score,
        systems=systems,
        dev_accuracy=accuracy,
        own={team: tuple(own[team]) for team in score.breakers if team in own},
        pairs=queries.count(db, info.id),
        dropped=dropped,
        provisional=info.phase is not Phase.OVER or bool(score.contested),
        command=command_of(info, task, accuracy),
        notes=tuple(notes),
    )


def list_pairs(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    *,
    team: str = "",
    tag: str = "",
    status: str = "",
    broke: str = "",
    offset: int = 0,
    limit: int = 50,
) -> records.ContestPairs:
    """Give a page of the pairs with every system's answers: of one *team*, with a *tag*, that *broke* a system."""
    if offset < 0 or not 1 <= limit <= MAX_PAGE:
        raise BadInput("A page begins at 0 or later and has 1 to {most} pairs.", most=MAX_PAGE)
    info = freeze(db, blobs, ref)
    require_results(db, actor, info)
    names = visible_systems(db, actor, info)
    team_id = find_team(db, info, team).id if team else None
    if not (tag or status or broke):
        ids = queries.page_of(db, info.id, team_id=team_id, offset=offset, limit=limit)
        page = matrix_of(db, blobs, info, names, ids=ids)
        total = queries.count(db, info.id, team_id=team_id)
        return records.ContestPairs([_with_answers(page, one) for one in page.pairs], total, offset)
    found = [
        one.id
        for one in _sifted(db, blobs, info, names)
        if (team_id is None or one.team == team_id)
        and (not tag or tag in one.tags)
        and (not status or one.status == status)
        and (not broke or broke in one.broken)
    ]
    page = matrix_of(db, blobs, info, names, ids=found[offset : offset + limit])
    return records.ContestPairs([_with_answers(page, one) for one in page.pairs], len(found), offset)


def get_pair(db: Session, blobs: Blobs, actor: Actor, ref: str, pair: int) -> records.ContestPair | None:
    """Give one pair with every system's answers; None where there is none."""
    info = freeze(db, blobs, ref)
    require_results(db, actor, info)
    matrix = matrix_of(db, blobs, info, visible_systems(db, actor, info), ids=[pair])
    return _with_answers(matrix, matrix.pairs[0]) if matrix.pairs else None


def export(db: Session, blobs: Blobs, actor: Actor, ref: str, path: Path) -> str:
    """Write the table that `quintain contest score` reads to *path*, and give the command that scores it."""
    info = freeze(db, blobs, ref)
    require_results(db, actor, info)
    names = visible_systems(db, actor, info)
    matrix = matrix_of(db, blobs, info, names)
    columns = ["breaker", "pair_id", "side", "sentence", "gold", "rationale", "tags", "status", *matrix.answers]
    rows = [{name: _written(row[name]) for name in columns} for row in matrix.rows()]
    write_table(pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String())), path)
    return command_of(info, matrix.task, matrix.dev_accuracy, path.name)


def command_of(info: ContestInfo, task: Task, accuracy: Mapping[str, float], file: str = "") -> str:
    """Give the command that computes the figures from the exported table."""
    grading = grading_of(task, info.spec)
    parts = [f"quintain contest score {file or f'{info.task}-{info.name}.csv'}"]
    if not grading.of_labels:
        parts.append(f"--metric {grading.metric} --threshold {grading.threshold:g}")
    if accuracy:
        parts.append("--dev-accuracy " + ",".join(f"{name}={value!r}" for name, value in accuracy.items()))
    return " ".join(parts)


def require_results(db: Session, actor: Actor, info: ContestInfo) -> None:
    """Let organisers see how it goes from scoring on, teams while labels are settled, and everybody afterwards."""
    phase = info.phase
    if phase is Phase.OVER or (organises(actor, info) and phase in (Phase.SCORE, Phase.REVIEW)):
        return
    if phase is Phase.REVIEW and team_of(db, actor, info) is not None:
        return
    if phase in (Phase.COMING, Phase.BUILD, Phase.BREAK, Phase.SCORE):
        last = info.schedule.ends[Phase.SCORE]
        raise Conflict(
            "The results of {ref} are not there before {time}.",
            ref=info.ref,
            time=info.schedule.local(last),
            code="too_early",
        )
    raise Forbidden("While labels are settled, the results of {ref} are for its teams.", ref=info.ref)


def matrix_of(
    db: Session,
    blobs: Blobs,
    info: ContestInfo,
    names: Sequence[tuple[ContestSystem, str]],
    *,
    ids: Sequence[int] | None = None,
    team_id: int | None = None,
) -> Matrix:
    """Put the pairs beside the answers of those systems that have some."""
    task = get_task(db, info.task)
    pairs = queries.of_contest(db, info.id, ids=ids, team_id=team_id)
    given = given_answers(db, info, [one for one, _ in names])
    wanted = None if ids is None else [key for one in pairs for key in (one.row.original_hash, one.row.modified_hash)]
    answers = {
        name: answer_cells(blobs, task, blob, wanted)
        for one, name in names
        if (one.id, "pairs") in given and (blob := given[one.id, "pairs"].blob)
    }
    accuracy = _accuracy(db, blobs, info, task, names)
    return Matrix(info, task, pairs, settle(db, info, task, [one.row for one in pairs]), answers, accuracy)


def sentence_of(task: Task, inputs: Mapping[str, Any]) -> str:
    """Write what may be changed of an example as one text."""
    names = [one.name for one in kind_of(task).fields(task) if one.editable]
    parts = [inputs[name] for name in names if inputs.get(name) is not None]
    return " / ".join(" ".join(map(str, one)) if isinstance(one, list) else str(one) for one in parts)


def _accuracy(
    db: Session, blobs: Blobs, info: ContestInfo, task: Task, names: Sequence[tuple[ContestSystem, str]]
) -> dict[str, float]:
    """Give the dev accuracies of the systems that enter the breakers' scores and have answered the pairs."""
    given = given_answers(db, info, [one for one, _ in names])
    known = dev_accuracies(db, blobs, info, task, given)
    return {
        name: known[one.id]
        for one, name in names
        if one.counts and one.id in known and (one.id, "pairs") in given and given[one.id, "pairs"].blob
    }


class Sifted(NamedTuple):
    """What pairs are found by: their team, their tags with the strategy, where they stand, and what they broke."""

    id: int
    team: int
    tags: list[str]
    status: str
    broken: list[str]


def _sifted(db: Session, blobs: Blobs, info: ContestInfo, names: Sequence[tuple[ContestSystem, str]]) -> list[Sifted]:
    """Say of every pair what it is found by; put together anew only where something was said since."""
    key = sift_key(db, info, names)
    known = cache.cached(db, [key]).get(key)
    if known is None:
        known = compute_sifted(db, blobs, info, names)
        with transaction(db):
            cache.keep(db, {key: known})
    return [Sifted(*one) for one in known["pairs"]]


def compute_sifted(
    db: Session, blobs: Blobs, info: ContestInfo, names: Sequence[tuple[ContestSystem, str]]
) -> dict[str, Any]:
    """Put together what pairs are found by, in the order in which they were written."""
    matrix = matrix_of(db, blobs, info, names)
    found = []
    for one in matrix.pairs:
        shown = _with_answers(matrix, one)
        tags = [*shown.tags, f"{STRATEGY}{shown.strategy}"]
        found.append(list(Sifted(one.row.id, one.row.team_id, tags, shown.status, list(shown.broken))))
    return {"pairs": found}


def _score(
    db: Session, blobs: Blobs, info: ContestInfo, task: Task, names: Sequence[tuple[ContestSystem, str]]
) -> tuple[ContestScore, int]:
    """Give the figures, computed anew only where something that they rest on has changed."""
    key = score_key(db, info, names)
    known = cache.cached(db, [key]).get(key)
    if known is None:
        known = compute_score(db, blobs, info, task, names)
        with transaction(db):
            cache.keep(db, {key: known})
    return decode(ContestScore, known["score"]), int(known["dropped"])


def compute_score(
    db: Session, blobs: Blobs, info: ContestInfo, task: Task, names: Sequence[tuple[ContestSystem, str]]
) -> dict[str, Any]:
    """Compute the figures from the pairs and the answers to them."""
    matrix = matrix_of(db, blobs, info, names)
    if not matrix.answers:
        raise Conflict("There are no figures of {ref}: no system has answered the pairs yet.", ref=info.ref)
    rows = [PlainRow(number, values) for number, values in enumerate(matrix.rows(), 1)]
    uncounted = frozenset(name for one, name in names if not one.counts)
    options = ContestOptions(grading_of(task, info.spec), matrix.dev_accuracy, uncounted=uncounted)
    score = score_rows(rows, list(matrix.answers), options)
    return {"score": json.loads(to_json(score)), "dropped": len(matrix.pairs) - len(matrix.counted)}


def score_key(db: Session, info: ContestInfo, names: Sequence[tuple[ContestSystem, str]]) -> str:
    """Name the figures by all that they rest on."""
    given = given_answers(db, info, [one for one, _ in names])
    return content_id(
        {
            "contest": info.id,
            "scored": SCORED,
            "spec": info.version,
            "names": [name for _, name in names],
            "counts": [one.counts for one, _ in names],
            "answers": [[str(one), part, told.blob or ""] for (one, part), told in sorted(given.items())],
            "said": queries.stamp(db, info.id),
        }
    )


def sift_key(db: Session, info: ContestInfo, names: Sequence[tuple[ContestSystem, str]]) -> str:
    """Name what pairs are found by, which rests on the same."""
    return content_id(["pairs", SIFTED, score_key(db, info, names)])


def _with_answers(matrix: Matrix, found: PairFound) -> records.ContestPair:
    row, stands = found.row, matrix.settled[found.row.id]
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
        described(matrix.task, found),
        original_label=golds[0],
        modified_label=golds[1],
        status=stands.status.value,
        why=stands.why.value,
        answers=answers,
        broken=broken,
    )


def _written(value: Any) -> str | None:
    if value is None:
        return None
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)
