"""Who stands where on a board, for pages that show it small or show several: as everybody sees it.

Making a board takes longer than a front page may. So those pages get what was last made, at once, and where something
has changed since, it is made anew beside them: whoever comes next sees it. What is shown is at most a visit old.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from quintain.core.errors import QuintainError
from quintain.core.people import ANONYMOUS
from quintain.core.records.figures import Estimate
from quintain.core.records.ranking import BoardClaim, RankRange
from quintain.engine.loops import Each, Loop, LoopBook, LoopEnd
from quintain.services.board.cache import PENDING, warm_board
from quintain.services.board.claims import NO_CLAIM, claim_of
from quintain.services.board.parts import Axis, BoardMatrix
from quintain.services.board.ranking import Ranked
from quintain.services.board.uncertainty import known_uncertainty
from quintain.services.models.registry import model_visibility
from quintain.services.tasks.board_settings import board_spec
from quintain.store.blobs import Blobs
from quintain.store.queries.board import boards as queries
from quintain.store.queries.models.models import visibilities
from quintain.store.state import state_of

SECONDS = 5.0  # between two times that the board of one task is made anew for these pages
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BoardPlace:
    """A model with its rank and Dynascore, and its figure on every axis that has one.

    *between* are the ranks that it has when the examples are drawn anew, where that is known.
    """

    ref: str
    name: str
    number: int
    adapter: str
    rank: int
    score: float
    figures: Mapping[str, Estimate]
    between: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class BoardStanding:
    """The ranked models of a board from the best, how many others wait for a rank, and whether runs are to come.

    *axes* are the board's, and *rounds* has each model's performance over the rounds, as `over_rounds` gives it. What
    may be said of who leads is the *claim*.
    """

    places: tuple[BoardPlace, ...]
    unranked: int
    provisional: bool
    axes: tuple[Axis, ...] = ()
    rounds: Mapping[str, Sequence[tuple[int, float]]] = field(default_factory=dict)
    claim: BoardClaim = NO_CLAIM


def standing_of(ranked: Ranked) -> BoardStanding:
    """Return what a ranking says of who stands where."""
    places = []
    for row in ranked.order():
        model, position, score = ranked.board.models[row], ranked.ranking.rank[row], ranked.ranking.dynascore[row]
        if position is None or score is None:
            continue
        axis_figures = {axis.name: ranked.figure(row, axis.name) for axis in ranked.board.axes}
        figures = {name: figure for name, figure in axis_figures.items() if figure is not None}
        places.append(BoardPlace(model.ref, model.name, model.number, model.adapter, position, score, figures))
    return BoardStanding(tuple(places), len(ranked.board.models) - len(places), ranked.runs.waiting > 0)


def make_standing(db: Session, blobs: Blobs, task: str) -> BoardStanding:
    """Make the standing of *task* now, from a board in memory if nothing has changed since that was made."""
    warm = warm_board(db, blobs, ANONYMOUS, task)
    matrix = warm.board
    current = (
        warm.text.once(standing_of, warm.ranked)
        if warm.ranked
        else BoardStanding((), len(matrix.models), provisional=False)
    )
    sure = known_uncertainty(db, blobs, ANONYMOUS, task) if current.places else None
    claim = claim_of(warm.ranked, sure) if warm.ranked else NO_CLAIM
    ranges = {model.model: model.rank for model in sure.models} if sure else {}
    places = tuple(_with_range(place, ranges.get(place.ref)) for place in current.places)
    return replace(current, places=places, axes=tuple(matrix.axes), rounds=over_rounds(db, matrix), claim=claim)


def _with_range(board_place: BoardPlace, between: RankRange | None) -> BoardPlace:
    if between is None or between.value != board_place.rank:
        return board_place
    return replace(board_place, between=(between.low, between.high))


def over_rounds(db: Session, matrix: BoardMatrix) -> dict[str, list[tuple[int, float]]]:
    """Return each model's performance on the test set of every round that was released, oldest first, by its name."""
    places = {dataset.name: place for place, dataset in enumerate(matrix.datasets)}
    tests = [(number, places[name]) for number, name in queries.round_tests(db, matrix.task.name) if name in places]
    values_by_model: dict[str, list[tuple[int, float]]] = {}
    for model in matrix.models if tests else ():
        cells = [(number, model.values[matrix.axes[0].name][place]) for number, place in tests]
        values_by_model[model.name] = [(number, float(cell.value)) for number, cell in cells if cell is not None]
    return values_by_model


@dataclass(slots=True)
class KnownStandings:
    """What is known of a workspace's boards while it is open: by task the standing, its stamp, and when it was made.

    There is at most one to a task, and one thread that makes them.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    standings: dict[str, tuple[tuple[int, ...], float, BoardStanding]] = field(default_factory=dict)
    wanted: OrderedDict[str, Blobs] = field(default_factory=OrderedDict)
    thread: threading.Thread | None = None
    end: Callable[[], None] = lambda: None  # takes the loop that makes them out of the book


def known_standings(db: Session, blobs: Blobs, tasks: Sequence[str]) -> dict[str, BoardStanding]:
    """Return the standings that are known, making none; those that may have changed are made anew beside."""
    engine, stamp, moment = _engine(db), queries.stamp(db), time.monotonic()
    shared = state_of(db).part(KnownStandings)
    with shared.lock:
        for task in tasks:
            known = shared.standings.get(task)
            acted = known is not None and known[0][:2] != stamp[:2]  # what people set is to be seen at once
            if known is None or acted or (known[0] != stamp and moment - known[1] > SECONDS):
                shared.wanted[task] = blobs
        if shared.wanted and shared.thread is None:
            book = state_of(db).part(LoopBook)
            making = Loop("standings of boards", partial(_make_next, engine, shared), every=SECONDS, logger=logger)
            shared.end = partial(book.remove, book.add(making))
            shared.thread = making.start(threading.Event())
        known_now = {task: shared.standings[task] for task in tasks if task in shared.standings}
    return {
        task: standing if made_at == stamp else _as_seen_now(db, task, standing)
        for task, (made_at, _, standing) in known_now.items()
    }


def _as_seen_now(db: Session, task: str, shown: BoardStanding) -> BoardStanding:
    """Leave out of an older standing the models that not everybody may see any more."""
    spec = board_spec(db, task)
    seen = {name for name in visibilities(db, model_visibility(ANONYMOUS), task) if spec.shows(name)}
    places = tuple(place for place in shown.places if place.name in seen)
    rounds = {name: line for name, line in shown.rounds.items() if name in seen}
    claim = shown.claim if set(shown.claim.first) <= set(seen) else replace(NO_CLAIM, certainty="unknown")
    return replace(shown, places=places, rounds=rounds, claim=claim)


def _make_next(engine: Engine, shared: KnownStandings, each: Each) -> float:
    """Make the standing that was wanted first; a board that cannot be made says on its own page what is wrong."""
    with shared.lock:
        if not shared.wanted:
            shared.thread = None
            shared.end()
            raise LoopEnd
        task, blobs = shared.wanted.popitem(last=False)

    def make(task: str) -> None:
        with Session(engine) as db:
            stamp = queries.stamp(db)
            try:
                computed = make_standing(db, blobs, task)
            except QuintainError as error:
                if error.code == PENDING:  # a worker is at it
                    return
                raise
        with shared.lock:
            shared.standings[task] = (stamp, time.monotonic(), computed)

    each([task], make, name=lambda task: f"task {task}")
    return 0.0


def _engine(db: Session) -> Engine:
    bound = db.get_bind()
    return bound if isinstance(bound, Engine) else bound.engine
