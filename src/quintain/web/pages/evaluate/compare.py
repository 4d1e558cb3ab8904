"""Two models side by side: whether the difference is real, and where they differ."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import QuintainError
from quintain.core.records.evaluate import AnswerDifference, Comparison, DatasetComparison
from quintain.metrics.contract import METRICS
from quintain.services.data.datasets import get_version
from quintain.services.evaluate.results import compare
from quintain.services.evaluate.results.dataset_results import sees_all
from quintain.services.tasks import definitions as tasks
from quintain.tasks.contract import kind_of
from quintain.web.errors import Trouble, trouble_of
from quintain.web.forms import answer_text
from quintain.web.pages.evaluate.runs import model_choices
from quintain.web.pages.model_results import is_rate
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.paging import Paging
from quintain.web.visit import Visit, Visiting

PAGE_SIZE = 20


def show(
    visit: Visiting,
    task: str,
    *,
    a: str = "",
    b: str = "",
    dataset: str = "",
    only: str = "",
    offset: int = 0,
) -> Response:
    """Compare two models of a task."""
    definition = tasks.get_task(visit.db, task)
    listed = model_choices(visit, task)
    comparison: Comparison | None = None
    trouble: Trouble | None = None
    pending = False
    if a and b:
        try:
            comparison = compare.compare(visit.db, visit.blobs, visit.actor, f"{task}/{a}", f"{task}/{b}")
        except QuintainError as error:
            trouble, pending = trouble_of(error), error.code == compare.PENDING
    open_sets = [row.dataset for row in comparison.datasets if _shown(visit, task, row)] if comparison else []
    chosen = dataset if dataset in open_sets else open_sets[0] if open_sets else ""
    query = {"a": a, "b": b, "dataset": chosen, "only": only}
    rows, total = _rows(visit, query, task, max(0, offset)) if chosen else ([], 0)
    _ = visit.tongue.gettext
    path = f"/tasks/{task}/compare"
    return visit.render(
        "evaluate/compare.html",
        status=trouble.status if trouble else 200,
        headers={"refresh": str(compare.SOON_S)} if pending else {},
        task=definition,
        section="models",
        choices=list(dict.fromkeys([*listed, *(name for name in (a, b) if name)])) if listed else [],
        comparison=comparison,
        filters=query,
        open_sets=[(name, name) for name in open_sets],
        rows=[
            (row, *(answer_text(definition, row.inputs, value) for value in (row.gold, row.first, row.second)))
            for row in rows
        ],
        fields=kind_of(definition).fields(definition),
        titles={name: METRICS.get(name).title for name in definition.metrics if name in METRICS},
        is_rate=is_rate,
        base=path,
        paging=Paging(path, query, max(0, offset), len(rows), total, PAGE_SIZE),
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (_("Models"), f"/tasks/{task}/models"),
            (_("Compare"), None),
        ],
        error=trouble,
    )


def _shown(visit: Visit, task: str, dataset: DatasetComparison) -> bool:
    """Whether single examples of a data set may be looked at."""
    return (
        sees_all(visit.actor, task, dataset.hidden)
        and get_version(visit.db, visit.actor, f"{task}/{dataset.dataset}").readable
    )


def _rows(visit: Visit, query: dict[str, str], task: str, offset: int) -> tuple[list[AnswerDifference], int]:
    return compare.differences(
        visit.db,
        visit.blobs,
        visit.actor,
        f"{task}/{query['a']}",
        f"{task}/{query['b']}",
        query["dataset"],
        only=query["only"],
        offset=offset,
        limit=PAGE_SIZE,
    )
