"""Boards at hand: made at once where there is little to read, else by a worker, and kept by what may be seen.

A board of a thousand models is read from tens of thousands of rows. While nothing happens it is the same board, and it
comes from memory or, after a start, from the database. Where something has happened, the last one is shown with its
time until a worker has made the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from quintain.core.errors import NotFound, Unavailable
from quintain.core.hashing import content_id
from quintain.core.people import Actor
from quintain.core.records.base import to_json
from quintain.core.records.board import BoardView
from quintain.core.records.jobs import JobStanding
from quintain.services.access.permissions import require_owner
from quintain.services.board.holding import seen_now
from quintain.services.board.materialised import (
    BOARD,
    LONGEST,
    BoardKey,
    board_audience,
    decode_board,
    make_board,
    task_of,
)
from quintain.services.board.parts import BoardMatrix, BoardPart, MatrixModel
from quintain.services.board.ranking import Ranked, rank
from quintain.services.jobs.figures import compute_now, schedule_refresh
from quintain.services.jobs.memory import WarmValues
from quintain.services.models.registry import get_model
from quintain.services.models.registry import model_visibility as eyes_of
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.queries.jobs import figures
from quintain.store.queries.models.models import visibilities
from quintain.store.state import state_of

Given = TypeVar("Given")
Found = TypeVar("Found")

BOARDS_KEPT = 24
MODELS_KEPT = 5_000  # on all of them together: a row with its figures and slices is about 35 KB
SOON_S = 5
PENDING = "board_pending"  # the code of the error where a large board was never made


class BoardText:
    """A board as it is sent, and what pages show of it, made when somebody first asks for it."""

    def __init__(self, board: BoardMatrix) -> None:
        self._board = board
        self._made: dict[Callable[..., Any], Any] = {}

    def once(self, make: Callable[[Given], Found], source: Given) -> Found:
        """Return what *make* makes of the board, or of its default ranking; it is called the first time only."""
        if make not in self._made:
            self._made[make] = make(source)
        text: Found = self._made[make]
        return text

    @cached_property
    def json(self) -> bytes:
        """The board as JSON."""
        return to_json(self._board.record()).encode()

    @cached_property
    def etag(self) -> str:
        """The tag by which a browser knows that it has it already, whenever it was made."""
        made_at = f'"made_at":{to_json(self._board.made_at)}'.encode()
        return f'"{content_id(self.json.replace(made_at, b"", 1))}"'


@dataclass(frozen=True, slots=True)
class WarmBoard:
    """A board with what it is sent as, written once.

    *ranked* is its order by the owner's default view, where there is anything to rank. *job* makes the next one where
    it is not *fresh*: more has happened than it shows.
    """

    board: BoardMatrix
    text: BoardText
    ranked: Ranked | None = None
    fresh: bool = True
    job: JobStanding | None = None

    @property
    def json(self) -> bytes:
        """The board as JSON."""
        return self.text.json

    @property
    def order(self) -> Sequence[int]:
        """The rows from the best by the owner's default view, as `Ranked.order` gives them."""
        return self.text.once(Ranked.order, self.ranked) if self.ranked is not None else []

    @property
    def etag(self) -> str:
        """The tag of what is sent."""
        return self.text.etag


class WarmBoards(WarmValues[WarmBoard]):
    """The boards of a workspace that were used last, for as long as it is open: so many, and so many models in all."""

    def __init__(self) -> None:
        super().__init__(BOARDS_KEPT, weigh=_weight, most=MODELS_KEPT)


def warm_board(
    db: Session, blobs: Blobs, actor: Actor, task: str, part: BoardPart | None = None, *, wait: bool = False
) -> WarmBoard:
    """Return the board as *actor* may see it: from memory if nothing has changed since it was made.

    A large one is made by a worker; meanwhile the last one is given, and where there is none, an error with the code
    PENDING is raised. Who can *wait*, as a command can, has it made at once.
    """
    part = part or BoardPart()
    if part.live:
        require_owner(actor, task)
    key = BoardKey(task, board_audience(db, actor, task), part)
    subject = str(key)
    cache = state_of(db).part(WarmBoards)
    basis = BOARD.basis(db, subject)
    known = cache.find((subject, basis))
    if known is not None:
        return known
    stored = figures.stored_basis(db, BOARD.name, subject)
    if stored is not None and stored.basis == basis:
        return cache.get((subject, basis), lambda: _read(db, subject))
    if wait or len(subject) > LONGEST or BOARD.facts(db, subject) <= BOARD.at_once:
        return cache.get((subject, basis), lambda: _make(_made_now(db, blobs, key)))
    _require_known(db, blobs, actor, key)
    job = schedule_refresh(db, BOARD, subject, task=task)
    if stored is None:
        raise Unavailable(
            "This board is being made for the first time.",
            retry_after=SOON_S,
            code="board_pending",
            remedy="Try again in a moment; where no worker runs, start one: quintain worker.",
            page="Look again in a moment. A worker makes it.",
        )
    # By its time, too: one that was found wrong has been replaced by another that rests on the same.
    last = _as_seen_now(db, key, cache.get((subject, *stored), lambda: _read(db, subject)))
    return replace(last, fresh=False, job=job)


def _weight(warm: WarmBoard) -> int:
    return len(warm.board.models)


def _as_seen_now(db: Session, key: BoardKey, last: WarmBoard) -> WarmBoard:
    """Show an older board without what is not to be seen any more, and by the settings of now."""
    seen = seen_now(db, key.actor, last.board)
    shown = visibilities(db, eyes_of(key.actor), key.task)
    models = tuple(
        _unnamed(db, key.actor, model) if shown.get(model.name) == "anonymous" else model for model in seen.models
    )
    seen = seen if models == tuple(seen.models) else replace(seen, models=models)
    return last if seen is last.board else _make(seen)


def _made_now(db: Session, blobs: Blobs, key: BoardKey) -> BoardMatrix:
    """Make a board while somebody waits. The whole is kept: it is the last complete one when the next is not yet."""
    subject = str(key)
    if key.part.live or key.part.tag is not None or key.part.language is not None or len(subject) > LONGEST:
        return make_board(db, blobs, key)
    return decode_board(task_of(db, subject), compute_now(db, blobs, BOARD, subject), now())


def _unnamed(db: Session, actor: Actor, model: MatrixModel) -> MatrixModel:
    """Show a row as that of a model that is anonymous now: without its owner, under the hashes that others see."""
    hashes = tuple(get_model(db, actor, ref).version.hash for ref in model.seeds or (model.ref,))
    return replace(model, owner=None, visibility="anonymous", hash=hashes[0], hashes=hashes)


def _require_known(db: Session, blobs: Blobs, actor: Actor, key: BoardKey) -> None:
    """Refuse to have boards made of tags and languages that there are not: anybody can ask for any."""
    if key.part.tag is None and key.part.language is None:
        return
    whole = warm_board(db, blobs, actor, key.task, replace(key.part, tag=None, language=None)).board
    if key.part.tag not in (None, *whole.tags) or key.part.language not in (None, *whole.languages):
        raise NotFound("No data set of this board has such examples.", remedy="Ask for the whole board.")


def _read(db: Session, subject: str) -> WarmBoard:
    stored = figures.figure(db, BOARD.name, subject)
    if stored is None:
        raise Unavailable("The board is being made anew.", retry_after=SOON_S, remedy="Try again in a moment.")
    return _make(decode_board(task_of(db, subject), stored.value, stored.computed_at))


def _make(matrix: BoardMatrix) -> WarmBoard:
    return WarmBoard(matrix, BoardText(matrix), None if matrix.is_empty else rank(matrix))


def ranked_board(warm: WarmBoard, view: BoardView) -> Ranked:
    """Rank a board by *view*; by the default it is ranked already."""
    return rank(warm.board, view) if view != BoardView() or warm.ranked is None else warm.ranked
