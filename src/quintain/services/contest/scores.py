"""What came of a contest: the table of pairs with every system's answers, and the figures that follow from it.

The figures are those of `quintain contest score` on the exported table, because the same function makes them. Of many
pairs a worker computes them, and they are shown as they were counted last.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.contests import Phase
from quintain.core.errors import BadInput, Conflict, Fault, Forbidden, Unavailable
from quintain.core.people import Actor
from quintain.core.records import contests as records
from quintain.core.records.base import decode
from quintain.core.records.contest import ContestScore
from quintain.core.task import Task
from quintain.data.tables import write_table
from quintain.services.contest.answers import given_answers
from quintain.services.contest.contests import ContestInfo, organises
from quintain.services.contest.figures import FOUND_BY, broke_mark, shown_marks, shown_score, tag_mark
from quintain.services.contest.freeze import freeze
from quintain.services.contest.grading import grading_of
from quintain.services.contest.matrix import Names, accuracies_of, matrix_of, with_answers
from quintain.services.contest.pairs import MAX_PAGE
from quintain.services.contest.rulings import opinions
from quintain.services.contest.systems import list_systems, visible_systems
from quintain.services.contest.teams import find_team, team_of
from quintain.services.contest.undecided import results_wait, waiting_pairs
from quintain.services.jobs.figures import ShownFigure
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.queries.contest import marks
from quintain.store.queries.contest import pairs as queries

SOON_S = 5
WAITING = "waiting"  # for the organisers
LIVE = ShownFigure({}, None, fresh=True)  # of what is looked at as it is


def shown_results(
    db: Session, blobs: Blobs, actor: Actor, ref: str
) -> tuple[records.ContestResults | None, ShownFigure]:
    """Return the score tables and what lies behind them as they are known, None where they were never computed.

    Names are those that *actor* may know.
    """
    info = freeze(db, blobs, ref)
    require_results(db, actor, info)
    shown = shown_score(db, blobs, actor, info)
    if shown.value is None:
        return None, shown
    if shown.value["score"] is None:
        raise Conflict("There are no figures of {ref}: no system has answered the pairs yet.", ref=info.ref)
    return _results(db, blobs, actor, info, shown, shown.value), shown


def results(db: Session, blobs: Blobs, actor: Actor, ref: str) -> records.ContestResults:
    """Return the score tables and what lies behind them; refused for now while the first ones are being computed."""
    shown, _ = shown_results(db, blobs, actor, ref)
    if shown is None:
        raise being_computed()
    return shown


def _results(
    db: Session, blobs: Blobs, actor: Actor, info: ContestInfo, shown: ShownFigure, value: Mapping[str, Any]
) -> records.ContestResults:
    task = get_task(db, info.task)
    score = decode(ContestScore, value["score"])
    systems = list_systems(db, blobs, actor, info.ref)
    names = visible_systems(db, actor, info)
    submitted = given_answers(db, info, [system for system, _ in names])
    accuracy = accuracies_of(db, blobs, info, task, names)
    own: dict[str, list[str]] = {}
    for item in systems:
        if item.team and not item.reference:
            own.setdefault(item.team, []).append(item.name)
    missing = [
        name for one, name in names if submitted.get((one.id, "pairs")) is None or not submitted[one.id, "pairs"].blob
    ]
    notes = list(score.notes)
    if missing:
        notes.append(f"{', '.join(missing)}: without answers to the pairs, and left out.")
    if value["expired"]:
        notes.append(f"{value['expired']} pairs count as they were written: nobody settled their labels in time.")
    return records.ContestResults(
        score=score,
        systems=systems,
        dev_accuracy=accuracy,
        own={team: tuple(own[team]) for team in score.breakers if team in own},
        pairs=queries.count(db, info.id),
        dropped=int(value["dropped"]),
        provisional=info.phase is not Phase.OVER or bool(score.contested + score.undecided),
        command=command_of(info, task, accuracy),
        notes=tuple(notes),
        expired=int(value["expired"]),
        waiting=int(value["waiting"]),
        computed_at=shown.computed_at,
        fresh=shown.fresh,
    )


def being_computed() -> Unavailable:
    """Return the refusal that figures are being computed, which may be asked for in a moment."""
    return Unavailable(
        "The figures are being computed: there are many pairs, so that a worker does it.",
        retry_after=SOON_S,
        remedy="Try again in a moment; where no worker runs, start one: quintain worker.",
        page="Look again in a moment. A worker computes them.",
        code="figures_pending",
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
    """Return a page of the pairs with every system's answers: of one *team*, with a *tag*, that *broke* a system.

    *status* is contested, undecided, settled or dropped, waiting (for the organisers) or expired (nobody settled it in
    time). Of many pairs those filters know what a worker has counted last, but for what waits for the organisers; while
    the first count is on its way, that is said in place of a page.
    """
    listed, _ = shown_pairs(
        db, blobs, actor, ref, team=team, tag=tag, status=status, broke=broke, offset=offset, limit=limit
    )
    if listed is None:
        raise being_computed()
    return listed


def shown_pairs(
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
) -> tuple[records.ContestPairs | None, ShownFigure]:
    """Return a page of pairs as `list_pairs` does, None where they were never counted, and of when the count is."""
    if offset < 0 or not 1 <= limit <= MAX_PAGE:
        raise BadInput("A page begins at 0 or later and has 1 to {most} pairs.", most=MAX_PAGE)
    if status and status not in FOUND_BY:
        known = ", ".join(FOUND_BY)
        raise BadInput(faults=[Fault("'{status}' is not one of {known}", status=status, known=known, field="status")])
    info = freeze(db, blobs, ref)
    require_results(db, actor, info)
    names = visible_systems(db, actor, info)
    team_id = find_team(db, info, team).id if team else None
    shown = LIVE
    waiting = waiting_pairs(db, info) if status == WAITING and not (team or tag or broke) else None
    if waiting is not None:
        ids, total = waiting[offset : offset + limit], len(waiting)
    elif tag or status or broke:
        shown = shown_marks(db, blobs, info)
        if shown.value is None:
            return None, shown
        conditions = [*([tag_mark(tag)] if tag else []), *([status] if status else []), *_broke(names, broke)]
        ids, total = marks.page(db, info.id, conditions, team_id=team_id, offset=offset, limit=limit)
    else:
        ids = queries.page_of(db, info.id, team_id=team_id, offset=offset, limit=limit)
        total = queries.count(db, info.id, team_id=team_id)
    page = matrix_of(db, blobs, info, names, ids=ids)
    return records.ContestPairs([with_answers(page, pair) for pair in page.pairs], total, offset), shown


def _broke(names: Names, name: str) -> list[str]:
    """Return the mark of the pairs that broke a system; of one that nobody knows there are none."""
    if not name:
        return []
    return [next((broke_mark(system.id) for system, known in names if known == name), broke_mark(0))]


def get_pair(db: Session, blobs: Blobs, actor: Actor, ref: str, pair: int) -> records.ContestPair | None:
    """Return one pair with every system's answers, and what was said of it; None where there is none."""
    info = freeze(db, blobs, ref)
    require_results(db, actor, info)
    matrix = matrix_of(db, blobs, info, visible_systems(db, actor, info), ids=[pair])
    if not matrix.pairs:
        return None
    opinion = opinions(db, actor, info, matrix.pairs[0])
    return replace(
        with_answers(matrix, matrix.pairs[0]),
        objections=opinion.objections,
        ruling=opinion.ruling,
        votes=opinion.votes if organises(actor, info) else None,
    )


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
    """Return the command that computes the figures from the exported table."""
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
    if phase is Phase.OVER and results_wait(db, info):
        if organises(actor, info) or team_of(db, actor, info) is not None:
            return
        raise Conflict(
            "The final results of {ref} wait for its organisers, who have to decide about some pairs.",
            ref=info.ref,
            code="undecided",
        )
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


def _written(value: Any) -> str | None:
    if value is None:
        return None
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)
