"""The last complete ranking stays until the next one is complete: a board changes in one step, and never empties.

Letting a data set score, a new version of one or of a perturbation, another metric or class of machine: each needs runs
before anybody can be ranked again. Until no model that was ranked waits for one, the ranking of before is shown and
marked as such. A model that came since waits for its own runs, and nobody waits for it; one whose runs ended otherwise
is unranked with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.board import HeldRanking
from quintain.core.records.figures import Gap, RunCounts
from quintain.core.task import ABILITY
from quintain.services.board.assemble import board
from quintain.services.board.parts import BoardMatrix, BoardPart, MatrixModel
from quintain.services.board.ranking import Ranked, rank
from quintain.services.models.registry import sight_of as eyes_of
from quintain.services.tasks.board_settings import board_spec
from quintain.services.tasks.board_spec import BoardSpec
from quintain.store.blobs import Blobs
from quintain.store.queries.board import boards as queries
from quintain.store.queries.models.models import visibilities

COMING = frozenset({"waiting", "held"})  # gaps that a run will fill
CHANGES = 3  # the newest changes before which a complete ranking is looked for, where nobody looked at the board
BEFORE = timedelta(microseconds=1)


def held_board(
    db: Session, blobs: Blobs, actor: Actor, task: str, part: BoardPart, last: BoardMatrix | None
) -> BoardMatrix:
    """Give the board of *task* as it is now, or the *last* one that was shown while runs for the next are to come."""
    live = board(db, blobs, actor, task, part)
    if part.live or live.frozen_at is not None or live.is_empty:
        return live
    ranked = rank(live)
    if not any(_comes(ranked, row, live.spec.machine is not None) for row in range(len(live.models))):
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
    since = {model.ref for model in live.models} - {model.ref for model in shown.models}
    held = HeldRanking(at.replace(microsecond=0), _outstanding(ranked, rows), len(since))
    return replace(shown, held=held, frozen_at=None)


def part_at(db: Session, blobs: Blobs, actor: Actor, whole: BoardMatrix, part: BoardPart) -> BoardMatrix:
    """Give a part of a board, by tag or language: of the moment of its last complete ranking while that is held."""
    if whole.held is None:
        return board(db, blobs, actor, whole.task.name, part)
    return replace(board(db, blobs, actor, whole.task.name, part, at=whole.held.at), held=whole.held)


def awaited(live: Ranked, last: BoardMatrix) -> list[int]:
    """Name the rows of *live* that the *last* board ranked and that wait for runs: the next one waits for them."""
    before = rank(last)
    known = {model.ref for row, model in enumerate(last.models) if before.ranking.rank[row] is not None}
    machine = live.board.spec.machine
    named = machine is not None and machine != last.spec.machine
    return [row for row, model in enumerate(live.board.models) if model.ref in known and _comes(live, row, named)]


def _comes(ranked: Ranked, row: int, named: bool) -> bool:
    """Say whether a row without a rank lacks nothing but what runs will bring.

    Where the class of machines was just *named*, measurements from elsewhere are to be made again, queued or not.
    """
    if ranked.ranking.rank[row] is not None:
        return False
    if ranked.board.metric == ABILITY and not any(model.pooled.get("performance") for model in ranked.board.models):
        return True
    model = ranked.board.models[row]
    gaps = list(_gaps(ranked, model))
    if any(why.kind not in {*COMING, "machine"} for _, why in gaps):
        return False
    return bool(gaps) and all(why.kind in COMING or named or model.runs[place].waiting for place, why in gaps)


def _gaps(ranked: Ranked, model: MatrixModel) -> Iterator[tuple[int, Gap]]:
    """List what a row lacks where it counts, with the place of the data set."""
    for axis, cells in model.gaps.items():
        if ranked.ranking.weights[axis] > 0:
            for place, share in enumerate(ranked.shares(axis)):
                why = cells[place]
                if share > 0 and why is not None:
                    yield place, why


def _outstanding(ranked: Ranked, rows: Sequence[int]) -> RunCounts:
    """Count the runs that the next ranking needs; what is to be measured elsewhere is one to come, queued or not."""
    total = RunCounts()
    for row in rows:
        model = ranked.board.models[row]
        unqueued = {place for place, why in _gaps(ranked, model) if why.kind in {"machine", "held"}}
        for place, weight in enumerate(ranked.weights):
            if weight > 0:
                runs = model.runs[place]
                more = 1 if place in unqueued and not runs.waiting else 0
                total += replace(runs, done=runs.done - more, waiting=runs.waiting + more)
    return total


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
        names = {ref.partition("/")[2].partition("@")[0] for ref in refs}
        if all(name in shown and spec.shows(name) for name in names) and not withdrawn.intersection(refs):
            hides = any(shown[name] == "anonymous" for name in names)
            models.append(replace(model, owner=None, visibility="anonymous") if hides else model)
    seen = last if tuple(models) == last.models else replace(last, models=tuple(models))
    if spec == last.spec or seen.is_empty or last.frozen_at is not None:
        return seen
    return next(_as_set(seen, spec))


def _as_set(seen: BoardMatrix, spec: BoardSpec) -> Iterator[BoardMatrix]:
    """Give *seen* by the settings of now as far as all who are ranked stay so, the nearest first."""
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
    for chosen in (fixed, replace(fixed, datasets=old.datasets)):
        tried = with_settings(seen, chosen)
        after = rank(tried).ranking.rank
        if all(now is not None for was, now in zip(before.ranking.rank, after, strict=True) if was is not None):
            yield tried
    yield with_settings(seen, hidden)


def with_settings(made: BoardMatrix, spec: BoardSpec) -> BoardMatrix:
    """Give a board by other settings that need no other figures: weights, caps, ε, what people reach."""
    return replace(
        made,
        spec=spec,
        datasets=tuple(replace(one, weight=spec.dataset_weight(one.name)) for one in made.datasets),
        axes=tuple(replace(axis, cap=spec.caps.get("memory")) if axis.name == "memory" else axis for axis in made.axes),
    )
