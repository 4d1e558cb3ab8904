"""The client's calls about boards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack
from urllib.parse import quote

from quintain.client.calls.board import BoardCalls
from quintain.client.refs import task_path
from quintain.core.errors import BadInput, NotFound
from quintain.core.jsontext import parse_json
from quintain.core.records.base import Record
from quintain.core.records.board import Board, BoardSettings, Fork, Snapshot
from quintain.core.records.ranking import Aggregations, Ranking, Sensitivity, Uncertainty
from quintain.data.signatures import digest, is_signed, key_id


class Part(TypedDict, total=False):
    """Which part of a board: examples with one *tag*, data sets in one *language*, *seeds* apart, past a freeze."""

    tag: str
    language: str
    seeds: bool
    live: bool


class Choices(TypedDict, total=False):
    """How to weigh a board; what is left out is as its owner set it.

    *weights* are of axes, *datasets* of data sets, *amrs* are exchange rates fixed by hand, *base* is the axis in whose
    units models are scored, neighbours at most *epsilon* apart are ignored, and *rate* is `mean` or `median`.
    """

    weights: Mapping[str, float]
    datasets: Mapping[str, float]
    epsilon: float
    base: str
    rate: str
    amrs: Mapping[str, float]


class View(Choices, Part, total=False):
    """How to weigh a board, and which part of it."""


@dataclass(frozen=True, slots=True)
class SnapshotCheck(Record):
    """What a server says of a snapshot's file; *key_id* is the key that signed it, None where it is not signed."""

    hash: str
    task: str
    key_id: str | None
    intact: bool
    signed: bool
    published: bool
    kept: bool

    @property
    def ok(self) -> bool:
        """Whether it is this server's: unchanged, signed with a key of the server's, and kept there."""
        return self.intact and self.signed and self.published and self.kept


class BoardClient(BoardCalls):
    """What `Client` can ask about the board of a task."""

    def board(self, task: str, **part: Unpack[Part]) -> Board:
        """Return every model's value on every axis and data set."""
        return self._transport.read(Board, "GET", f"{task_path(task)}/board", params=dict(part))

    def rank(self, task: str, *, limit: int = 100, offset: int = 0, **view: Unpack[View]) -> Ranking:
        """Rank the board by a view of it: `client.rank("sentiment", weights={"performance": 4, "memory": 1})`.

        It gives *limit* models, at most 1,000, from place *offset*; `total` says how many there are.
        """
        params = {**_query(view), "limit": limit, "offset": offset}
        return self._transport.read(Ranking, "GET", f"{task_path(task)}/board/rank", params=params)

    def uncertainty(self, task: str, **view: Unpack[View]) -> Uncertainty:
        """Return how sure a ranking is: intervals of ranks, how probably one is above another, groups of ties."""
        return self._transport.read(Uncertainty, "GET", f"{task_path(task)}/board/uncertainty", params=_query(view))

    def aggregations(self, task: str, **view: Unpack[View]) -> Aggregations:
        """Rank the board by every aggregation."""
        return self._transport.read(Aggregations, "GET", f"{task_path(task)}/board/aggregations", params=_query(view))

    def sensitivity(self, task: str, **view: Unpack[View]) -> Sensitivity:
        """Return what the lead of the `leader` hangs on."""
        return self._transport.read(Sensitivity, "GET", f"{task_path(task)}/board/sensitivity", params=_query(view))

    def export_board(self, task: str, format: str = "csv", *, model: str = "", **view: Unpack[View]) -> str:  # noqa: A002 - the API's word
        """Return a ranking as text: csv, json, latex, markdown, harness or model-index (of one *model*)."""
        params = {**_query(view), "format": format, "model": model}
        return self._transport.text("GET", f"{task_path(task)}/board/export", params=params)

    def save_fork(self, task: str, name: str, **choices: Unpack[Choices]) -> Fork:
        """Keep a view under a name, for everybody to choose; saying it again changes one's own."""
        return self._transport.read(Fork, "POST", f"{task_path(task)}/board/forks", json={"name": name, **choices})

    def set_board(self, task: str, settings: Mapping[str, Any], *, remove: Iterable[str] = ()) -> BoardSettings:
        """Set the board (its owner); what *settings* leave out is refused unless it is to be *removed* by name.

        Without `datasets` those score that did; with it, those that are named. None resets a setting as well.
        """
        path, asked = f"{task_path(task)}/board/settings", {"remove": list(remove)}
        return self._transport.read(BoardSettings, "PUT", path, params=asked, json=dict(settings))

    def let_score(self, dataset: str, scores: bool = True) -> BoardSettings:
        """Let a data set score (its owner), or show it without scoring: `client.let_score("sentiment/reviews")`."""
        task, _, name = dataset.partition("/")
        where = f"{task_path(task)}/board/datasets/{quote(name, safe='')}"
        return self._transport.read(BoardSettings, "PUT", where, json={"scores": scores})

    def take_snapshot(self, task: str, title: str = "", **view: Unpack[View]) -> Snapshot:
        """Freeze the board as everybody may see it, with the hash of every input."""
        where = f"{task_path(task)}/board/snapshots"
        return self._transport.read(Snapshot, "POST", where, params=_query(view), json={"title": title})

    def snapshot(self, task: str, snapshot: str) -> bytes:
        """Return the file of a frozen copy, named by its hash or the beginning of it."""
        where = f"{task_path(task)}/board/snapshots/{quote(snapshot, safe='')}"
        return self._transport.text("GET", where).encode()

    def check_snapshot(self, path: Path | str) -> SnapshotCheck:
        """Compare the file of a snapshot with what this server signed and keeps: `client.check_snapshot(path).ok`.

        What the file says is `intact` where it has the hash that it claims, and is this server's word where it is
        `signed` by a key that the server has `published`, and is `kept` there.
        """
        try:
            shape = parse_json(Path(path).read_bytes())
            computed, claimed, task = digest(shape), str(shape["hash"]), str(shape["board"]["task"])
            signature = dict(shape.get("signature") or {})
            public = str(signature.get("public_key") or "")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise BadInput("{path} is not a snapshot of a board.", path=path, remedy="Download it again.") from error
        signed = is_signed(computed, str(signature.get("value") or ""), public)
        try:
            is_kept = digest(parse_json(self.snapshot(task, computed))) == computed
        except NotFound:
            is_kept = False
        return SnapshotCheck(
            hash=claimed,
            task=task,
            key_id=key_id(public) if signed else None,
            intact=computed == claimed,
            signed=signed,
            published=signed and public in {key.public_key for key in self.signing_keys()},
            kept=is_kept,
        )

    def download_snapshot(self, task: str, snapshot: str, path: Path | str) -> Path:
        """Write a frozen copy, named by its hash or the beginning of it; `quintain board verify` checks the file."""
        target = Path(path)
        self._transport.fetch(f"{task_path(task)}/board/snapshots/{quote(snapshot, safe='')}", target)
        return target


def _query(view: View) -> dict[str, Any]:
    """Write a view as addresses carry it: weights as `performance:4,memory:1`."""
    return {
        name: ",".join(f"{key}:{number}" for key, number in value.items()) if isinstance(value, Mapping) else value
        for name, value in view.items()
    }
