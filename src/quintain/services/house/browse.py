"""Looking around: every task with how much it holds, and a search over everything by its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlencode

from sqlalchemy.orm import Session

from quintain.core.people import Actor, RoleName, Scope
from quintain.core.records.tasks import Found, Hit
from quintain.core.task import Task
from quintain.services.access import accounts
from quintain.services.collect.rounds.manage import info_of, is_listed
from quintain.services.models.registry import model_visibility
from quintain.services.tasks.definitions import get_task, list_tasks
from quintain.store.queries.house import browse as queries
from quintain.store.queries.house import movements
from quintain.store.search_index import Findable, matches
from quintain.tasks.contract import kind_of

MOST_HITS = 50
MOST_LOOKED_AT = 1000
MOST_TASKS = 20  # of an owner, whose people are looked through


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


def search(db: Session, actor: Actor, query: str, language: str = "en") -> Found:
    """Find tasks, data sets, models, rounds and people that hold every word of *query*, as far as *actor* sees them.

    Titles are in *language*, where a task has them in it. Admins find everybody, owners who has a role on their tasks.
    """
    return Found(
        tasks=_tasks(db, query, language),
        datasets=_datasets(db, query),
        models=_models(db, actor, query),
        rounds=_rounds(db, actor, query),
        people=_people(db, actor, query.strip()),
    )


def _tasks(db: Session, query: str, language: str) -> tuple[Hit, ...]:
    matched = matches(db, Findable.TASK, query, limit=MOST_HITS)
    named = queries.tasks_in_use(db, [match.subject_id for match in matched])
    hits = []
    for match in matched:
        if match.subject_id in named:
            task = get_task(db, named[match.subject_id])
            title, text = (_spoken(texts, language) for texts in (task.title, task.instructions))
            hits.append(Hit(title or task.name, kind_of(task).title, f"/tasks/{task.name}", text))
    return tuple(hits)


def _spoken(texts: Mapping[str, str], language: str) -> str:
    return texts.get(language) or next(iter(texts.values()), "")


def _datasets(db: Session, query: str) -> tuple[Hit, ...]:
    matched = matches(db, Findable.DATASET, query, limit=MOST_HITS)
    named = queries.datasets_in_use(db, [match.subject_id for match in matched])
    return tuple(
        Hit(name, task, f"/tasks/{task}/data/{name}", match.text)
        for match in matched
        for task, name in named.get(match.subject_id, ())
    )


def _models(db: Session, actor: Actor, query: str) -> tuple[Hit, ...]:
    # Many may be private: more are looked at than are shown.
    matched = matches(db, Findable.MODEL, query, limit=MOST_LOOKED_AT)
    named = queries.models_seen(db, model_visibility(actor), [match.subject_id for match in matched])
    hits = (
        Hit(name, task, f"/tasks/{task}/models/{name}", match.text)
        for match in matched
        for task, name in named.get(match.subject_id, ())
    )
    return tuple(islice(hits, MOST_HITS))


def _rounds(db: Session, actor: Actor, query: str) -> tuple[Hit, ...]:
    matched = matches(db, Findable.ROUND, query, limit=MOST_HITS)
    infos = {
        row.id: info_of(row, version, task)
        for row, version, task in queries.rounds_in_use(db, [match.subject_id for match in matched])
    }
    return tuple(
        Hit(match.title, f"{info.task}/{info.number}", f"/tasks/{info.task}/rounds/{info.number}", match.text)
        for match in matched
        if (info := infos.get(match.subject_id)) is not None and is_listed(actor, info)
    )


def _people(db: Session, actor: Actor, query: str) -> tuple[Hit, ...]:
    if not query:
        return ()
    if actor.is_admin and actor.may(Scope.ADMIN):
        matched = accounts.list_people(db, actor, search=query, limit=MOST_HITS)
        return tuple(Hit(one.name, one.display_name, f"/admin?{urlencode({'q': one.name})}") for one in matched)
    owned = [item.task.name for item in list_tasks(db) if actor.has(RoleName.OWNER, item.task.name)]
    hits: dict[str, Hit] = {}
    for task in owned[:MOST_TASKS] if actor.may(Scope.OWN) else ():
        for role in accounts.roles_on_task(db, actor, task, search=query, limit=MOST_HITS).roles:
            url = f"/tasks/{task}/settings?{urlencode({'q': role.name})}"
            hits.setdefault(role.name, Hit(role.name, role.display_name or task, url))
    return tuple(hits.values())[:MOST_HITS]


def _model_counts(db: Session, actor: Actor, tasks: Sequence[Task]) -> Mapping[str, int]:
    owned = None if actor.has(RoleName.OWNER) else [task.name for task in tasks if actor.has(RoleName.OWNER, task.name)]
    return movements.model_counts(db, actor.user_id, owned)


def _card(task: Task, held: dict[str, tuple[int, int]], models: int) -> TaskCard:
    datasets, examples = held.get(task.name, (0, 0))
    return TaskCard(task, kind_of(task).title, datasets, examples, models)
