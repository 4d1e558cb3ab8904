"""Every answer of a model on a data set, for people: a table with filters, and one example in full."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from quintain.core.records.evaluate import GivenAnswer
from quintain.core.task import Task
from quintain.services.evaluate.results import answers
from quintain.services.models import registry as models
from quintain.services.models.registry import ModelInfo
from quintain.services.tasks import definitions as tasks
from quintain.tasks.contract import kind_of
from quintain.web.api.params import Sifting
from quintain.web.forms import answer_text
from quintain.web.pages.evaluate.results import crumbs
from quintain.web.paging import Paging
from quintain.web.visit import Visit, Visiting

PAGE_SIZE = 50


def listing(
    visit: Visiting,
    task: str,
    model: str,
    dataset: str,
    *,
    sieve: Sifting,
    version: str = "",
    data: str = "",
    offset: int = 0,
) -> Response:
    """Show what a model answered to each example, a page at a time."""
    definition, info = _model(visit, task, model, version)
    start = max(0, offset)
    page = answers.list_answers(
        visit.db, visit.blobs, visit.actor, info.version.ref, _ref(dataset, data), sieve, offset=start, limit=PAGE_SIZE
    )
    path = f"/tasks/{task}/models/{model}/results/{dataset}/answers"
    query = {"version": str(info.version.number), "data": data, **asdict(sieve)}
    _ = visit.tongue.gettext
    shows = [("all", _("all")), ("wrong", _("wrong")), ("right", _("right")), ("failed", _("failed"))]
    labels = [("", _("any")), *((name, name) for name in definition.label_names)]
    return visit.render(
        "evaluate/all_answers.html",
        task=definition,
        section="models",
        model=info,
        version=info.version,
        dataset=dataset,
        answers=[_readable(definition, answer) for answer in page.answers],
        sees_gold=page.gold,
        tokens=any(answer.input_tokens is not None for answer in page.answers),
        fields=kind_of(definition).fields(definition),
        shows=shows if page.gold else [shows[0], shows[3]],
        labels=labels if definition.label_names else None,
        filters=query,
        base=path,
        paging=Paging(path, query, start, len(page.answers), page.total, PAGE_SIZE),
        crumbs=_crumbs(visit, definition, info, dataset, data, (_("Answers"), None)),
    )


def single(
    visit: Visiting, task: str, model: str, dataset: str, example: str, *, version: str = "", data: str = ""
) -> Response:
    """Show one example: what was asked, what came back, what it was read as."""
    definition, info = _model(visit, task, model, version)
    ref = _ref(dataset, data)
    answer = answers.get_answer(visit.db, visit.blobs, visit.actor, info.version.ref, ref, example)
    base = f"/tasks/{task}/models/{model}/results/{dataset}/answers?version={info.version.number}&data={data}"
    _ = visit.tongue.gettext
    return visit.render(
        "evaluate/answer.html",
        task=definition,
        section="models",
        model=info,
        version=info.version,
        dataset=dataset,
        one=_readable(definition, answer),
        fields=kind_of(definition).fields(definition),
        crumbs=_crumbs(visit, definition, info, dataset, data, (_("Answers"), base), (example[:8], None)),
    )


def _readable(task: Task, answer: GivenAnswer) -> dict[str, Any]:
    """Return an answer with its texts as people read them, the most probable labels first."""
    shares = sorted((answer.probabilities or {}).items(), key=lambda pair: -(pair[1] or 0))
    return {
        "one": answer,
        "said": answer_text(task, answer.inputs, answer.answer),
        "gold": answer_text(task, answer.inputs, answer.gold),
        "shares": [(name, share) for name, share in shares if share is not None],
    }


def _model(visit: Visit, task: str, model: str, version: str) -> tuple[Task, ModelInfo]:
    ref = f"{task}/{model}@{version}" if version else f"{task}/{model}"
    return tasks.get_task(visit.db, task), models.get_model(visit.db, visit.actor, ref)


def _ref(dataset: str, number: str) -> str:
    return f"{dataset}@{number}" if number else dataset


def _crumbs(
    visit: Visit, task: Task, info: ModelInfo, dataset: str, data: str, *more: tuple[str, str | None]
) -> list[tuple[str, str | None]]:
    results = f"/tasks/{task.name}/models/{info.name}/results/{dataset}?version={info.version.number}&data={data}"
    return crumbs(visit, task, info, (dataset, results), *more)
