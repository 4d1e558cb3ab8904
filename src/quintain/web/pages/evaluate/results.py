"""What evaluation found out about a model: all data sets at a glance, one in detail, its flips."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.responses import Response

from quintain.core.cells import MEASURE, PLAIN
from quintain.core.errors import NotFound
from quintain.core.task import Task
from quintain.engine.sandbox.layers import missing_layers
from quintain.metrics.contract import METRICS
from quintain.metrics.evaluate import AVERAGED
from quintain.reports.charts import heat_map
from quintain.services.data.datasets import get_version
from quintain.services.evaluate.cells.measure_again import may_measure_again
from quintain.services.evaluate.results import example_files, examples
from quintain.services.evaluate.results.compute import model_results
from quintain.services.evaluate.results.dataset_results import StoredResult, sees_all
from quintain.services.evaluate.results.measurement_gaps import share_disturbed
from quintain.services.evaluate.results.overlap import model_overlap
from quintain.services.models import registry as models
from quintain.services.models.registry import ModelInfo
from quintain.services.tasks import definitions as tasks
from quintain.services.tasks.machines import class_of
from quintain.tasks.contract import kind_of
from quintain.web.files import MEDIA_TYPES, download
from quintain.web.forms import answer_text
from quintain.web.pages.figure_words import gap_text
from quintain.web.pages.model_results import is_rate
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.paging import Paging
from quintain.web.visit import Visit, Visiting

PAGE_SIZE = 20
SHOWN_MISTAKES = 10


def dataset(visit: Visiting, task: str, model: str, dataset: str, version: str = "", data: str = "") -> Response:
    """Show one model on one data set: figures, slices, confusions, perturbations, measurements, mistakes, runs."""
    definition = tasks.get_task(visit.db, task)
    info = _model(visit, task, model, version)
    result = _result(visit, info, dataset, data)
    _ = visit.tongue.gettext
    confusion = result.confusion
    readable = get_version(visit.db, visit.actor, f"{task}/{result.dataset}@{result.number}").readable
    gold = readable and sees_all(visit.actor, task, result.hidden)
    answers = gold or (readable and info.may_edit)
    return visit.render(
        "evaluate/results_dataset.html",
        task=definition,
        section="models",
        model=info,
        version=info.version,
        result=result,
        gap_text=partial(gap_text, _),
        machine_class=class_of(result.measurements),
        metric=tasks.leading_metric(definition),
        averages=tasks.leading_metric(definition) in AVERAGED,
        titles={name: METRICS.get(name).title for name in result.metrics if name in METRICS},
        is_rate=is_rate,
        missing_layers=missing_layers,
        disturbed=share_disturbed(result.measurements),
        may_measure=may_measure_again(visit.db, visit.actor, result.cells.get(MEASURE, 0)),
        chart=heat_map(confusion["labels"], confusion["counts"], row=_("Right answer"), column=_("Its answer"))
        if confusion
        else None,
        support=_support(confusion),
        sees_gold=gold,
        readable=readable,
        sees_answers=answers,
        mistakes=_mistakes(visit, definition, info, result) if gold and result.metrics else ([], 0),
        failures=_failures(visit, info, result) if answers and result.metrics else ([], 0),
        fields=kind_of(definition).fields(definition),
        formats=list(MEDIA_TYPES),
        crumbs=crumbs(visit, definition, info, (dataset, None)),
    )


def _support(confusion: Mapping[str, Any] | None) -> dict[str, int]:
    """Count the examples of each label, on which its figures rest."""
    if not confusion:
        return {}
    rows = zip(confusion["labels"], confusion["counts"], confusion["unanswered"], strict=True)
    return {label: sum(counts) + unanswered for label, counts, unanswered in rows}


def flips(
    visit: Visiting,
    task: str,
    model: str,
    dataset: str,
    *,
    version: str = "",
    family: str = "",
    group: str = "",
    offset: int = 0,
) -> Response:
    """Show the answers that changed when only the wording did, as word diffs."""
    definition = tasks.get_task(visit.db, task)
    info = _model(visit, task, model, version)
    page = examples.flips(
        visit.db,
        visit.blobs,
        visit.actor,
        info.version.ref,
        dataset,
        family=family[:80] or None,
        group=group[:80] or None,
        offset=max(0, offset),
        limit=PAGE_SIZE,
    )
    query = {"version": str(info.version.number), "family": family, "group": group}
    path = f"/tasks/{task}/models/{model}/results/{dataset}/flips"
    _ = visit.tongue.gettext
    families = [("", _("any")), ("robustness", _("robustness")), ("fairness", _("fairness"))]
    return visit.render(
        "evaluate/flips.html",
        task=definition,
        section="models",
        model=info,
        version=info.version,
        dataset=dataset,
        flips=[
            (flip, answer_text(definition, flip.inputs, flip.before), answer_text(definition, flip.inputs, flip.after))
            for flip in page.flips
        ],
        fields=kind_of(definition).fields(definition),
        families=[*families, *((name, name) for name in page.families)],
        groups=[("", _("any")), *((name, name) for name in page.groups)],
        filters=query,
        texts=page.texts,
        base=path,
        paging=Paging(path, query, max(0, offset), len(page.flips), page.total, PAGE_SIZE),
        crumbs=crumbs(
            visit, definition, info, (dataset, f"/tasks/{task}/models/{model}/results/{dataset}"), (_("Flips"), None)
        ),
    )


def overlap(visit: Visiting, task: str, model: str, version: str = "") -> Response:
    """Show how much of each evaluation set the model was trained on."""
    definition = tasks.get_task(visit.db, task)
    info = _model(visit, task, model, version)
    return visit.render(
        "evaluate/results_overlap.html",
        task=definition,
        section="models",
        model=info,
        overlaps=model_overlap(visit.db, visit.blobs, visit.actor, info.version.ref),
        crumbs=crumbs(visit, definition, info, (visit.tongue.gettext("Overlap"), None)),
    )


def fetch(
    visit: Visiting,
    task: str,
    model: str,
    dataset: str,
    version: str = "",
    format: str = "csv",  # noqa: A002 - the word in the address
) -> Response:
    """Send what the model answered to each example of a data set as a file."""
    info = _model(visit, task, model, version)
    return download(
        f"{task}-{model}-v{info.version.number}-{dataset.replace('@', '-v')}",
        format,
        lambda path: example_files.export_examples(
            visit.db, visit.blobs, visit.actor, info.version.ref, dataset, format, path
        ),
    )


def _model(visit: Visit, task: str, model: str, version: str) -> ModelInfo:
    return models.get_model(visit.db, visit.actor, f"{task}/{model}@{version}" if version else f"{task}/{model}")


def _result(visit: Visit, info: ModelInfo, dataset: str, number: str) -> StoredResult:
    matching = [
        result
        for result in model_results(visit.db, visit.blobs, visit.actor, info.version.ref)
        if result.dataset == dataset and (not number or str(result.number) == number)
    ]
    if not matching:
        raise NotFound(
            "{ref} has not been run on '{dataset}'.",
            ref=info.version.ref,
            dataset=dataset,
            remedy="Look at the list of runs.",
        )
    return matching[0]


def _mistakes(
    visit: Visit, task: Task, info: ModelInfo, result: StoredResult
) -> tuple[list[tuple[examples.Mistake, str, str]], int]:
    ref = f"{result.dataset}@{result.number}"
    mistakes, total = examples.mistakes(visit.db, visit.blobs, visit.actor, info.version.ref, ref, limit=SHOWN_MISTAKES)
    readable = [
        (mistake, answer_text(task, mistake.inputs, mistake.gold), answer_text(task, mistake.inputs, mistake.answer))
        for mistake in mistakes
    ]
    return readable, total


def _failures(visit: Visit, info: ModelInfo, result: StoredResult) -> tuple[list[examples.FailedExample], int]:
    if not result.failed.get(PLAIN):
        return [], 0
    ref = f"{result.dataset}@{result.number}"
    return examples.failures(visit.db, visit.blobs, visit.actor, info.version.ref, ref, limit=SHOWN_MISTAKES)


def crumbs(visit: Visit, task: Task, info: ModelInfo, *more: tuple[str, str | None]) -> list[tuple[str, str | None]]:
    """Return the path to a page about a model."""
    base = f"/tasks/{task.name}"
    return [
        (title_of(visit, task), base),
        (visit.tongue.gettext("Models"), f"{base}/models"),
        (info.name, f"{base}/models/{info.name}?version={info.version.number}"),
        *more,
    ]
