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
    """Give what a ranking says of who stands where."""
    places = []
    for row in ranked.order():
        model, position, score = ranked.board.models[row], ranked.ranking.rank[row], ranked.ranking.dynascore[row]
        if position is None or score is None:
            continue
        found = {axis.name: ranked.figure(row, axis.name) for axis in ranked.board.axes}
        figures = {name: figure for name, figure in found.items() if figure is not None}
        places.append(BoardPlace(model.ref, model.name, model.number, model.adapter, position, score, figures))
    return BoardStanding(tuple(places), len(ranked.board.models) - len(places), ranked.runs.waiting > 0)


def make_standing(db: Session, blobs: Blobs, task: str) -> BoardStanding:
    """Make the standing of *task* now, from a board in memory if nothing has changed since that was made."""
    warm = warm_board(db, blobs, ANONYMOUS, task)
    made = warm.board
    found = (
        warm.text.once(standing_of, warm.ranked)
        if warm.ranked
        else BoardStanding((), len(made.models), provisional=False)
    )
    sure = known_uncertainty(db, blobs, ANONYMOUS, task) if found.places else None
    claim = claim_of(warm.ranked, sure) if warm.ranked else NO_CLAIM
    ranges = {one.model: one.rank for one in sure.models} if sure else {}
    places = tuple(_with_range(place, ranges.get(place.ref)) for place in found.places)
    return replace(found, places=places, axes=tuple(made.axes), rounds=over_rounds(db, made), claim=claim)


def _with_range(place: BoardPlace, between: RankRange | None) -> BoardPlace:
    if between is None or between.value != place.rank:
        return place
    return replace(place, between=(between.low, between.high))


def over_rounds(db: Session, made: BoardMatrix) -> dict[str, list[tuple[int, float]]]:
    """Give each model's performance on the test set of every round that was released, oldest first, by its name."""
    places = {dataset.name: place for place, dataset in enumerate(made.datasets)}
    tests = [(number, places[name]) for number, name in queries.round_tests(db, made.task.name) if name in places]
    found: dict[str, list[tuple[int, float]]] = {}
    for model in made.models if tests else ():
        cells = [(number, model.values[made.axes[0].name][place]) for number, place in tests]
        found[model.name] = [(number, float(cell["value"])) for number, cell in cells if cell is not None]
    return found


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
    """Give the standings that are known, without making any; those that may have changed are made anew beside."""
    engine, stamp, moment = _engine(db), queries.stamp(db), time.monotonic()
    kept = state_of(db).part(KnownStandings)
    with kept.lock:
        for task in tasks:
            known = kept.standings.get(task)
            acted = known is not None and known[0][:2] != stamp[:2]  # what people set is to be seen at once
            if known is None or acted or (known[0] != stamp and moment - known[1] > SECONDS):
                kept.wanted[task] = blobs
        if kept.wanted and kept.thread is None:
            book = state_of(db).part(LoopBook)
            making = Loop("standings of boards", partial(_make_next, engine, kept), every=SECONDS, logger=logger)
            kept.end = partial(book.remove, book.add(making))
            kept.thread = making.start(threading.Event())
        known_now = {task: kept.standings[task] for task in tasks if task in kept.standings}
    return {
        task: standing if made_at == stamp else _as_seen_now(db, task, standing)
        for task, (made_at, _, standing) in known_now.items()
    }


def _as_seen_now(db: Session, task: str, standing: BoardStanding) -> BoardStanding:
    """Leave out of an older standing the models that not everybody may see any more."""
    spec = board_spec(db, task)
    seen = {name for name in visibilities(db, model_visibility(ANONYMOUS), task) if spec.shows(name)}
    places = tuple(place for place in standing.places if place.name in seen)
    rounds = {name: line for name, line in standing.rounds.items() if name in seen}
    claim = standing.claim if set(standing.claim.first) <= set(seen) else replace(NO_CLAIM, certainty="unknown")
    return replace(standing, places=places, rounds=rounds, claim=claim)


def wait_for_standings(db: Session, seconds: float = 60.0) -> None:
    """Wait until no standing is being made."""
    kept = state_of(db).part(KnownStandings)
    with kept.lock:
        thread = kept.thread
    if thread is not None:
        thread.join(seconds)


def _make_next(engine: Engine, kept: KnownStandings, each: Each) -> float:
    """Make the standing that was wanted first; a board that cannot be made says on its own page what is wrong."""
    with kept.lock:
        if not kept.wanted:
            kept.thread = None
            kept.end()
            raise LoopEnd
        task, blobs = kept.wanted.popitem(last=False)

    def make(task: str) -> None:
        with Session(engine) as db:
            stamp = queries.stamp(db)
            try:
                made = make_standing(db, blobs, task)
            except QuintainError as error:
                if error.code == PENDING:  # a worker is at it
                    return
                raise
        with kept.lock:
            kept.standings[task] = (stamp, time.monotonic(), made)

    each([task], make, name=lambda task: f"task {task}")
    return 0.0


def _engine(db: Session) -> Engine:
    bound = db.get_bind()
    return bound if isinstance(bound, Engine) else bound.engine
