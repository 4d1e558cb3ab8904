"""What readers keep of a board: forks (weights under a name) and snapshots (frozen copies that can be checked)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from quintain import __version__
from quintain.core.errors import BadInput, Conflict, NotFound
from quintain.core.hashing import content_id
from quintain.core.jsontext import parse_json
from quintain.core.people import ANONYMOUS, Actor, RoleName
from quintain.core.records.base import decode, to_plain
from quintain.core.records.board import BoardView, Fork, Snapshot
from quintain.core.records.figures import Figure, RunCounts
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.data.signatures import digest
from quintain.services.access import audit, signing
from quintain.services.access.permissions import require_signed_in
from quintain.services.access.signing import Check, KeySource
from quintain.services.board.cache import ranked_board, warm_board
from quintain.services.board.parts import Axis, BoardMatrix, BoardPart, MatrixDataset, MatrixModel
from quintain.services.board.ranking import Ranked, dataset_weights, rank
from quintain.services.board.uncertainty import known_uncertainty, plain_known
from quintain.services.tasks.board_settings import BoardSpec
from quintain.services.tasks.definitions import find_row
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.board import boards as queries
from quintain.store.tables import BoardFork, BoardSnapshot

FORMAT = "quintain-board/2"
FORMATS = ("quintain-board/1", FORMAT)  # the first one was not signed
TOLERANCE = 1e-9
INTACT = "its content has the hash that it claims"


@dataclass(frozen=True, slots=True)
class Verified:
    """What checking a snapshot found: its hash, what it says it is by, and every check with how it ended.

    *provisional* says that runs were still to come when it was taken.
    """

    hash: str
    task: str
    models: int
    key_id: str | None
    server: str
    checks: tuple[Check, ...]
    provisional: bool = False

    @property
    def problems(self) -> tuple[str, ...]:
        """What does not fit."""
        return tuple(check.text for check in self.checks if check.state == "failed")

    @property
    def origin(self) -> bool:
        """Whether it is proven who made it, and not only that it fits together."""
        known = {check.what for check in self.checks if check.state == "passed"}
        return not self.problems and ("key" in known or "server" in known)

    def with_check(self, check: Check) -> Verified:
        """Add how another check ended."""
        return replace(self, checks=(*self.checks, check))

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        return {
            "hash": self.hash,
            "task": self.task,
            "models": self.models,
            "key_id": self.key_id,
            "server": self.server,
            "provisional": self.provisional,
            "verified": not self.problems,
            "origin": self.origin,
            "checks": [check.as_dict() for check in self.checks],
            "problems": list(self.problems),
        }


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
        kept = queries.fork(db, task_id, name)
        if kept is None:
            kept = BoardFork(task_id=task_id, name=name, user_id=user)
            db.add(kept)
        elif kept.deleted_at is None and kept.user_id != user:
            raise Conflict(
                "Somebody else keeps a view called '{name}'.",
                name=name,
                remedy="Choose another name.",
                code="name_taken",
            )
        kept.user_id, kept.view, kept.created_at, kept.deleted_at = user, to_plain(view), now(), None
        audit.record(db, actor, "board.fork", f"{task}: {name}")
    return Fork(name, None if user is None else actor.name, view, kept.created_at)


def fork_view(db: Session, task: str, name: str) -> BoardView:
    """Give the view that is kept under *name*."""
    kept = queries.fork(db, find_row(db, task).id, name.strip())
    if kept is None or kept.deleted_at is not None:
        known = ", ".join(f"'{one.name}'" for one in list_forks(db, task)) or Text("none")
        raise NotFound(
            "Nobody keeps a view called '{name}' of this board.", name=name, known=known, remedy="There is: {known}."
        )
    return decode(BoardView, kept.view)


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
        kept = queries.fork(db, find_row(db, task).id, name)
        mine = kept is not None and kept.user_id is not None and kept.user_id == actor.user_id
        if kept is None or kept.deleted_at is not None or not (mine or actor.has(RoleName.OWNER, task)):
            raise NotFound("You keep no view called '{name}'.", name=name)
        kept.deleted_at = now()
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
        kept = queries.snapshot(db, task_id, shape["hash"])
        if kept is None:
            kept = BoardSnapshot(
                task_id=task_id,
                hash=shape["hash"],
                title=title,
                blob=key,
                key_id=signature["key_id"],
                created_by=actor.user_id,
                created_at=now(),
            )
            db.add(kept)
            audit.record(db, actor, "board.snapshot", task, hash=shape["hash"], key=signature["key_id"])
    return Snapshot(kept.hash, kept.title, kept.created_at, kept.key_id)


def list_snapshots(db: Session, task: str) -> list[Snapshot]:
    """List the snapshots of a task's board, newest first."""
    found = queries.snapshots(db, find_row(db, task).id)
    return [Snapshot(one.hash, one.title, one.created_at, one.key_id) for one in found]


def read_snapshot(db: Session, blobs: Blobs, task: str, prefix: str) -> tuple[Snapshot, bytes]:
    """Give the snapshot whose hash begins with *prefix*, and its file."""
    found = queries.snapshot(db, find_row(db, task).id, prefix) if len(prefix) >= 6 else None
    if found is None:
        raise NotFound(
            "There is no snapshot '{prefix}'.", prefix=prefix, remedy="Give at least six characters of its hash."
        )
    return Snapshot(found.hash, found.title, found.created_at, found.key_id), blobs.path(found.blob).read_bytes()


def snapshot_shape(ranked: Ranked, sure: Mapping[str, Any], title: str = "", server: str = "") -> dict[str, Any]:
    """Give the content of a snapshot: the matrix, the view in full, the ranking, and the hash of every input."""
    made, ranking = ranked.board, ranked.ranking
    weights = dataset_weights(made, ranked.view)
    named = {one.name: weight for one, weight in zip(made.datasets, weights, strict=True)}
    view = BoardView(
        weights=dict(ranking.weights),
        datasets=named if any(weights) else None,
        epsilon=ranking.epsilon,
        base=ranking.base,
        amrs=ranked.view.amrs,
    )
    shape: dict[str, Any] = {
        "format": FORMAT,
        "quintain": __version__,
        "title": title,
        "server": server,
        "provisional": ranked.runs.waiting > 0,
        "board": to_plain(made.record()),
        "view": to_plain(view),
        "ranking": ranked.as_dict(),
        "uncertainty": dict(sure),
        "inputs": {
            "datasets": {one.ref: one.hash for one in made.datasets},
            "rounds": {one.ref: content_id(to_plain(one.record())) for one in made.rounds},
            "models": {one.ref: list(one.hashes) for one in made.models},
            "predictions": {
                model.ref: {one.ref: list(keys) for one, keys in zip(made.datasets, model.predictions, strict=True)}
                for model in made.models
            },
        },
    }
    return {**shape, "hash": digest(shape)}


def verify_snapshot(data: bytes, name: str = "the file", *, sources: Sequence[KeySource] = ()) -> Verified:
    """Check a snapshot without any workspace: its hash, that its matrix gives its ranking, and its signature.

    *sources* are the keys that are believed. Without them a signature proves only that who wrote the file had a key.
    """
    try:
        shape = parse_json(data)
        if shape["format"] not in FORMATS:
            raise BadInput(
                "{name} is of format '{format}'.",
                name=name,
                format=shape["format"],
                ours=FORMAT,
                remedy="This version reads {ours}.",
            )
        recomputed = rank(_board_of(shape["board"]), decode(BoardView, shape["view"])).as_dict()
        said = {row["model"]: row for row in shape["ranking"]["models"]}
        found, claimed = digest(shape), str(shape["hash"])
        provisional = bool(shape.get("provisional", False))
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, IndexError) as error:
        raise BadInput("{name} is not a snapshot of a board.", name=name, remedy="Download it again.") from error
    checks = [
        Check("hash", "passed", INTACT)
        if found == claimed
        else Check("hash", "failed", "the content does not have the hash that it claims: it was changed")
    ]
    problems = [problem for row in recomputed["models"] for problem in _differences(row, said.get(row["model"]))]
    if len(said) != len(recomputed["models"]):
        problems.append("the ranking names other models than the matrix")
    if provisional != recomputed["provisional"]:
        problems.append("it does not say of its order what its runs say: whether it is provisional")
    checks += [Check("ranking", "failed", problem) for problem in problems] or [
        Check("ranking", "passed", f"its figures give its ranking of {len(said)} models")
    ]
    signature = shape.get("signature")
    checks += signing.check_signature(found, signature, sources)
    return Verified(
        hash=claimed,
        task=str(shape["board"]["task"]),
        models=len(said),
        key_id=signing.key_id_of(signature),
        server=str(shape.get("server") or ""),
        checks=tuple(checks),
        provisional=provisional,
    )


def compare_with_server(found: Verified, copy: bytes | None, server: str) -> Verified:
    """Add to what was *found* whether *server* keeps the same; *copy* is what it gave, None where it has none."""
    try:
        intact = Check("hash", "passed", INTACT) in found.checks
        same = intact and copy is not None and digest(parse_json(copy)) == found.hash
    except (ValueError, AttributeError, RecursionError):
        same = False
    if same:
        return found.with_check(Check("server", "passed", f"{server} keeps the same"))
    return found.with_check(Check("server", "failed", f"{server} keeps no snapshot like it"))


def _differences(row: Mapping[str, Any], said: Mapping[str, Any] | None) -> list[str]:
    if said is None:
        return [f"{row['model']} is missing from the ranking"]
    one, two = row["dynascore"], said["dynascore"]
    same = one == two if one is None or two is None else abs(one - two) <= TOLERANCE * max(1.0, abs(one))
    if same and row["rank"] == said["rank"]:
        return []
    return [f"{row['model']} is ranked {said['rank']} with {two}, but its figures give {row['rank']} with {one}"]


def _board_of(shape: Mapping[str, Any]) -> BoardMatrix:
    """Make a board from its JSON again, as far as ranking needs it."""
    models = [
        MatrixModel(
            ref=one["ref"],
            name=one["name"],
            number=one["version"],
            hash=one["hash"],
            owner=one["owner"],
            visibility=one["visibility"],
            adapter=one["adapter"],
            predictions_only=one["predictions_only"],
            family=one["family"],
            created_at=datetime.fromisoformat(one["created_at"]),
            values=decode(dict[str, list[Figure | None]], one["values"]),
            pooled=decode(dict[str, Figure | None], one.get("pooled", {})),
            cannot=tuple(one["cannot"]),
            runs=[RunCounts(**counts) for counts in one.get("runs", ())],
            seeds=tuple(one["seeds"]),
        )
        for one in shape["models"]
    ]
    return BoardMatrix(
        task=Task(name=shape["task"], kind="", title={}),
        metric=shape["metric"],
        axes=tuple(Axis(**axis) for axis in shape["axes"]),
        datasets=tuple(MatrixDataset(**{**dataset, "warnings": ()}) for dataset in shape["datasets"]),
        rounds=(),
        models=tuple(models),
        spec=BoardSpec(),
        part=BoardPart(tag=shape["tag"], language=shape["language"]),
        tags=tuple(shape["tags"]),
        languages=tuple(shape["languages"]),
        frozen_at=None,
        made_at=datetime.fromisoformat(shape["made_at"]),
    )
