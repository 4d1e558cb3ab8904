"""What an owner sets for a board: which data sets score, weights, caps, the metric, who is shown, a freeze.

What scores is decided, not imported: a new data set has no weight until `let_score` or `set_board` gives it one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.editing import ANYHOW, EditOrigin, settled
from quintain.core.errors import Fault, NotFound
from quintain.core.people import Actor
from quintain.core.spec import plain, read, restore
from quintain.core.spec_changes import review
from quintain.core.task import ABILITY, VMER
from quintain.core.texts import Text
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.events import ServiceEvent, announce
from quintain.services.tasks.board_spec import BoardSpec
from quintain.services.tasks.definitions import find_row, get_task
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.tasks import board_settings
from quintain.store.tables import BoardSettings


def board_spec(db: Session, task: str, *, at: datetime | None = None) -> BoardSpec:
    """Return the settings of a task's board, or the defaults; with *at*, those that held at that moment."""
    row = board_settings.newest_settings(db, task, at)
    return restore(BoardSpec, row.settings) if row else BoardSpec()


def frozen_at(spec: BoardSpec) -> datetime | None:
    """Return the moment whose state is shown, while the board is frozen."""
    if not spec.freeze_until or not spec.freeze_from:
        return None
    return datetime.fromisoformat(spec.freeze_from) if now() < datetime.fromisoformat(spec.freeze_until) else None


def set_board(
    db: Session,
    actor: Actor,
    task: str,
    settings: Mapping[str, Any],
    *,
    file: str | None = None,
    edit: EditOrigin = ANYHOW,
) -> BoardSpec:
    """Set the board of *task*; owners may. Every fault is named, and nothing is stored unless all is good.

    Without `datasets` those score that did; with it, those that are named, by their weights. *edit*, or a
    `revision` among the settings as `record` gives it, says what they were made from.
    """
    row = find_row(db, task)
    require_owner(actor, task)
    with transaction(db):
        lock(db, f"board of task {row.id}")
        before = board_spec(db, task)
        filled = {name: value for name, value in settings.items() if value is not None and value != ""}
        edit = edit if edit.revision else replace(edit, revision=str(filled.pop("revision", "")))
        proposed = read(
            BoardSpec,
            {name: value for name, value in filled.items() if name != "revision"},
            also=lambda values: _unknown_names(db, task, values, before),
            message=Text("The board's settings cannot be used."),
        )
        if settings.get("datasets") is None:
            proposed = replace(proposed, datasets=before.datasets)
        proposed = settled(edit, before, proposed, partial(read, BoardSpec))
        # A freeze that holds keeps its moment, whatever else is set meanwhile.
        since = frozen_at(before) or now()
        frozen = since.isoformat() if proposed.freeze_until else None
        spec = replace(proposed, freeze_from=frozen)
        named = settings if settings.get("datasets") is not None else {**settings, "datasets": before.datasets}
        review(edit, plain(before, whole=True), plain(spec, whole=True), named if settings else {}, file)
        if spec.machine != before.machine:
            announce(db, ServiceEvent.BOARD_MACHINE_SET, row.id, spec.machine)
        db.add(BoardSettings(task_id=row.id, settings=asdict(spec), created_by=actor.user_id))
        audit.record(db, actor, "board.settings", task)
    return spec


def let_score(db: Session, actor: Actor, ref: str, scores: bool = True) -> BoardSpec:
    """Let the data set *ref* (`task/name`) score, at weight 1 unless it has one, or show it only; owners may.

    >>> let_score(db, owner, "sentiment/reviews").dataset_weight("reviews")  # doctest: +SKIP
    1.0
    """
    task, _, name = ref.partition("@")[0].partition("/")
    row = find_row(db, task)
    require_owner(actor, task)
    with transaction(db):
        lock(db, f"board of task {row.id}")
        _must_be_evaluated(db, task, name)
        before = board_spec(db, task)
        weight = (before.dataset_weight(name) or 1.0) if scores else 0.0
        spec = replace(before, datasets={**before.datasets, name: weight})
        if spec.datasets != before.datasets:
            db.add(BoardSettings(task_id=row.id, settings=asdict(spec), created_by=actor.user_id))
            audit.record(db, actor, "board.score", f"{task}/{name}", scores=scores)
    return spec


def _must_be_evaluated(db: Session, task: str, name: str) -> None:
    names = [known for _, known in board_settings.evaluated_versions(db, task)]
    if name not in names:
        raise NotFound(
            "Task '{task}' has no data set '{name}' that models are evaluated on.",
            task=task,
            name=name,
            known=", ".join(names) or Text("none"),
            remedy="There are: {known}. What is for training never scores.",
        )


def _unknown_names(db: Session, task: str, values: Mapping[str, Any], before: BoardSpec) -> Iterator[Fault]:
    """Look data sets and the metric up."""
    names = {name for _, name in board_settings.evaluated_versions(db, task)}
    for name in values.get("datasets", {}):
        if name not in names and name not in before.datasets:
            known = ", ".join(sorted(names)) or Text("none")
            yield Fault("is no data set of this task; there are: {known}", known=known, field=f"datasets.{name}")
    fitting = list(dict.fromkeys([*get_task(db, task).metrics, VMER, ABILITY]))
    metric = values.get("metric", fitting[0])
    if metric not in fitting:
        known = ", ".join(fitting)
        yield Fault("'{name}' is no metric of this task; it has {known}", name=metric, known=known, field="metric")
