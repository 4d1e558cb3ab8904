"""Looking around: every task with how much it holds, and a search over everything by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.core.people import Actor, RoleName
from quintain.core.records.tasks import Found, Hit
from quintain.core.task import Task
from quintain.services.models.registry import list_names
from quintain.services.tasks.definitions import get_task, list_tasks
from quintain.store.queries.house import browse as queries
from quintain.store.queries.house import movements
from quintain.tasks.contract import kind_of

MOST_HITS = 50


@dataclass(frozen=True, slots=True)
class TaskCard:
    """A task with what it holds: data sets, the examples in their newest versions, models that one may see."""

    task: Task
    kind_title: str
    datasets: int
    examples: int
    models: int


def task_cards(db: Session, actor: Actor) -> list[TaskCard]:
    """List the tasks in use with what each holds."""
    held = queries.dataset_counts(db)
    tasks = [item.task for item in list_tasks(db)]
    models = _model_counts(db, actor, tasks)
    return [_card(task, held, models.get(task.name, 0)) for task in tasks]


def task_card(db: Session, actor: Actor, name: str) -> TaskCard:
    """Return one task with what it holds."""
    task = get_task(db, name)
    return _card(task, queries.dataset_counts(db), _model_counts(db, actor, [task]).get(name, 0))


def search(db: Session, actor: Actor, query: str) -> Found:
    """Find tasks, data sets and models whose name (or a task's title) contains *query*."""
    word = query.strip().lower()
    tasks = [item.task for item in list_tasks(db) if _matches(item.task, word)]
    models = list_names(db, actor, word=word, limit=MOST_HITS)
    return Found(
        tasks=tuple(
            Hit(next(iter(task.title.values()), task.name), kind_of(task).title, f"/tasks/{task.name}")
            for task in tasks[:MOST_HITS]
        ),
        datasets=tuple(
            Hit(name, task, f"/tasks/{task}/data/{name}") for task, name in queries.datasets_named(db, word, MOST_HITS)
        ),
        models=tuple(Hit(name, task, f"/tasks/{task}/models/{name}") for task, name in models),
    )


def _model_counts(db: Session, actor: Actor, tasks: Sequence[Task]) -> Mapping[str, int]:
    owned = None if actor.has(RoleName.OWNER) else [task.name for task in tasks if actor.has(RoleName.OWNER, task.name)]
    return movements.model_counts(db, actor.user_id, owned)


def _card(task: Task, held: dict[str, tuple[int, int]], models: int) -> TaskCard:
    datasets, examples = held.get(task.name, (0, 0))
    return TaskCard(task, kind_of(task).title, datasets, examples, models)


def _matches(task: Task, word: str) -> bool:
    return any(word in text.lower() for text in (task.name, *task.title.values()))
