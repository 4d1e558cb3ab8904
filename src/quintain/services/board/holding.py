"""The last complete ranking stays until the next one is complete: a board changes in one step, and never empties.

Letting a data set score, a new version of one or of a perturbation, another metric or class of machine: each needs runs
before anybody can be ranked again. Until no model that was ranked waits for one, the ranking of before is shown and
marked as such. A model that came since waits for its own runs, and nobody waits for it; one whose runs ended otherwise
is unranked with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.board import ComingModel, HeldRanking
from quintain.services.board.assemble import board
from quintain.services.board.parts import BoardMatrix, BoardPart, MatrixModel
from quintain.services.board.pending_runs import awaits_only_runs, count_pending
from quintain.services.board.ranking import Ranked, rank
from quintain.services.models.registry import model_visibility as eyes_of
from quintain.services.tasks.board_settings import board_spec
from quintain.services.tasks.board_spec import BoardSpec
from quintain.store.blobs import Blobs
from quintain.store.queries.board import boards as queries
from quintain.store.queries.models.models import visibilities

TRIES = 3  # versions before the newest that are looked at


def with_versions_before(
    db: Session, blobs: Blobs, actor: Actor, task: str, part: BoardPart, newest: BoardMatrix
) -> BoardMatrix:
    """Return the board *newest* with, for each model whose newest version waits for runs, the last one that ranked.

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
    """Return a part of a board, by tag or language, with the versions that stand on the *whole* of it."""
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
    """Return the name and the number of each version that a row stands for."""
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


CHANGES = 3  # the newest changes before which a complete ranking is looked for, where nobody looked at the board
BEFORE = timedelta(microseconds=1)


def held_board(
    db: Session, blobs: Blobs, actor: Actor, task: str, part: BoardPart, last: BoardMatrix | None
) -> BoardMatrix:
    """Return the board of *task* as it is now, or the *last* one that was shown while runs for the next are to come."""
    live = board(db, blobs, actor, task, part)
    if part.live or live.is_empty:
        return live
    live = with_versions_before(db, blobs, actor, task, part, live)
    if live.frozen_at is not None:
        return live
    ranked = rank(live)
    if not any(awaits_only_runs(ranked, row, live.spec.machine is not None) for row in range(len(live.models))):
        return live
    if last is None or last.held is None:
        last = _found_before(db, blobs, actor, live, last)
    if last is None or last.is_empty:
        return live
    shown = seen_now(db, actor, last)
    rows = awaited(ranked, shown)
    if not rows:
        return live
    at = last.held.at if last.held else last.made_at
    shown_refs = {model.ref for model in shown.models}
    coming = [
        ComingModel(model.ref, count_pending(ranked, [row]))
        for row, model in enumerate(live.models)
        if model.ref not in shown_refs
    ]
    held = HeldRanking(at, count_pending(ranked, rows), len(coming), coming)
    return replace(shown, held=held, frozen_at=None)


def part_at(db: Session, blobs: Blobs, actor: Actor, whole: BoardMatrix, part: BoardPart) -> BoardMatrix:
    """Return a part of a board, by tag or language: of the moment of its last complete ranking while that is held."""
    return replace(part_as_whole(db, blobs, actor, part, whole), held=whole.held)


def awaited(live: Ranked, last: BoardMatrix) -> list[int]:
    """Name the rows of *live* that the *last* board ranked and that wait for runs: the next one waits for them."""
    before = rank(last)
    known = {model.ref for row, model in enumerate(last.models) if before.ranking.rank[row] is not None}
    machine = live.board.spec.machine
    named = machine is not None and machine != last.spec.machine
    return [
        row for row, model in enumerate(live.board.models) if model.ref in known and awaits_only_runs(live, row, named)
    ]


def _found_before(
    db: Session, blobs: Blobs, actor: Actor, live: BoardMatrix, last: BoardMatrix | None
) -> BoardMatrix | None:
    """Look for a complete ranking just before the newest changes that nobody saw the board before; else the *last*."""
    ranked, task = rank(live), live.task.name
    for change in queries.changes(db, task, since=last.made_at if last else None)[:CHANGES]:
        past = board(db, blobs, actor, task, live.part, at=change - BEFORE)
        if awaited(ranked, past) and (last is None or last.is_empty or not awaited(rank(past), last)):
            return past
    return last


def seen_now(db: Session, actor: Actor, last: BoardMatrix) -> BoardMatrix:
    """Show an older board by what is so now: who is to be seen, who owns what, and the settings that need no runs.

    A setting that would leave somebody without a rank who has one waits for the next board.
    """
    task = last.task.name
    shown, spec = visibilities(db, eyes_of(actor), task), board_spec(db, task)
    withdrawn = queries.withdrawn(db, task)
    models = []
    for model in last.models:
        refs = model.seeds or (model.ref,)
        names = {_name(ref) for ref in refs}
        if all(name in shown and spec.shows(name) for name in names) and not withdrawn.intersection(refs):
            hides = any(shown[name] == "anonymous" for name in names)
            models.append(replace(model, owner=None, visibility="anonymous") if hides else model)
    seen = last if tuple(models) == last.models else replace(last, models=tuple(models))
    if last.held is not None:
        coming = [new for new in last.held.coming if _name(new.model) in shown and spec.shows(_name(new.model))]
        if coming != last.held.coming:
            seen = replace(seen, held=replace(last.held, coming=coming, models=len(coming)))
    if spec == last.spec or seen.is_empty or last.frozen_at is not None:
        return seen
    return next(_as_set(seen, spec))


def _name(ref: str) -> str:
    return ref.partition("/")[2].partition("@")[0]


def _as_set(seen: BoardMatrix, spec: BoardSpec) -> Iterator[BoardMatrix]:
    """Return *seen* by the settings of now as far as all who are ranked stay so, the nearest first."""
    before, old = rank(seen), seen.spec
    fixed = replace(
        spec,
        metric=old.metric,
        machine=old.machine,
        failure_limit=old.failure_limit,
        freeze_until=old.freeze_until,
        freeze_from=old.freeze_from,
    )
    hidden = replace(old, models=spec.models, hidden_models=spec.hidden_models)
    for chosen in (fixed, replace(fixed, datasets=old.datasets, languages=old.languages)):
        tried = with_settings(seen, chosen)
        after = rank(tried).ranking.rank
        if all(now is not None for was, now in zip(before.ranking.rank, after, strict=True) if was is not None):
            yield tried
    yield with_settings(seen, hidden)


def with_settings(matrix: BoardMatrix, spec: BoardSpec) -> BoardMatrix:
    """Return a board by other settings that need no other figures: weights, caps, ε, what people reach."""
    weights = spec.dataset_weights([(dataset.name, dataset.language) for dataset in matrix.datasets])
    return replace(
        matrix,
        spec=spec,
        datasets=tuple(
            replace(dataset, weight=weight) for dataset, weight in zip(matrix.datasets, weights, strict=True)
        ),
        axes=tuple(
            replace(axis, cap=spec.caps.get("memory")) if axis.name == "memory" else axis for axis in matrix.axes
        ),
    )
