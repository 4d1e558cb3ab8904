"""When breaking is over: the pairs become a data set, without labels for anybody but the organisers, and models run."""

from __future__ import annotations

from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.cells import PLAIN
from quintain.core.contests import Phase
from quintain.core.example import Role
from quintain.core.people import OPERATOR
from quintain.core.task import Task
from quintain.engine.loops import Each, straight
from quintain.services.access import audit
from quintain.services.contest.contests import ContestInfo, find_contest
from quintain.services.contest.grading import as_cell
from quintain.services.contest.notices import notify_organisers
from quintain.services.contest.pair_outcomes import has_judges
from quintain.services.contest.undecided import pairs_name, results_wait
from quintain.services.data.datasets import Facts, VersionInfo, get_version, keep_made
from quintain.services.tasks.definitions import get_task
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.contest import contests as queries
from quintain.store.queries.contest import pairs as pair_queries
from quintain.store.queries.evaluate.cells import add as add_cells
from quintain.store.tables import ContestDispute, ContestPair, ContestRow
from quintain.tasks.contract import kind_of


def dispute_starter_labels(db: Session, info: ContestInfo) -> int:
    """Write down that the pairs whose teams dispute a starter label are contested; give how many.

    It is no team's contest of another's pair, so it is by no team: the pair says what its own claims.
    """
    task = get_task(db, info.task)
    claimed = pair_queries.claiming(db, info.id)
    db.add_all(ContestDispute(pair_id=row.id, user_id=row.author_id, reason=_reason(task, row)) for row in claimed)
    pair_queries.bump(db, info.id, len(claimed))
    return len(claimed)


def _reason(task: Task, row: ContestPair) -> str:
    known, claimed = as_cell(task, row.original_gold), as_cell(task, row.claimed_gold)
    return f"The starter set says '{known}' of the original; its breakers say '{claimed}'."


BREAKING = (Phase.COMING, Phase.BUILD, Phase.BREAK)


def freeze(db: Session, blobs: Blobs, ref: str) -> ContestInfo:
    """Make the pairs a data set version once breaking is over, and queue the models' runs; safe to call again."""
    info = find_contest(db, ref)
    if info.phase is Phase.OVER and info.frozen:
        _open_labels(db, info)
    if info.frozen or info.phase in BREAKING:
        return info
    version = _keep_pairs(db, blobs, info)
    with transaction(db):
        lock(db, f"contest {info.ref}")
        row = db.get_one(ContestRow, info.id)
        if row.frozen_at is None:
            row.pairs_version_id = version.id if version else None
            row.frozen_at = now()
            disputed = dispute_starter_labels(db, info)
            if disputed and not has_judges(info.spec):
                notify_organisers(db, info)
            audit.record(
                db, OPERATOR, "contest.freeze", info.ref, rows=version.rows if version else 0, disputed=disputed
            )
            db.flush()
        queue_runs(db, find_contest(db, ref))
    return find_contest(db, ref)


def freeze_due(db: Session, blobs: Blobs, each: Each = straight) -> int:
    """Freeze every contest whose time has come, and count them; *each* says what becomes of one that fails."""
    frozen: list[str] = []

    def freeze_one(ref: str) -> None:
        if freeze(db, blobs, ref).frozen:
            frozen.append(ref)

    each(queries.unfrozen_refs(db), freeze_one, undo=db.rollback)
    number = len(frozen)
    each(queries.refs_with_hidden_pairs(db), freeze_one, name=lambda ref: f"labels of {ref}", undo=db.rollback)
    return number


def _open_labels(db: Session, info: ContestInfo) -> None:
    """Let the set of pairs be open once the contest is over: from then on its results show every label.

    Where pairs wait for the organisers, and the results with them, they are told.
    """
    if info.pairs_version_id is None or not get_version(db, OPERATOR, f"{info.task}/{pairs_name(info)}").hidden:
        return
    if results_wait(db, info):
        with transaction(db):
            notify_organisers(db, info)
    else:
        with transaction(db):
            if queries.open_labels(db, info.pairs_version_id):
                audit.record(db, OPERATOR, "contest.open-labels", info.ref)


def queue_runs(db: Session, info: ContestInfo) -> None:
    """Queue the runs of the contest's models on the development set and, once there is one, on the set of pairs."""
    models = [system.model_version_id for system in queries.systems(db, info.id) if system.model_version_id is not None]
    versions = [(version.id, version.rows) for version in parts_of(db, info).values()]
    add_cells(
        db,
        [
            {"model_version_id": model, "dataset_version_id": version, "variant": PLAIN, "total": rows}
            for model in models
            for version, rows in versions
        ],
    )


def parts_of(db: Session, info: ContestInfo) -> dict[str, VersionInfo]:
    """Return the data set versions that systems answer: `dev` and, once it is made, `pairs`."""
    parts = {"dev": get_version(db, OPERATOR, info.spec.dev)}
    if info.pairs_version_id is not None:
        parts["pairs"] = get_version(db, OPERATOR, f"{info.task}/{pairs_name(info)}")
    return parts


def _keep_pairs(db: Session, blobs: Blobs, info: ContestInfo) -> VersionInfo | None:
    task = get_task(db, info.task)
    rows: dict[str, dict[str, Any]] = {}
    for row, _ in pair_queries.of_contest(db, info.id):
        rows.setdefault(row.original_hash, {**row.original, "answer": row.original_gold})
        rows.setdefault(row.modified_hash, {**row.modified, "answer": row.modified_gold})
    if not rows:
        return None
    # In the order of their hashes: neighbours in the table are no pairs.
    frame = pl.DataFrame([rows[key] for key in sorted(rows)], schema=kind_of(task).schema(task))
    facts = Facts(
        Role.CONTRAST,
        hidden=True,
        language=task.language,
        description=f"The minimal pairs of the contest {info.ref}.",
        meta={"contest": info.ref, "variants": PLAIN},
    )
    return keep_made(db, blobs, OPERATOR, info.task, frame, name=pairs_name(info), facts=facts)
