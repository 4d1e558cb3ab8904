"""Whether a snapshot of a board is what it claims to be; needs no workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from quintain.core.errors import BadInput
from quintain.core.jsontext import parse_json
from quintain.core.records.base import decode
from quintain.core.records.board import BoardView
from quintain.core.records.figures import Figure, RunCounts
from quintain.core.task import Task
from quintain.data.signatures import digest
from quintain.services.board.parts import Axis, BoardMatrix, BoardPart, MatrixDataset, MatrixModel
from quintain.services.board.ranking import rank
from quintain.services.plain.files.signed import Check, KeySource, check_signature, key_id_of
from quintain.services.tasks.board_spec import BoardSpec

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
        """Return plain data, for JSON."""
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
        claimed_rows = {row["model"]: row for row in shape["ranking"]["models"]}
        content_hash, claimed = digest(shape), str(shape["hash"])
        provisional = bool(shape.get("provisional", False))
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, IndexError) as error:
        raise BadInput("{name} is not a snapshot of a board.", name=name, remedy="Download it again.") from error
    checks = [
        Check("hash", "passed", INTACT)
        if content_hash == claimed
        else Check("hash", "failed", "the content does not have the hash that it claims: it was changed")
    ]
    problems = [
        problem for row in recomputed["models"] for problem in _differences(row, claimed_rows.get(row["model"]))
    ]
    if len(claimed_rows) != len(recomputed["models"]):
        problems.append("the ranking names other models than the matrix")
    if provisional != recomputed["provisional"]:
        problems.append("it does not say of its order what its runs say: whether it is provisional")
    checks += [Check("ranking", "failed", problem) for problem in problems] or [
        Check("ranking", "passed", f"its figures give its ranking of {len(claimed_rows)} models")
    ]
    signature = shape.get("signature")
    checks += check_signature(content_hash, signature, sources)
    return Verified(
        hash=claimed,
        task=str(shape["board"]["task"]),
        models=len(claimed_rows),
        key_id=key_id_of(signature),
        server=str(shape.get("server") or ""),
        checks=tuple(checks),
        provisional=provisional,
    )


def compare_with_server(verified: Verified, copy: bytes | None, server: str) -> Verified:
    """Add to what was *verified* whether *server* keeps the same; *copy* is what it gave, None where it has none."""
    try:
        intact = Check("hash", "passed", INTACT) in verified.checks
        same = intact and copy is not None and digest(parse_json(copy)) == verified.hash
    except (ValueError, AttributeError, RecursionError):
        same = False
    if same:
        return verified.with_check(Check("server", "passed", f"{server} keeps the same"))
    return verified.with_check(Check("server", "failed", f"{server} keeps no snapshot like it"))


def _differences(row: Mapping[str, Any], claimed: Mapping[str, Any] | None) -> list[str]:
    if claimed is None:
        return [f"{row['model']} is missing from the ranking"]
    computed, two = row["dynascore"], claimed["dynascore"]
    same = (
        computed == two
        if computed is None or two is None
        else abs(computed - two) <= TOLERANCE * max(1.0, abs(computed))
    )
    if same and row["rank"] == claimed["rank"]:
        return []
    return [
        f"{row['model']} is ranked {claimed['rank']} with {two}, but its figures give {row['rank']} with {computed}"
    ]


def _board_of(shape: Mapping[str, Any]) -> BoardMatrix:
    """Make a board from its JSON again, as far as ranking needs it."""
    models = [
        MatrixModel(
            ref=model["ref"],
            name=model["name"],
            number=model["version"],
            hash=model["hash"],
            owner=model["owner"],
            visibility=model["visibility"],
            adapter=model["adapter"],
            predictions_only=model["predictions_only"],
            family=model["family"],
            created_at=datetime.fromisoformat(model["created_at"]),
            values=decode(dict[str, list[Figure | None]], model["values"]),
            pooled=decode(dict[str, Figure | None], model.get("pooled", {})),
            cannot=tuple(model["cannot"]),
            runs=[RunCounts(**counts) for counts in model.get("runs", ())],
            seeds=tuple(model["seeds"]),
        )
        for model in shape["models"]
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
