"""Training a baseline on data sets of the workspace."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.people import Actor, RoleName
from quintain.models.contract import BASELINES, Progress
from quintain.services.access.permissions import require_role
from quintain.services.models.ask import BUILTIN
from quintain.services.models.registry import ModelVersionInfo, register_version
from quintain.services.models.training_data import dev_table, training_table
from quintain.services.plain.files.training import ExampleSource, card_of, train_tables
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs


def train(  # noqa: PLR0913 - what is trained on what, each by its own name
    db: Session,
    blobs: Blobs,
    actor: Actor,
    task: str,
    baseline: str,
    data_refs: Sequence[str],
    *,
    name: str | None = None,
    dev_refs: Sequence[str] = (),
    seed: int = 0,
    force: bool = False,
    progress: Progress | None = None,
) -> ModelVersionInfo:
    """Train *baseline* on data set versions of *task* and register it as the model *name* (or the baseline's).

    What may not be trained on is refused (see `training_data`); *force* takes what is for evaluation only, too. A
    training that makes a version once more that is there already is refused, too.
    """
    require_role(actor, RoleName.BUILDER, RoleName.OWNER, task=task)
    definition = get_task(db, task)
    BASELINES.get(baseline).refuse_unsuited(definition)
    training = [training_table(db, blobs, actor, task, ref, force=force) for ref in data_refs]
    data = [_source(version.ref, version.hash, _decided(version.meta, table)) for version, table, _ in training]
    tables = (dev_table(db, blobs, actor, task, ref) for ref in dev_refs)
    dev = [_source(version.ref, version.hash, table) for version, table in tables]
    db.commit()  # training may take minutes, and must not keep a reading transaction open
    trained = train_tables(definition, baseline, data, dev=dev, seed=seed, progress=progress)
    trained = replace(trained, notes=tuple(note for _, _, notes in training for note in notes))
    added: list[Session] = []
    with tempfile.TemporaryDirectory(prefix="quintain-train-") as folder:
        trained.model.save(Path(folder))
        version = register_version(
            db,
            blobs,
            actor,
            task,
            name or baseline,
            adapter=BUILTIN,
            folder=Path(folder),
            card=card_of(trained),
            meta=trained.meta,
            guard=added.append,  # called for a new version only
        )
    if not added:
        raise nothing_learned([version.ref])
    return version


def nothing_learned(refs: Sequence[str]) -> Conflict:
    """Make the refusal of a training that made nothing but what is there already."""
    return Conflict(
        "Nothing new was learned: the same training has made {refs} before, to the last digit.",
        refs=", ".join(refs),
        remedy="Name other data, another seed or another recipe; or go on with the version that is there.",
    )


def _source(name: str, content: str, table: pl.DataFrame) -> tuple[ExampleSource, pl.DataFrame]:
    return ExampleSource(name, table.height, content), table


def _decided(meta: Mapping[str, Any], table: pl.DataFrame) -> pl.DataFrame:
    """Leave out what people could not agree on, which a release keeps as well."""
    return table.drop_nulls("answer") if "validation" in meta else table
