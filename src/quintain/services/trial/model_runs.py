"""Models on the final items of a trial: asked by its owner, run by the platform, in a sandbox that holds no label.

Once the pool is judged its items become a version of the hidden data set `trial-NAME-items`, which says nothing of the
arms and does not score. Each model that is asked for gets a cell on it, and the report reads what the finished ones
said. A version is used as long as it has every item that was judged; what came later makes the next one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl
from sqlalchemy.orm import Session

from quintain.adapters.contract import ADAPTERS
from quintain.core.cells import PLAIN, CellState
from quintain.core.errors import BadInput, Conflict
from quintain.core.example import Role
from quintain.core.people import Actor
from quintain.core.records.trial import ModelRun, TrialModels
from quintain.core.texts import Text
from quintain.core.validation import ValidationState
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.data.datasets import Facts, keep_made
from quintain.services.evaluate.cells.lifecycle import ASKED, retry
from quintain.services.models.registry import ModelVersionInfo, get_model, list_models
from quintain.services.tasks.definitions import find_row
from quintain.services.trial.judged_items import find_pool
from quintain.services.trial.trials import find_trial
from quintain.services.validate.labels import meets_aim
from quintain.services.validate.quality.final_labels import final_labels
from quintain.services.validate.types import ValidationInfo
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.data.datasets import versions_of
from quintain.store.queries.evaluate import cells
from quintain.store.queries.trial import pool as queries
from quintain.store.tables import CrowdTrial, DatasetVersion
from quintain.tasks.contract import kind_of

NEWEST = "newest_item"  # of the pool, when a version was made of it


def items_name(trial: str) -> str:
    """Name the data set that a trial's items become."""
    return f"trial-{trial}-items"


def run_models(
    db: Session, blobs: Blobs, actor: Actor, task: str, name: str, models: Sequence[str] = ()
) -> TrialModels:
    """Have models run on the final items of a trial: those named, else the newest version of each that can be run.

    Whoever asks again adds models, and has those tried again that failed.
    """
    require_owner(actor, task)
    trial = find_trial(db, task, name)
    pool = _judged_pool(db, task, trial)
    chosen = _named(db, actor, task, models) if models else _every(db, actor, task)
    version_id, rows = _version(db, blobs, actor, trial, pool)
    with transaction(db):
        keys = {"dataset_version_id": version_id, "variant": PLAIN, "total": rows}
        cells.add(db, [{"model_version_id": one.id, **keys} for one in chosen])
        audit.record(db, actor, "trial.models", f"{task}/{name}", models=[one.ref for one in chosen], items=rows)
    asked = {f"{one.model}@{one.number}" for one in chosen}
    for run in queries.runs(db, version_id, PLAIN):
        if run.model in asked and run.state in {CellState.FAILED, CellState.CANCELLED}:
            retry(db, actor, run.cell)
    return _models(db, task, trial)


def get_models(db: Session, actor: Actor, task: str, name: str) -> TrialModels:
    """Return which models are run on a trial's items, and how far each is (owners)."""
    require_owner(actor, task)
    return _models(db, task, find_trial(db, task, name))


def _models(db: Session, task: str, trial: CrowdTrial) -> TrialModels:
    pool = find_pool(db, task, trial.name)
    if pool is None:
        return TrialModels(None, 0, 0, 0, [])
    waiting = queries.count_waiting(db, pool.id) if pool.state is not ValidationState.CLOSED else 0
    items = queries.count_items(db, pool.id)
    versions = _versions_made(db, task, trial.name)
    if not versions:
        return TrialModels(None, items, waiting, 0, [])
    newest = versions[0]
    later = queries.count_items(db, pool.id, after=int(newest.meta.get(NEWEST, 0)))
    runs = [ModelRun(run.model, run.cell, run.state, run.done, run.total) for run in queries.runs(db, newest.id, PLAIN)]
    return TrialModels(f"{task}/{items_name(trial.name)}@{newest.number}", items, waiting, later, runs)


def _versions_made(db: Session, task: str, trial: str) -> list[DatasetVersion]:
    """List the versions that were made of a trial's items, the newest first; not one of that name from elsewhere."""
    return [
        version
        for version in versions_of(db, task, items_name(trial))
        if version.meta.get("trial") == f"{task}/{trial}"
    ]


def was_asked(db: Session, task: str, trial: str) -> bool:
    """Whether models have ever been run on a trial's items."""
    return bool(_versions_made(db, task, trial))


def states_of_runs(db: Session, task: str, trial: str) -> str:
    """Name the runs on a trial's items and their states: where these are the same, the report has the same models."""
    versions = _versions_made(db, task, trial)
    runs = [run for version in versions for run in queries.runs(db, version.id, PLAIN)]
    return " ".join([*(str(version.id) for version in versions), *(f"{run.cell}:{run.state}" for run in runs)])


def covering(db: Session, blobs: Blobs, task: str, trial: str, hashes: Collection[str]) -> DatasetVersion | None:
    """Return the newest version that has all of these items; None without one."""
    for version in _versions_made(db, task, trial):
        if len(hashes) <= version.rows and {*hashes} <= {*_ids(blobs, version.blob)}:
            return version
    return None


def _ids(blobs: Blobs, blob: str) -> list[str]:
    ids: list[str] = pl.scan_parquet(blobs.path(blob), glob=False).select("id").collect()["id"].to_list()
    return ids


def _judged_pool(db: Session, task: str, trial: CrowdTrial) -> ValidationInfo:
    """Return the pool; refuse where models cannot be run on it yet."""
    pool = find_pool(db, task, trial.name)
    if pool is None or not queries.count_items(db, pool.id):
        raise Conflict(
            "Nothing of trial {task}/{name} is in a pool to be judged.",
            task=task,
            name=trial.name,
            remedy="Let the final items be judged first: `quintain trial judge {task}/{name}`.",
            page="Let the final items be judged first.",
        )
    waiting = queries.count_waiting(db, pool.id)
    if waiting and pool.state is not ValidationState.CLOSED:
        raise Conflict(
            Text.plural(
                "{n} item of {ref} still waits for judgements.",
                "{n} items of {ref} still wait for judgements.",
                n=waiting,
                ref=pool.ref,
            ),
            remedy="Let it be judged, or close the validation: what nobody has judged is then left out.",
            code="not_judged",
        )
    return pool


def _every(db: Session, actor: Actor, task: str) -> list[ModelVersionInfo]:
    """Return the newest version of each model of the task that can be run here."""
    live = {version.id for version in cells.live_model_versions(db, find_row(db, task).id)}
    chosen = []
    for model in list_models(db, actor, task):
        fit = [
            version
            for version in model.versions
            if version.id in live and ADAPTERS.get(version.adapter).place != "file"
        ]
        chosen += [max(fit, key=lambda version: version.number)] if fit else []
    if not chosen:
        raise BadInput("Task {task} has no model that could be run.", task=task, remedy="Add or train one first.")
    return chosen


def _named(db: Session, actor: Actor, task: str, models: Sequence[str]) -> list[ModelVersionInfo]:
    live = {version.id for version in cells.live_model_versions(db, find_row(db, task).id)}
    versions = {}
    for ref in models:
        version = get_model(db, actor, ref if "/" in ref else f"{task}/{ref}").version
        if version.task != task:
            raise BadInput("{ref} is no model of task {task}.", ref=version.ref, task=task)
        if version.id not in live or ADAPTERS.get(version.adapter).place == "file":
            raise BadInput(
                "{ref} cannot be run here.",
                ref=version.ref,
                remedy="It was withdrawn, has not passed its trial, or is a file of predictions.",
            )
        versions[version.id] = version
    return [*versions.values()]


def _version(db: Session, blobs: Blobs, actor: Actor, trial: CrowdTrial, pool: ValidationInfo) -> tuple[int, int]:
    """Return the data set version of the items that were judged, which is made where there is none yet."""
    task = pool.task
    final = final_labels(db, pool)
    label_index, names = final.by_item(), final.names()
    every = queries.items(db, pool.id)
    judged = [one for one in every if one.id in label_index]
    if not judged:
        raise Conflict("Nothing of {ref} was judged.", ref=pool.ref, remedy="Collect judgements first.")
    existing = covering(db, blobs, task.name, trial.name, [one.hash for one in judged])
    if existing is not None:
        return existing.id, existing.rows
    inputs = [field.name for field in kind_of(task).fields(task)]
    rows = [
        {
            **{name: one.inputs.get(name) for name in inputs},
            "answer": _gold(pool, one, names[label_index[one.id]]),
        }
        for one in sorted(judged, key=lambda item: item.hash)  # by a hash of the text, which says nothing of the arm
    ]
    facts = Facts(
        Role.TEST,
        hidden=True,
        language=task.languages[0],
        description=f"The judged items of the trial {task.name}/{trial.name}.",
        meta={
            "trial": f"{task.name}/{trial.name}",
            "variants": PLAIN,
            "models": ASKED,
            NEWEST: max(one.id for one in every),
        },
    )
    frame = pl.DataFrame(rows, schema=kind_of(task).schema(task))
    created = keep_made(db, blobs, actor, task.name, frame, name=items_name(trial.name), facts=facts)
    return created.id, created.rows


def _gold(pool: ValidationInfo, item: queries.PoolItem, label: str | None) -> object:
    """Return the answer that judges came to: the writer's, another label, or none where they agreed on no answer."""
    task = pool.task
    if label is None:
        return None
    if meets_aim(task, label, item.aim):
        return kind_of(task).answers.stored(item.answer)
    return label if label in task.label_names else None
