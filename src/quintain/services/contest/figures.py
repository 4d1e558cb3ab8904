"""Figures of a contest that are kept: the score tables, and what its pairs are listed by.

They are computed when something is said of a pair; of many pairs by a worker, never by who looks. While systems have no
names, teams see the scores under names of their own, so that there is a figure for each who does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.contests import PairReason, PairStatus, Phase
from quintain.core.hashing import content_id
from quintain.core.people import ANONYMOUS, OPERATOR, Actor
from quintain.core.records.base import to_json
from quintain.data.rows import PlainRow
from quintain.services.contest.answers import given_answers
from quintain.services.contest.contests import ContestInfo, find_contest, organises
from quintain.services.contest.grading import as_cell, grading_of
from quintain.services.contest.matrix import Matrix, Names, matrix_of
from quintain.services.contest.pair_files import STRATEGY
from quintain.services.contest.pair_outcomes import rules_of
from quintain.services.contest.systems import visible_systems
from quintain.services.contest.teams import team_of
from quintain.services.contest.undecided import PAIRS
from quintain.services.jobs import figures
from quintain.services.jobs.figures import FigureKind, ReportProgress, ShownFigure, WithRows, files
from quintain.services.plain.files.contest import ContestOptions, score_rows
from quintain.store.blobs import Blobs
from quintain.store.queries.contest import contests as queries
from quintain.store.queries.contest import marks, pairs
from quintain.store.queries.contest.marks import Mark

SHAPE = 1  # of what is kept: figures of another shape are computed anew
AT_ONCE = 1_000  # pairs of which figures are computed while somebody waits: a tenth of a second
VIEW = "#"  # between a contest and who sees systems by other names


def shown_score(db: Session, blobs: Blobs, actor: Actor, info: ContestInfo) -> ShownFigure:
    """Return the score tables as *actor* may see them; the next ones are asked for where they are outrun."""
    return figures.shown_figure(db, blobs, SCORE, _subject(db, actor, info), task=info.task)


def shown_marks(db: Session, blobs: Blobs, info: ContestInfo) -> ShownFigure:
    """See to it that pairs are found by what was said last; give how many stand where."""
    return figures.shown_figure(db, blobs, LISTED, info.ref, task=info.task)


def schedule_refresh(db: Session, info: ContestInfo) -> None:
    """Have the figures of a large contest computed anew, after something was said; in the caller's transaction."""
    if not info.frozen or _facts(db, info.ref) <= AT_ONCE:
        return
    for kind, subject in ((LISTED, info.ref), *((SCORE, view) for view in _views(db, info))):
        if not figures.is_refresh_scheduled(db, kind, subject):
            figures.schedule_refresh(db, kind, subject, task=info.task)


def _subject(db: Session, actor: Actor, info: ContestInfo) -> str:
    """Name the figure that somebody sees: all the same, but where systems have no names yet."""
    if organises(actor, info) or not info.spec.anonymous or info.phase is Phase.OVER:
        return info.ref
    team = team_of(db, actor, info)
    named = team is not None and any(system.team_id == team.id for system in queries.systems(db, info.id))
    return f"{info.ref}{VIEW}{team.name if team is not None and named else ''}"


def _views(db: Session, info: ContestInfo) -> Iterator[str]:
    yield info.ref
    if info.spec.anonymous and info.phase is not Phase.OVER:
        yield f"{info.ref}{VIEW}"
        builders = {system.team_id for system in queries.systems(db, info.id)}
        names = [team.row.name for team in queries.teams(db, info.id) if team.row.id in builders]
        yield from (f"{info.ref}{VIEW}{name}" for name in names)


def _seen(db: Session, subject: str) -> tuple[ContestInfo, Names]:
    """Return a contest with its systems, by the names that those who see a figure know them by."""
    ref, view, team = subject.partition(VIEW)
    info = find_contest(db, ref)
    if not view:
        return info, visible_systems(db, OPERATOR, info)
    row = queries.team(db, info.id, team) if team else None
    member = (
        None
        if row is None
        else next((member.user_id for member in queries.members(db, info.id) if member.team_id == row.id), None)
    )
    return info, visible_systems(db, ANONYMOUS if member is None else Actor(user_id=member), info)


def _facts(db: Session, subject: str) -> int:
    """Count the pairs, and no further than matters."""
    return pairs.count_to(db, find_contest(db, subject.partition(VIEW)[0]).id, AT_ONCE + 1)


def _basis(db: Session, subject: str) -> str:
    """Name all that the figures rest on: the rules, the systems and their answers, and how much was said of pairs."""
    info, names = _seen(db, subject)
    submitted = given_answers(db, info, [system for system, _ in names])
    answers = [[str(key), part, one.blob or ""] for (key, part), one in sorted(submitted.items())]
    systems = [[name, system.counts] for system, name in names]
    over = info.phase is Phase.OVER
    rests = [info.id, info.version, over, systems, answers, pairs.facts(db, info.id)]
    return f"{SHAPE}/{content_id(rests)}"


def _score(db: Session, blobs: Blobs | None, subject: str, tell: ReportProgress) -> Mapping[str, Any]:
    """Compute the score tables from the pairs and the answers to them; none where no system has answered."""
    info, names = _seen(db, subject)
    matrix = matrix_of(db, files(blobs), info, names)
    counts = {
        "dropped": len(matrix.pairs) - len(matrix.counted),
        "expired": matrix.count(PairReason.EXPIRED),
        "waiting": matrix.waiting,
    }
    if not matrix.answers:
        return {**counts, "score": None}
    rows = [PlainRow(number, values) for number, values in enumerate(matrix.rows(), 1)]
    uncounted = frozenset(name for system, name in names if not system.counts)
    options = ContestOptions(grading_of(matrix.task, info.spec), matrix.dev_accuracy, uncounted=uncounted)
    db.rollback()  # hold nothing while it is computed
    return {**counts, "score": json.loads(to_json(score_rows(rows, list(matrix.answers), options)))}


def _listed(db: Session, blobs: Blobs | None, subject: str, tell: ReportProgress) -> WithRows:
    """Return of every pair what it is found by, systems by their numbers."""
    info = find_contest(db, subject)
    names = [(system, str(system.id)) for system, _ in visible_systems(db, OPERATOR, info)]
    matrix = matrix_of(db, files(blobs), info, names)
    pair_marks = sorted(set(_marks(matrix)))
    counts = Counter(mark for mark, _ in pair_marks if mark in COUNTED)
    return WithRows({"pairs": len(matrix.pairs), **counts}, lambda db: marks.keep(db, info.id, pair_marks))


def _marks(matrix: Matrix) -> Iterator[Mark]:
    rules, grade = rules_of(matrix.info, matrix.task), grading_of(matrix.task, matrix.info.spec)
    for row, _ in matrix.pairs:
        outcome = matrix.settled[row.id]
        if outcome.status is not PairStatus.WRITTEN:
            yield outcome.status.value, row.id
        if outcome.why is PairReason.EXPIRED:
            yield EXPIRED, row.id
        if rules.waits(outcome):
            yield WAITING, row.id
        for tag in (*row.tags, f"{STRATEGY}{row.strategy}"):
            yield tag_mark(tag), row.id
        first, second = as_cell(matrix.task, outcome.original), as_cell(matrix.task, outcome.modified)
        for name, cells in matrix.answers.items():
            right = grade(cells.get(row.original_hash), first).right
            if right != grade(cells.get(row.modified_hash), second).right:
                yield broke_mark(int(name)), row.id


def tag_mark(tag: str) -> str:
    """Return the mark of the pairs with a tag, or with a strategy."""
    return f"tag:{tag}"


def broke_mark(system: int) -> str:
    """Return the mark of the pairs that broke a system."""
    return f"broke:{system}"


def _contests(db: Session) -> Iterable[str]:
    return queries.refs_with_pairs(db)


def _all_views(db: Session) -> Iterable[str]:
    return [view for ref in _contests(db) for view in _views(db, find_contest(db, ref))]


WAITING, EXPIRED = "waiting", "expired"
COUNTED = frozenset({WAITING, EXPIRED, *(status.value for status in PairStatus if status.value)})
FOUND_BY = tuple(sorted(COUNTED))
SCORE = FigureKind(
    "contest score", basis=_basis, facts=_facts, compute=_score, subjects=_all_views, at_once=AT_ONCE, kept_always=True
)
LISTED = FigureKind(PAIRS, basis=_basis, facts=_facts, compute=_listed, subjects=_contests, at_once=AT_ONCE, rows=True)
