"""A harvest as a round of its task: numbered, with its target model and its validation; nothing is written in it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.people import OPERATOR, Actor
from quintain.core.rounds import RoundKind, RoundSpec, RoundState, Targets
from quintain.data.tables import FAULT_LIMIT, row_number
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.collect.rounds.definition import dump_round
from quintain.services.collect.rounds.manage import SEED_BITS, RoundInfo, get_round
from quintain.services.collect.rounds.targets import pin_targets
from quintain.services.models.registry import ModelVersionInfo, get_model
from quintain.services.tasks.definitions import find_row, get_task
from quintain.services.validate.console.item_files import item_rows
from quintain.services.validate.console.manage import open_validation, take_rows
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.collect import rounds as queries
from quintain.store.search_index import Findable, keep_entry
from quintain.store.tables import Round, RoundVersion


def add_harvest(
    db: Session,
    actor: Actor,
    task: str,
    path: Path,
    *,
    title: str = "",
    model: str = "",
    policy_toml: str | None = None,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
) -> RoundInfo:
    """Make the sample at *path*, as `harvest` writes it, the task's next round and open its validation; or nothing.

    The target is the *model* of the workspace, or the one that the sample names, by its name or by its hash.
    """
    task_id = find_row(db, task).id
    require_owner(actor, task)
    rows = item_rows(get_task(db, task), path, columns)
    _check_predicted(rows, path)
    version = _target(db, task, rows, model)
    with transaction(db):
        lock(db, f"rounds of {task}")
        number = queries.newest_number(db, task_id) + 1
        spec = RoundSpec(task, title or f"Harvest: {path.name}"[:200], number, targets=Targets("one", (version.ref,)))
        _add_round(db, actor, task_id, spec)
        ref = f"{task}/{number}"
        open_validation(db, actor, ref, policy_toml, seed=seed)
        take_rows(db, actor, ref, [{**row, "predictions": _named(row["predictions"], version.ref)} for row in rows])
        audit.record(db, actor, "round.harvest", ref, model=version.ref, rows=len(rows))
    return get_round(db, actor, ref)


def _add_round(db: Session, actor: Actor, task_id: int, spec: RoundSpec) -> None:
    """Add a round that was over when it began: what is in it was found, and nobody writes."""
    moment = now()
    row = Round(
        task_id=task_id,
        number=spec.number,
        kind=RoundKind.HARVEST.value,
        state=RoundState.CLOSED.value,
        entry_key=secrets.token_urlsafe(18),
        seed=secrets.randbits(SEED_BITS),
        created_by=actor.user_id,
        opened_at=moment,
        closed_at=moment,
    )
    db.add(row)
    db.flush()
    db.add(RoundVersion(round_id=row.id, number=1, toml=dump_round(spec), created_by=actor.user_id))
    keep_entry(db, Findable.ROUND, row.id, task_id=task_id, title=spec.title, text=spec.instructions)
    pin_targets(db, row.id, spec)
    db.flush()


def _check_predicted(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    without = [at for at, row in enumerate(rows) if not row["predictions"]]
    faults = [
        Fault("there is no model's answer in 'model' and 'predicted'", file=path.name, row=row_number(path, at))
        for at in without[:FAULT_LIMIT]
    ]
    if faults:
        raise BadInput(faults=faults, total=len(without))


def _target(db: Session, task: str, rows: Sequence[Mapping[str, Any]], model: str) -> ModelVersionInfo:
    """Find the one model version that the sample was harvested with."""
    named = sorted({str(row["predictions"][0]["model"]) for row in rows})
    if len(named) > 1:
        raise BadInput(
            "The sample has answers of several models: {named}.",
            named=", ".join(named[:5]),
            remedy="A round has one target: make a round of each model's rows.",
        )
    hashes = {str(row["predictions"][0].get("hash") or "") for row in rows}
    for ref in (model,) if model else (named[0], *hashes):
        try:
            version = get_model(db, OPERATOR, ref).version
        except (NotFound, Conflict):
            continue
        if version.task == task:
            return version
    raise BadInput(
        "There is no model '{name}' of task '{task}' in the workspace.",
        name=model or named[0],
        task=task,
        remedy="Harvest with a model of the workspace, or name the one it is (`--model`). A validation under a name of "
        "its own takes any sample: `quintain validate open TASK/NAME --items FILE`.",
        page="Harvest with a model of the workspace, or name the one it is. A validation under a name of its own takes "
        "any sample.",
    )


def _named(predictions: Sequence[Mapping[str, Any]], ref: str) -> list[dict[str, Any]]:
    return [{**prediction, "model": ref} for prediction in predictions]
