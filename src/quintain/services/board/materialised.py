"""Boards as plain data, and who sees the same one: they are kept by what may be seen, never by who looks.

Everybody sees the public board, a task's owners see all of it, and who has a model there that others do not see, or see
without knowing whose it is, sees a board of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Any, overload
from urllib.parse import parse_qs, urlencode

from sqlalchemy.orm import Session

from quintain import __version__
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, RoleName
from quintain.core.records.base import decode, plain
from quintain.core.records.board import BoardMachine, ComingModel, HeldRanking
from quintain.core.records.figures import Figure, Gap, Machine, RunCounts
from quintain.core.spec import restore
from quintain.core.task import ABILITY, Task
from quintain.services.board.abilities import NAME
from quintain.services.board.assemble import board
from quintain.services.board.holding import held_board, part_at
from quintain.services.board.parts import (
    Axis,
    BoardMatrix,
    BoardPart,
    MatrixDataset,
    MatrixModel,
    MatrixRound,
    PlainSlice,
)
from quintain.services.jobs.figures import FigureKind, ReportProgress, files, schedule_refresh
from quintain.services.tasks.board_settings import board_spec, frozen_at
from quintain.services.tasks.board_spec import BoardSpec
from quintain.services.tasks.definitions import get_task, list_tasks
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.board import boards as queries
from quintain.store.queries.jobs import figures as kept_queries

FORMAT = 3  # goes up when the shape or the meaning of a kept board changes
AT_ONCE = 2_000  # cells of which a board is made while somebody waits: half a second
LONGEST = 255  # of what names a kept board
PUBLIC, OWNER, OWN = "public", "owner", "of:"


@dataclass(frozen=True, slots=True)
class BoardKey:
    """Which board: of what task, which part of it, and as whom it is seen."""

    task: str
    audience: str
    part: BoardPart = field(default_factory=BoardPart)

    def __str__(self) -> str:
        named = {name: value for name in ("tag", "language") if (value := getattr(self.part, name))}
        flags = {name: "1" for name in ("seeds_apart", "live") if getattr(self.part, name)}
        return f"{self.task}?{urlencode({'sight': self.audience, **named, **flags})}"

    @classmethod
    def read(cls, subject: str) -> BoardKey:
        """Read what `str` has written.

        >>> key = BoardKey("what?", "of:7", BoardPart(tag="a&b?", live=True))
        >>> BoardKey.read(str(key)) == key
        True
        """
        task, _, query = subject.rpartition("?")
        options = {name: values[0] for name, values in parse_qs(query).items()}
        flags = {name: name in options for name in ("seeds_apart", "live")}
        return cls(task, options["sight"], BoardPart(options.get("tag"), options.get("language"), **flags))

    @property
    def actor(self) -> Actor:
        """Somebody who sees this board."""
        if self.audience.startswith(OWN):
            return Actor(user_id=int(self.audience.removeprefix(OWN)))
        return OPERATOR if self.audience == OWNER else ANONYMOUS


def board_audience(db: Session, actor: Actor, task: str) -> str:
    """Return which board of *task* somebody sees; the same text for all who see the same."""
    if actor.has(RoleName.OWNER, task):
        return OWNER
    if actor.user_id is not None and queries.has_unlisted(db, task, actor.user_id):
        return f"{OWN}{actor.user_id}"
    return PUBLIC


def encode(matrix: BoardMatrix) -> dict[str, Any]:
    """Return a board as plain data. When it was made is kept beside it.

    Slices are most of it, and few ask for those of a model: they stay text until somebody does.
    """
    left = {"task", "made_at"}
    shape = {item.name: getattr(matrix, item.name) for item in fields(BoardMatrix) if item.name not in left}
    encoded: dict[str, Any] = json.loads(json.dumps(shape, default=_unpacked, allow_nan=False))
    for model in encoded["models"]:
        model["slices"] = json.dumps(model["slices"], ensure_ascii=False, separators=(",", ":"))
    return encoded


class PackedSlices(Sequence[Sequence[PlainSlice]]):
    """The slices of a model, read from text when somebody asks for them."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _parts(self) -> list[list[PlainSlice]]:
        parts: list[list[PlainSlice]] = json.loads(self._text)
        return parts

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, index: int) -> Sequence[PlainSlice]: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[PlainSlice]]: ...

    def __getitem__(self, index: int | slice) -> Sequence[PlainSlice] | Sequence[Sequence[PlainSlice]]:
        """Return the slices on a data set."""
        return self._parts[index]


def _unpacked(value: Any) -> Any:
    """Return what JSON has no form for as plain data, also slices that were kept as text."""
    return list(value) if isinstance(value, PackedSlices) else plain(value)


def decode_board(task: Task, shape: Mapping[str, Any], made_at: datetime) -> BoardMatrix:
    """Read what `encode` has written."""
    frozen = shape["frozen_at"]
    return BoardMatrix(
        task=task,
        metric=shape["metric"],
        axes=tuple(Axis(**axis) for axis in shape["axes"]),
        datasets=tuple(decode(MatrixDataset, dataset) for dataset in shape["datasets"]),
        rounds=tuple(decode(MatrixRound, one) for one in shape["rounds"]),
        models=tuple(_model(model) for model in shape["models"]),
        spec=restore(BoardSpec, shape["spec"]),
        part=BoardPart(**shape["part"]),
        tags=tuple(shape["tags"]),
        languages=tuple(shape["languages"]),
        frozen_at=datetime.fromisoformat(frozen) if frozen else None,
        made_at=made_at,
        machine=BoardMachine(**shape["machine"]),
        held=decode(HeldRanking, shape["held"]) if shape["held"] else None,
    )


def _model(shape: Mapping[str, Any]) -> MatrixModel:
    """Read a row. Its figures are made as they were written: looking at each value would take five times as long."""
    return MatrixModel(
        **{
            **shape,
            "created_at": datetime.fromisoformat(shape["created_at"]),
            "slices": PackedSlices(shape["slices"]),
            "cannot": tuple(shape["cannot"]),
            "seeds": tuple(shape["seeds"]),
            "hashes": tuple(shape["hashes"]),
            "predictions": tuple(map(tuple, shape["predictions"])),
            "draws": {axis: tuple(map(tuple, cells)) for axis, cells in shape["draws"].items()},
            "values": {axis: [_figure(cell) for cell in cells] for axis, cells in shape["values"].items()},
            "pooled": {axis: _figure(one) for axis, one in shape["pooled"].items()},
            "gaps": {axis: [_gap(cell) for cell in cells] for axis, cells in shape["gaps"].items()},
            "runs": [RunCounts(**run) for run in shape["runs"]],
            "newer": decode(ComingModel, shape["newer"]) if shape.get("newer") else None,
        }
    )


def _figure(shape: Mapping[str, Any] | None) -> Figure | None:
    if shape is None:
        return None
    machine = shape.get("machine")
    return Figure(**{**shape, "machine": Machine(**machine)}) if isinstance(machine, Mapping) else Figure(**shape)


def _gap(shape: Mapping[str, Any] | None) -> Gap | None:
    if shape is None:
        return None
    return Gap(**{**shape, "figure": _figure(shape["figure"])}) if "figure" in shape else Gap(**shape)


def basis(db: Session, subject: str) -> str:
    """Return what a board would rest on now."""
    key = BoardKey.read(subject)
    spec = board_spec(db, key.task)
    fitted = kept_queries.stored_basis(db, NAME, key.task) if spec.metric == ABILITY else None
    stamp = ".".join(map(str, queries.stamp(db)))
    moments = [frozen_at(spec), fitted.computed_at if fitted else None]
    return f"{FORMAT}-{__version__} {stamp} {' '.join(moment.isoformat() if moment else '' for moment in moments)}"


def facts(db: Session, subject: str) -> int:
    """Count the cells that a board is made of, as far as it matters."""
    return queries.count_cells(db, BoardKey.read(subject).task, AT_ONCE + 1)


def _compute(db: Session, blobs: Blobs | None, subject: str, tell: ReportProgress) -> Mapping[str, Any]:
    return encode(make_board(db, files(blobs), BoardKey.read(subject)))


def make_board(db: Session, blobs: Blobs, key: BoardKey) -> BoardMatrix:
    """Make a board anew, as it is shown: from the last one that is kept while the next is not complete."""
    if key.part.live:
        return board(db, blobs, key.actor, key.task, key.part)
    if key.part.tag is None and key.part.language is None:
        return held_board(db, blobs, key.actor, key.task, key.part, last_stored(db, str(key)))
    whole = make_board(db, blobs, replace(key, part=replace(key.part, tag=None, language=None)))
    return part_at(db, blobs, key.actor, whole, key.part)


def last_stored(db: Session, subject: str) -> BoardMatrix | None:
    """Return the board that was kept last, also by an older version of Quintain, as long as it can be read."""
    stored = kept_queries.figure(db, BOARD.name, subject) if len(subject) <= LONGEST else None
    if stored is None or not stored.basis.startswith(f"{FORMAT}-"):
        return None
    return decode_board(task_of(db, subject), stored.value, stored.computed_at)


def whole_boards(db: Session) -> Iterable[str]:
    """Name the boards of all tasks that many see: the public ones, and those of the owners."""
    return (subject for summary in list_tasks(db) for subject in _of_task(summary.task.name))


def _of_task(task: str) -> list[str]:
    return [str(BoardKey(task, sight)) for sight in (PUBLIC, OWNER)]


def _subjects(db: Session) -> Iterable[str]:
    """Name the boards that many see and that are large, and all that are kept: what was ranked last is in them."""
    tasks = {summary.task.name for summary in list_tasks(db)}
    large = [subject for subject in whole_boards(db) if facts(db, subject) > AT_ONCE]
    stored = [subject for subject in kept_queries.subjects(db, BOARD.name) if BoardKey.read(subject).task in tasks]
    return dict.fromkeys([*large, *stored])


def schedule_board_refresh(db: Session, task: str) -> None:
    """Have the boards of a task made anew that are not made while somebody waits: facts have arrived."""
    for subject in _of_task(task):
        if facts(db, subject) > BOARD.at_once:
            schedule_refresh(db, BOARD, subject, task=task)


def invalidate(db: Session, task: str, kinds: Sequence[str]) -> None:
    """Throw away the boards of a task, and what else is kept of them: they are made of figures that were wrong."""
    with transaction(db):
        for kind in kinds:
            for subject in kept_queries.subjects(db, kind):
                if BoardKey.read(subject).task == task:
                    kept_queries.drop(db, kind, subject)
    schedule_board_refresh(db, task)


def task_of(db: Session, subject: str) -> Task:
    """Return the task of a board."""
    return get_task(db, BoardKey.read(subject).task)


BOARD = FigureKind("board", basis, facts, _compute, _subjects, at_once=AT_ONCE, kept_always=True)
