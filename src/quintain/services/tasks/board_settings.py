"""What an owner sets for a board: which data sets score, weights, caps, the metric, who is shown, a freeze.

What scores is decided, not imported: a new data set has no weight until `let_score` or `set_board` gives it one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault, NotFound
from quintain.core.people import Actor
from quintain.core.records import board as records
from quintain.core.records.base import decode, plain
from quintain.core.spec import option, read, restore, specification
from quintain.core.spec_kinds import Kind
from quintain.core.task import ABILITY, VMER
from quintain.core.texts import Text
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.tasks.definitions import find_row, get_task
from quintain.services.tasks.machines import is_class_name
from quintain.stats.utility import default_weights
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.board import boards as queries
from quintain.store.queries.evaluate import cells as cell_queries
from quintain.store.tables import BoardSettings

AXES = ("performance", "throughput", "memory", "fairness", "robustness")
CAPPED = ("memory",)


def _is_moment(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


WEIGHT = kinds.number(0)
NAMES = Kind(
    lambda value: isinstance(value, list | tuple) and all(isinstance(one, str) for one in value),
    Text("a list of names"),
    kept=tuple,
)
MACHINE = Kind(
    lambda value: isinstance(value, str) and is_class_name(value.strip()),
    Text("the name of a class of machines, of 1 to 120 characters"),
    kept=str.strip,
)
FREEZE = Kind(_is_moment, Text("a date with its time zone, such as 2026-12-31T12:00+00:00"))


@specification
class BoardSpec:
    """An owner's settings. A data set that is not in *datasets* does not score; empty *models* show all."""

    datasets: Mapping[str, float] = option(
        kinds.each(WEIGHT), default={}, help="which data sets score, and by how much; without it those that did"
    )
    weights: Mapping[str, float] = option(
        kinds.each(WEIGHT, AXES), default={}, help="weights of the axes; half on performance by default"
    )
    caps: Mapping[str, float] = option(
        kinds.each(WEIGHT, CAPPED), default={}, help="what a model may use at most, in GiB"
    )
    metric: str | None = option(
        kinds.text(200), default=None, help="the canonical metric, `vmer` or `ability`; that of the task by default"
    )
    models: tuple[str, ...] = option(NAMES, default=(), help="the models that are shown; all by default")
    hidden_models: tuple[str, ...] = option(NAMES, default=(), help="models that are not shown")
    epsilon: float | None = option(WEIGHT, default=None, help="ε, in units of the metric")
    human: float | None = option(kinds.fraction(), default=None, help="what people reach")
    freeze_until: str | None = option(FREEZE, default=None, help="until then everybody sees what is known now")
    freeze_from: str | None = None
    machine: str | None = option(
        MACHINE, default=None, help="the class of machines whose measurements rank, and on which new ones are made"
    )

    def check(self) -> Iterator[Fault]:
        """See that something counts."""
        if self.weights and not any(self.weights.values()):
            yield Fault("are all 0; one axis must count", field="weights")

    def record(self) -> records.BoardSettings:
        """Give the settings as everybody sees them; its JSON is what `set_board` takes."""
        return decode(records.BoardSettings, plain(self))

    def dataset_weight(self, name: str) -> float:
        """Give the weight of a data set: 0, shown without scoring, until the owner lets it score."""
        return float(self.datasets.get(name, 0.0))

    def axis_weights(self, names: Sequence[str]) -> dict[str, float]:
        """Give the weights of the axes; without a setting, half on performance and the rest shared."""
        if self.weights:
            return {name: float(self.weights.get(name, 0.0)) for name in names}
        return default_weights(names, "performance")

    def shows(self, model: str) -> bool:
        """Say whether the board shows *model*."""
        return model not in self.hidden_models and (not self.models or model in self.models)

    @property
    def frozen_at(self) -> datetime | None:
        """The moment whose state is shown, while the board is frozen."""
        if not self.freeze_until or not self.freeze_from:
            return None
        return datetime.fromisoformat(self.freeze_from) if now() < datetime.fromisoformat(self.freeze_until) else None


def board_spec(db: Session, task: str) -> BoardSpec:
    """Give the settings of a task's board, or the defaults."""
    row = queries.newest_settings(db, task)
    return restore(BoardSpec, row.settings) if row else BoardSpec()


def set_board(db: Session, actor: Actor, task: str, settings: Mapping[str, Any]) -> BoardSpec:
    """Set the board of *task*; owners may. Every fault is named, and nothing is stored unless all is good.

    Without `datasets` those score that did; with it, those that are named, by their weights.
    """
    row = find_row(db, task)
    require_owner(actor, task)
    with transaction(db):
        lock(db, f"board of task {row.id}")
        before = board_spec(db, task)
        wanted = read(
            BoardSpec,
            {name: value for name, value in settings.items() if value is not None and value != ""},
            also=lambda values: _unknown_names(db, task, values, before),
            message="The board's settings cannot be used.",
        )
        datasets = before.datasets if settings.get("datasets") is None else wanted.datasets
        # A freeze that holds keeps its moment, whatever else is set meanwhile.
        since = before.frozen_at or now()
        frozen = since.isoformat() if wanted.freeze_until else None
        spec = replace(wanted, datasets=datasets, freeze_from=frozen)
        if spec.machine != before.machine:
            cell_queries.send_measurements(db, row.id, spec.machine)
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
    names = [known for _, known in queries.evaluated_versions(db, task)]
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
    names = {name for _, name in queries.evaluated_versions(db, task)}
    for name in values.get("datasets", {}):
        if name not in names and name not in before.datasets:
            known = ", ".join(sorted(names)) or Text("none")
            yield Fault("is no data set of this task; there are: {known}", known=known, field=f"datasets.{name}")
    fitting = list(dict.fromkeys([*get_task(db, task).metrics, VMER, ABILITY]))
    metric = values.get("metric", fitting[0])
    if metric not in fitting:
        known = ", ".join(fitting)
        yield Fault("'{name}' is no metric of this task; it has {known}", name=metric, known=known, field="metric")
