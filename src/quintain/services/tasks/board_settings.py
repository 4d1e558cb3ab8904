"""What an owner sets for a board: which data sets score, weights, caps, the metric, who is shown, a freeze.

What scores is decided, not imported: a new data set has no weight until `let_score` or `set_board` gives it one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Fault, NotFound
from quintain.core.people import Actor
from quintain.core.task import VMER
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


@dataclass(frozen=True, slots=True)
class BoardSpec:
    """An owner's settings. A data set that is not in *datasets* does not score; empty *models* show all.

    *machine* is the class of machines whose measurements rank, and on which new ones are made.
    """

    datasets: Mapping[str, float] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    caps: Mapping[str, float] = field(default_factory=dict)
    metric: str | None = None
    models: tuple[str, ...] = ()
    hidden_models: tuple[str, ...] = ()
    epsilon: float | None = None
    human: float | None = None
    freeze_until: str | None = None
    freeze_from: str | None = None
    machine: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Give the settings as plain data, in the shape that `set_board` takes."""
        shape = {name: value for name, value in asdict(self).items() if name != "freeze_from"}
        return {**shape, "models": list(self.models), "hidden_models": list(self.hidden_models)}

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
    return _spec(row.settings) if row else BoardSpec()


def set_board(db: Session, actor: Actor, task: str, settings: Mapping[str, Any]) -> BoardSpec:
    """Set the board of *task*; owners may. Every fault is named, and nothing is stored unless all is good.

    Without `datasets` those score that did; with it, those that are named, by their weights.
    """
    row = find_row(db, task)
    require_owner(actor, task)
    with transaction(db):
        lock(db, f"board of task {row.id}")
        before = board_spec(db, task)
        faults = _shape_faults(settings) or _faults(db, task, settings, before)
        if faults:
            raise BadInput("The board's settings cannot be used.", faults=faults)
        datasets = before.datasets if settings.get("datasets") is None else settings["datasets"]
        # A freeze that holds keeps its moment, whatever else is set meanwhile.
        since = before.frozen_at or now()
        frozen = since.isoformat() if settings.get("freeze_until") else None
        spec = _spec({**settings, "datasets": datasets, "freeze_from": frozen})
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


def _spec(settings: Mapping[str, Any]) -> BoardSpec:
    return BoardSpec(
        datasets=dict(settings.get("datasets") or {}),
        weights=dict(settings.get("weights") or {}),
        caps=dict(settings.get("caps") or {}),
        metric=settings.get("metric") or None,
        models=tuple(settings.get("models") or ()),
        hidden_models=tuple(settings.get("hidden_models") or ()),
        epsilon=settings.get("epsilon"),
        human=settings.get("human"),
        freeze_until=settings.get("freeze_until") or None,
        freeze_from=settings.get("freeze_from") or None,
        machine=(settings.get("machine") or "").strip() or None,
    )


def _shape_faults(settings: Mapping[str, Any]) -> list[Fault]:
    """Name settings that are not even of the right kind; only then can the others be looked at."""
    kinds: Mapping[str, tuple[type, Text]] = {
        **dict.fromkeys(("datasets", "weights", "caps"), (Mapping, Text("a number for each name"))),
        **dict.fromkeys(("models", "hidden_models"), (list, Text("a list of names"))),
        **dict.fromkeys(("metric", "freeze_until", "machine"), (str, Text("a text"))),
    }
    faults = [
        Fault("is not {wanted}", wanted=what, field=name)
        for name, (kind, what) in kinds.items()
        if settings.get(name) is not None and not isinstance(settings[name], kind)
    ]
    for name in ("models", "hidden_models"):
        listed = settings.get(name)
        if isinstance(listed, list) and not all(isinstance(item, str) for item in listed):
            faults.append(Fault("is not a list of names", field=name))
    return faults


def _faults(db: Session, task: str, settings: Mapping[str, Any], before: BoardSpec) -> list[Fault]:
    known = {item for item in BoardSpec.__dataclass_fields__ if item != "freeze_from"}
    faults = [
        Fault("is no setting of a board; there are: {known}", known=", ".join(sorted(known)), field=name)
        for name in settings
        if name not in known
    ]
    for part in ("datasets", "weights", "caps"):
        for name, value in (settings.get(part) or {}).items():
            if not isinstance(value, int | float) or isinstance(value, bool) or not value >= 0:
                faults.append(Fault("{value} is not a number from 0 up", value=repr(value), field=f"{part}.{name}"))
    weights = settings.get("weights") or {}
    faults += [
        Fault("is no axis; there are: {axes}", axes=", ".join(AXES), field=f"weights.{name}")
        for name in weights
        if name not in AXES
    ]
    faults += [
        Fault("has no cap; there is one for: {capped}", capped=", ".join(CAPPED), field=f"caps.{name}")
        for name in settings.get("caps") or {}
        if name not in CAPPED
    ]
    if weights and not any(weights.values()):
        faults.append(Fault("are all 0; one axis must count", field="weights"))
    names = {name for _, name in queries.evaluated_versions(db, task)}
    faults += [
        Fault(
            "is no data set of this task; there are: {known}",
            known=", ".join(sorted(names)) or Text("none"),
            field=f"datasets.{name}",
        )
        for name in settings.get("datasets") or {}
        if name not in names and name not in before.datasets
    ]
    machine = (settings.get("machine") or "").strip()
    if machine and not is_class_name(machine):
        faults.append(Fault("cannot be the name of a class of machines; use 1 to 120 characters", field="machine"))
    return faults + _number_faults(settings) + _metric_faults(db, task, settings) + _freeze_faults(settings)


def _number_faults(settings: Mapping[str, Any]) -> list[Fault]:
    faults = []
    for name, most in (("epsilon", float("inf")), ("human", 1.0)):
        value = settings.get(name)
        if value is None:
            continue
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= most:
            wanted = Text("a fraction between 0 and 1") if most == 1.0 else Text("a number from 0 up")
            faults.append(Fault("{value} is not {wanted}", value=repr(value), wanted=wanted, field=name))
    return faults


def _metric_faults(db: Session, task: str, settings: Mapping[str, Any]) -> list[Fault]:
    name = settings.get("metric")
    if not name:
        return []
    fitting = list(dict.fromkeys([*get_task(db, task).metrics, VMER]))
    return (
        []
        if name in fitting
        else [
            Fault(
                "'{name}' is no metric of this task; it has {fitting}",
                name=name,
                fitting=", ".join(fitting),
                field="metric",
            )
        ]
    )


def _freeze_faults(settings: Mapping[str, Any]) -> list[Fault]:
    until = settings.get("freeze_until")
    if not until:
        return []
    try:
        moment = datetime.fromisoformat(str(until))
    except ValueError:
        return [Fault("'{until}' is not a date; write it as 2026-12-31T12:00+00:00", until=until, field="freeze_until")]
    return [] if moment.tzinfo else [Fault("needs a time zone, such as +00:00", field="freeze_until")]
