"""A new version of a ranked model: until it has been run, the version before it keeps its row, and says so.

Nobody waits for it, and nobody loses a place by sending something better.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.board import ComingModel
from quintain.services.board.assemble import board
from quintain.services.board.parts import BoardMatrix, BoardPart, MatrixModel
from quintain.services.board.pending_runs import awaits_only_runs, count_pending
from quintain.services.board.ranking import Ranked, rank
from quintain.store.blobs import Blobs

TRIES = 3  # versions before the newest that are looked at


def with_versions_before(
    db: Session, blobs: Blobs, actor: Actor, task: str, part: BoardPart, newest: BoardMatrix
) -> BoardMatrix:
    """Give the board *newest* with, for each model whose newest version waits for runs, the last one that ranked.

    A row that stands in for a newer version names it, with its runs.
    """
    ranked = rank(newest)
    waiting = {
        name: (number, ComingModel(model.ref, count_pending(ranked, [row])))
        for row, model in enumerate(newest.models)
        if awaits_only_runs(ranked, row, newest.spec.machine is not None)
        for name, number in _versions(model)
        if number > 1
    }
    before = {name: number for name, (number, _) in waiting.items()}
    shown: dict[str, int] = {}
    for _ in range(TRIES):
        if not before:
            break
        tried = rank(board(db, blobs, actor, task, part, before={**shown, **before}))
        standing_in = _ranked_names(tried)
        shown |= {name: number for name, number in before.items() if name in standing_in}
        older = {name: number for model in tried.board.models for name, number in _versions(model)}
        before = {name: older[name] for name in before if name not in shown and older.get(name, 1) > 1}
    if not shown:
        return newest
    earlier = board(db, blobs, actor, task, part, before=shown)
    return replace(earlier, models=tuple(_marked(model, waiting, shown) for model in earlier.models))


def part_as_whole(db: Session, blobs: Blobs, actor: Actor, part: BoardPart, whole: BoardMatrix) -> BoardMatrix:
    """Give a part of a board, by tag or language, with the versions that stand on the *whole* of it."""
    waiting = {
        name: (int(model.newer.model.rpartition("@")[2]), model.newer)
        for model in whole.models
        if model.newer is not None
        for name, _ in _versions(model)
    }
    before = {name: number for name, (number, _) in waiting.items()}
    at = whole.held.at if whole.held else None
    matrix = board(db, blobs, actor, whole.task.name, part, at=at, before=before)
    return replace(matrix, models=tuple(_marked(model, waiting, before) for model in matrix.models))


def _versions(model: MatrixModel) -> list[tuple[str, int]]:
    """Give the name and the number of each version that a row stands for."""
    refs = model.seeds or (model.ref,)
    parts = [ref.partition("/")[2].rpartition("@") for ref in refs]
    return [(name, int(number)) for name, _, number in parts]


def _ranked_names(ranked: Ranked) -> set[str]:
    return {
        name
        for row, model in enumerate(ranked.board.models)
        if ranked.ranking.rank[row] is not None
        for name, _ in _versions(model)
    }


def _marked(model: MatrixModel, waiting: dict[str, tuple[int, ComingModel]], shown: dict[str, int]) -> MatrixModel:
    coming = [waiting[name][1] for name, _ in _versions(model) if name in shown]
    return replace(model, newer=coming[0]) if coming else model
