"""What readers keep of a board: forks (weights under a name) and snapshots (frozen copies that can be checked)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from quintain import __version__
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.hashing import content_id
from quintain.core.jsontext import parse_json
from quintain.core.people import ANONYMOUS, Actor, RoleName
from quintain.core.records.base import decode, to_plain
from quintain.core.records.board import BoardView, Fork, Snapshot
from quintain.core.texts import Text
from quintain.data import signatures
from quintain.data.signatures import digest
from quintain.services.access import audit, signing
from quintain.services.access.concealing import Conceal
from quintain.services.access.permissions import require_signed_in
from quintain.services.board.cache import ranked_board, warm_board
from quintain.services.board.parts import BoardPart
from quintain.services.board.ranking import Ranked, dataset_weights, rank
from quintain.services.board.uncertainty import known_uncertainty, plain_known
from quintain.services.board.verify import FORMAT
from quintain.services.tasks.definitions import find_row
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.board import boards as queries
from quintain.store.tables import BoardFork, BoardSnapshot


def save_fork(db: Session, blobs: Blobs, actor: Actor, task: str, name: str, view: BoardView) -> Fork:
    """Keep *view* under *name*; saying it again changes one's own, and nobody else's. The operator's are nobody's."""
    require_signed_in(actor)
    user = actor.user_id
    name = name.strip()
    if not name or len(name) > 80 or not name.isprintable():
        raise BadInput("'{name}' cannot be the name of a view.", name=name[:80], remedy="Use 1 to 80 characters.")
    rank(warm_board(db, blobs, ANONYMOUS, task).board, view)  # a view that ranks nothing is refused here
    with transaction(db):
        task_id = find_row(db, task).id
        lock(db, f"view {task}/{name}")
        fork = queries.fork(db, task_id, name)
        if fork is None:
            fork = BoardFork(task_id=task_id, name=name, user_id=user)
            db.add(fork)
        elif fork.deleted_at is None and fork.user_id != user:
            raise Conflict(
                "Somebody else keeps a view called '{name}'.",
                name=name,
                remedy="Choose another name.",
                code="name_taken",
            )
        fork.user_id, fork.view, fork.created_at, fork.deleted_at = user, to_plain(view), now(), None
        audit.record(db, actor, "board.fork", f"{task}: {name}")
    return Fork(name, None if user is None else actor.name, view, fork.created_at)


def fork_view(db: Session, task: str, name: str) -> BoardView:
    """Return the view that is kept under *name*, whoever made it; NotFound without one."""
    fork = queries.fork(db, find_row(db, task).id, name.strip())
    if fork is None or fork.deleted_at is not None:
        known = ", ".join(f"'{fork.name}'" for fork in list_forks(db, task)) or Text("none")
        raise NotFound(
            "Nobody keeps a view called '{name}' of this board.", name=name, known=known, remedy="There is: {known}."
        )
    return decode(BoardView, fork.view)


def list_forks(db: Session, task: str) -> list[Fork]:
    """List the views that are kept of a task's board."""
    return [
        Fork(fork.name, owner, decode(BoardView, fork.view), fork.created_at)
        for fork, owner in queries.forks(db, find_row(db, task).id)
    ]


def remove_fork(db: Session, actor: Actor, task: str, name: str) -> None:
    """Remove a view: one's own or, for the task's owner, anybody's."""
    require_signed_in(actor)
    with transaction(db):
        fork = queries.fork(db, find_row(db, task).id, name)
        mine = fork is not None and fork.user_id is not None and fork.user_id == actor.user_id
        if fork is None or fork.deleted_at is not None or not (mine or actor.has(RoleName.OWNER, task)):
            raise NotFound("You keep no view called '{name}'.", name=name)
        fork.deleted_at = now()
        audit.record(db, actor, "board.unfork", f"{task}: {name}")


def take_snapshot(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    task: str,
    view: BoardView | None = None,
    *,
    title: str = "",
    part: BoardPart | None,
    server: str = "",
) -> Snapshot:
    """Freeze the board as everybody may see it, and sign it: what is private to the one who asks does not get in.

    *server* is the address under which the snapshot and the key can be asked for.
    """
    require_signed_in(actor)
    if len(title) > 200 or not title.isprintable():
        raise BadInput("The title is too long.", remedy="Use up to 200 characters on one line.")
    ranked = ranked_board(warm_board(db, blobs, ANONYMOUS, task, part), view or BoardView())
    sure = known_uncertainty(db, blobs, ANONYMOUS, task, part, ranked.view)
    shape = snapshot_shape(ranked, plain_known(sure), title, server)
    signature = signing.sign(db, shape["hash"])
    key = blobs.put(signing.signed_file(shape, signature))
    with transaction(db):
        task_id = find_row(db, task).id
        lock(db, f"snapshots of {task}")
        stored = queries.snapshot(db, task_id, shape["hash"])
        if stored is None:
            stored = BoardSnapshot(
                task_id=task_id,
                hash=shape["hash"],
                title=title,
                blob=key,
                key_id=signature["key_id"],
                created_by=actor.user_id,
                created_at=now(),
            )
            db.add(stored)
            audit.record(db, actor, "board.snapshot", task, hash=shape["hash"], key=signature["key_id"])
    return Snapshot(stored.hash, stored.title, stored.created_at, stored.key_id)


def list_snapshots(db: Session, actor: Actor, task: str) -> list[Snapshot]:
    """List the snapshots of a task's board, newest first; titles without the models that *actor* may not see."""
    rows, conceal = queries.snapshots(db, find_row(db, task).id), Conceal(db, actor, task)
    return [Snapshot(row.hash, conceal.title(row.title), row.created_at, row.key_id) for row in rows]


def read_snapshot(db: Session, blobs: Blobs, actor: Actor, task: str, prefix: str) -> tuple[Snapshot, bytes]:
    """Return the snapshot whose hash begins with *prefix*, and its file.

    It is signed, so nothing can be left out: whoever may not see now what it names is refused all of it.
    """
    stored = queries.snapshot(db, find_row(db, task).id, prefix) if len(prefix) >= 6 else None
    if stored is None:
        raise NotFound(
            "There is no snapshot '{prefix}'.", prefix=prefix, remedy="Give at least six characters of its hash."
        )
    data = blobs.path(stored.blob).read_bytes()
    _require_seen(db, actor, task, data)
    return Snapshot(stored.hash, stored.title, stored.created_at, stored.key_id), data


def _require_seen(db: Session, actor: Actor, task: str, data: bytes) -> None:
    """Refuse a snapshot that names models, or builders, that *actor* may not see any more."""
    conceal = Conceal(db, actor, task)
    if not conceal.hides_something:
        return
    shape = parse_json(data)
    rows = shape["board"]["models"]
    unnamed = any(row["owner"] is not None and conceal.hides_builder(row["name"]) for row in rows)
    if unnamed or conceal(shape) != shape:
        raise Forbidden(
            "This snapshot names a model that is not public any more, and what is signed cannot be changed.",
            remedy="Ask the owner of the task for it, or take a new one.",
            code="not_public",
        )


def snapshot_shape(ranked: Ranked, sure: Mapping[str, Any], title: str = "", server: str = "") -> dict[str, Any]:
    """Return the content of a snapshot: the matrix, the view in full, the ranking, and the hash of every input."""
    matrix, ranking = ranked.board, ranked.ranking
    weights = dataset_weights(matrix, ranked.view)
    named = {one.name: weight for one, weight in zip(matrix.datasets, weights, strict=True)}
    view = BoardView(
        weights=dict(ranking.weights),
        datasets=named if any(weights) else None,
        epsilon=ranking.epsilon,
        base=ranking.base,
        amrs=ranked.view.amrs,
        rate=ranking.rate,
    )
    shape: dict[str, Any] = {
        "format": FORMAT,
        "quintain": __version__,
        "title": title,
        "server": server,
        "provisional": ranked.runs.waiting > 0,
        "board": to_plain(matrix.record()),
        "view": to_plain(view),
        "ranking": ranked.as_dict(),
        "uncertainty": dict(sure),
        "inputs": {
            "datasets": {dataset.ref: dataset.hash for dataset in matrix.datasets},
            "rounds": {one.ref: content_id(to_plain(one.record())) for one in matrix.rounds},
            "models": {model.ref: list(model.hashes) for model in matrix.models},
            # Equal models answer equally: the files of an anonymous one would tell which public one it is.
            "predictions": {
                model.ref: {one.ref: list(keys) for one, keys in zip(matrix.datasets, model.predictions, strict=True)}
                for model in matrix.models
                if model.visibility != "anonymous"
            },
        },
    }
    return {**shape, "hash": digest(shape)}


def sign_kept(db: Session, blobs: Blobs) -> int:
    """Sign the snapshots from before there were keys, and give their number.

    Those that hold the bare hash of a data set with hidden answers get the salted one in its place, and with it a hash
    of their own: from the old ones the answers of a small set could be computed.
    """
    renewed = 0
    hidden = queries.hidden_hashes(db)
    for snapshot in queries.unsigned_snapshots(db):
        shape = json.loads(blobs.path(snapshot.blob).read_bytes())
        for dataset in shape["board"]["datasets"]:
            dataset["hash"] = hidden.get(dataset["ref"], dataset["hash"])
        names = shape["inputs"]["datasets"]
        shape["inputs"]["datasets"] = {ref: hidden.get(ref, name) for ref, name in names.items()}
        shape["hash"] = signatures.digest(shape)
        signature = signing.sign(db, shape["hash"])
        blob = blobs.put(signing.signed_file(shape, signature))
        with transaction(db):
            snapshot.hash, snapshot.blob, snapshot.key_id = shape["hash"], blob, signature["key_id"]
        renewed += 1
    return renewed
