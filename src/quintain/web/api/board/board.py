"""The board of a task, for programs and for the board's own page."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Body, Depends, Header, Path
from fastapi import Query as Parameter
from starlette.responses import Response

from quintain.core.records.board import (
    BoardModelSlices,
    BoardSettings,
    BoardView,
    Fork,
    Forks,
    QueuedRuns,
    Remeasured,
    SigningKeys,
    Snapshot,
    Snapshots,
)
from quintain.core.records.ranking import Aggregations, BoardClaim, Ranking, Sensitivity
from quintain.services.access import signing
from quintain.services.board import remeasure as measuring_again
from quintain.services.board import snapshots as board_keep
from quintain.services.board.cache import WarmBoard, ranked_board, warm_board
from quintain.services.board.choices import aggregations, sensitivity
from quintain.services.board.claims import board_claim
from quintain.services.board.export import SUFFIXES, export
from quintain.services.board.parts import BoardPart
from quintain.services.board.ranking import parse_view
from quintain.services.board.uncertainty import sent_uncertainty
from quintain.services.evaluate.cells.lifecycle import fill_dataset
from quintain.services.tasks import board_settings
from quintain.services.tasks.definitions import get_task
from quintain.web.api.call import Call, Calling
from quintain.web.api.params import Changing, DatasetName, Filter, Limit, ModelName, Offset, TaskName
from quintain.web.api.shapes import Shape, Text

ExportKind = Literal["csv", "json", "latex", "markdown", "harness", "model-index"]


class ScoringChange(Shape):
    """Whether a data set scores."""

    scores: bool


class ForkChange(Shape):
    """A view to keep, and its name."""

    name: Text
    weights: dict[str, float] | None = None
    datasets: dict[str, float] | None = None
    epsilon: float | None = None
    base: Text | None = None
    amrs: dict[str, float] | None = None
    rate: Text | None = None


class SnapshotRequest(Shape):
    """What to call a snapshot."""

    title: Text = ""


SnapshotHash = Annotated[str, Path(description="Hash of the snapshot, or its beginning.", pattern=r"^[0-9a-f]{6,64}$")]
Pairs = Annotated[str, Parameter(max_length=4000, pattern=r"^[^\x00]*$")]


def read_view(
    weights: Annotated[Pairs, Parameter(description="Weights of axes: performance:4,memory:1.")] = "",
    datasets: Annotated[Pairs, Parameter(description="Weights of data sets: test:1,contrast:2.")] = "",
    epsilon: Annotated[float | None, Parameter(description="Neighbours at most this far apart are ignored.")] = None,
    base: Annotated[Filter, Parameter(description="In whose units to score; performance by default.")] = "",
    amrs: Annotated[Pairs, Parameter(description="Exchange rates fixed by hand: memory:0.5.")] = "",
    rate: Annotated[Filter, Parameter(description="What a rate is of those of neighbours: mean or median.")] = "",
) -> BoardView:
    """Read how the caller looks at the board."""
    return parse_view(weights, datasets, epsilon=epsilon, base=base, amrs=amrs, rate=rate)


def read_part(
    tag: Annotated[Filter, Parameter(description="Performance on the examples with this tag only.")] = "",
    language: Annotated[Filter, Parameter(description="Only data sets in this language.")] = "",
    seeds: Annotated[bool, Parameter(description="List several seeds of one model apart.")] = False,
    live: Annotated[bool, Parameter(description="Look past a freeze (owners).")] = False,
) -> BoardPart:
    """Read which part of the board is asked for."""
    return BoardPart(tag or None, language or None, seeds, live)


Viewing = Annotated[BoardView, Depends(read_view)]
Parted = Annotated[BoardPart, Depends(read_part)]


def get_board(
    call: Calling, task: TaskName, part: Parted, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """Return the board: every model's value on every axis and data set, and the owner's default weights."""
    board = _warm(call, task, part)
    headers = {"etag": board.etag, "cache-control": "private, no-cache", "vary": "Cookie, Authorization"}
    if if_none_match == board.etag:
        return Response(status_code=304, headers=headers)
    return Response(board.json, media_type="application/json", headers=headers)


def get_rank(
    call: Calling, task: TaskName, part: Parted, view: Viewing, limit: Limit = 100, offset: Offset = 0
) -> Ranking:
    """Rank the board by a view of it, and give a page of it from the best."""
    warm = _warm(call, task, part)
    ranked = ranked_board(warm, view)
    order = warm.order if ranked is warm.ranked else ranked.order()
    return ranked.page(order, limit=limit, offset=offset)


def get_uncertainty(call: Calling, task: TaskName, part: Parted, view: Viewing) -> Response:
    """Return how sure the ranking is: intervals of ranks, how probably one is above another, groups of ties."""
    text = sent_uncertainty(call.db, call.blobs, call.actor, task, part, view)
    return Response(text, media_type="application/json")


def get_claim(call: Calling, task: TaskName) -> BoardClaim:
    """Return who leads the board by its owner's view, by what figure, and how sure that is."""
    return board_claim(call.db, call.blobs, call.actor, task)


def get_aggregations(call: Calling, task: TaskName, part: Parted, view: Viewing) -> Aggregations:
    """Rank the board by every aggregation, side by side."""
    return aggregations(_warm(call, task, part).board, view)


def get_sensitivity(call: Calling, task: TaskName, part: Parted, view: Viewing) -> Sensitivity:
    """Return over what weights and ε the leader leads, and what removing a model does to the others."""
    return sensitivity(_warm(call, task, part).board, view)


def get_board_model(call: Calling, task: TaskName, model: ModelName, part: Parted) -> BoardModelSlices:
    """Return one row of the board with its slices on each data set."""
    return _warm(call, task, part).board.slices_of(model)


def export_board(
    call: Calling,
    task: TaskName,
    part: Parted,
    view: Viewing,
    *,
    format: ExportKind = "csv",  # noqa: A002 - the word in the address
    model: Filter = "",
) -> Response:
    """Download the ranking as CSV, JSON, LaTeX, Markdown, harness results or a model index."""
    text = export(ranked_board(_warm(call, task, part), view), format, model or None)
    suffix, kind = SUFFIXES[format]
    headers = {"content-disposition": f'attachment; filename="{task}-board.{suffix}"'}
    return Response(text, media_type=f"{kind}; charset=utf-8", headers=headers)


def get_board_settings(call: Calling, task: TaskName) -> BoardSettings:
    """Return what the owner set for the board."""
    get_task(call.db, task)
    return board_settings.board_spec(call.db, task).record()


def set_board(
    call: Calling, task: TaskName, settings: Annotated[dict[str, Any], Body()], edit: Changing
) -> BoardSettings:
    """Set the board: data sets, weights, caps, metric, the class of machine, who is shown, a freeze (its owner)."""
    return board_settings.set_board(call.db, call.actor, task, settings, edit=edit).record()


def remeasure(call: Calling, task: TaskName) -> Remeasured:
    """Queue what was measured on another class of machine than the one that ranks (the task's owner)."""
    return measuring_again.remeasure(call.db, call.blobs, call.actor, task)


def queue_runs(call: Calling, task: TaskName, dataset: DatasetName) -> QueuedRuns:
    """Queue all runs that a data set needs to be weighed, though it does not score yet (its owner)."""
    return QueuedRuns(dataset, fill_dataset(call.db, call.actor, f"{task}/{dataset}"))


def let_score(call: Calling, task: TaskName, dataset: DatasetName, change: ScoringChange) -> BoardSettings:
    """Let a data set score, or show it without scoring (its owner)."""
    return board_settings.let_score(call.db, call.actor, f"{task}/{dataset}", change.scores).record()


def list_forks(call: Calling, task: TaskName) -> Forks:
    """List the views that people keep under a name."""
    return Forks(board_keep.list_forks(call.db, task))


def save_fork(call: Calling, task: TaskName, change: ForkChange) -> Fork:
    """Keep a view under a name."""
    view = BoardView(change.weights, change.datasets, change.epsilon, change.base, change.amrs or None, change.rate)
    return board_keep.save_fork(call.db, call.blobs, call.actor, task, change.name, view)


def remove_fork(call: Calling, task: TaskName, name: Filter) -> None:
    """Remove a view: one's own or, for the owner of the task, anybody's."""
    board_keep.remove_fork(call.db, call.actor, task, name)


def list_snapshots(call: Calling, task: TaskName) -> Snapshots:
    """List the frozen copies of the board, the newest first."""
    return Snapshots(board_keep.list_snapshots(call.db, call.actor, task))


def take_snapshot(call: Calling, task: TaskName, part: Parted, view: Viewing, request: SnapshotRequest) -> Snapshot:
    """Freeze the board as everybody may see it, with the hash of every input, and sign it."""
    server = call.workspace.settings.public_url
    return board_keep.take_snapshot(
        call.db, call.blobs, call.actor, task, view, title=request.title, part=part, server=server
    )


def download_snapshot(call: Calling, task: TaskName, snapshot: SnapshotHash) -> Response:
    """Download a frozen copy; `quintain board verify` checks it."""
    info, data = board_keep.read_snapshot(call.db, call.blobs, call.actor, task, snapshot)
    headers = {"content-disposition": f'attachment; filename="{task}-board-{info.hash[:12]}.json"'}
    return Response(data, media_type="application/json", headers=headers)


def list_signing_keys(call: Calling) -> SigningKeys:
    """List the public keys that the server signs snapshots with, also those that were replaced."""
    return SigningKeys(signing.published_keys(call.db))


def _warm(call: Call, task: str, part: BoardPart) -> WarmBoard:
    return warm_board(call.db, call.blobs, call.actor, task, part)
