"""Evaluation, for programs: results, flips, answers, comparisons, overlap, and the runs themselves."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Response
from fastapi import Query as Parameter

from quintain.core.records.evaluate import (
    AnswerDifferences,
    Answers,
    Comparison,
    Flips,
    GivenAnswer,
    Overlaps,
    RunReport,
    Runs,
)
from quintain.core.records.results import ModelResults
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells import progress
from quintain.services.evaluate.cells.measure_again import measure_again
from quintain.services.evaluate.results import answers, compare, example_files, examples
from quintain.services.evaluate.results.compute import model_results
from quintain.services.evaluate.results.overlap import model_overlap
from quintain.services.models.registry import get_model
from quintain.web.api.call import Calling
from quintain.web.api.params import DatasetName, Filter, Format, Limit, ModelName, Offset, Sifting, TaskName, Version
from quintain.web.files import download

CellId = Annotated[int, Path(description="Number of the run.", ge=1, le=2**31 - 1)]
State = Literal["queued", "running", "done", "failed", "cancelled"]
ExampleId = Annotated[str, Path(description="Id of the example.", max_length=64, pattern=r"^[0-9a-f]+$")]
AnswersLimit = Annotated[int, Parameter(description="At most so many.", ge=1, le=answers.MAX_PAGE)]
OtherModel = Annotated[
    str,
    Parameter(description="A model: its name, or name@version.", min_length=1, max_length=200, pattern=r"^[^\x00/]+$"),
]


def get_results(call: Calling, task: TaskName, model: ModelName, version: Version = None) -> ModelResults:
    """Return a model's results on all data sets, on five axes."""
    info = get_model(call.db, call.actor, _ref(task, model, version))
    results = model_results(call.db, call.blobs, call.actor, info.version.ref)
    return ModelResults(info.version.ref, [result.record() for result in results])


def list_flips(
    call: Calling,
    task: TaskName,
    model: ModelName,
    dataset: DatasetName,
    *,
    version: Version = None,
    family: Filter = "",
    group: Filter = "",
    offset: Offset = 0,
    limit: Limit = 20,
) -> Flips:
    """List the answers that changed when only the wording did. On hidden labels: the builder and owners."""
    return examples.flips(
        call.db,
        call.blobs,
        call.actor,
        _ref(task, model, version),
        dataset,
        family=family or None,
        group=group or None,
        offset=offset,
        limit=limit,
    )


def list_answers(
    call: Calling,
    task: TaskName,
    model: ModelName,
    dataset: DatasetName,
    *,
    sieve: Sifting,
    version: Version = None,
    offset: Offset = 0,
    limit: AnswersLimit = 50,
) -> Answers:
    """List what a model answered to each example. On hidden labels: its builder, without gold, and owners."""
    return answers.list_answers(
        call.db, call.blobs, call.actor, _ref(task, model, version), dataset, sieve, offset=offset, limit=limit
    )


def get_answer(
    call: Calling,
    task: TaskName,
    model: ModelName,
    dataset: DatasetName,
    example: ExampleId,
    *,
    version: Version = None,
) -> GivenAnswer:
    """Return what a model made of one example, with what it was asked in words and what it wrote."""
    ref = _ref(task, model, version)
    return answers.get_answer(call.db, call.blobs, call.actor, ref, dataset, example)


def download_answers(
    call: Calling,
    task: TaskName,
    model: ModelName,
    dataset: DatasetName,
    *,
    version: Version = None,
    format: Format = "jsonl",  # noqa: A002 - the word in the address
) -> Response:
    """Send what a model answered to each example of a data set with open labels, with gold answer and score."""
    info = get_model(call.db, call.actor, _ref(task, model, version))
    return download(
        f"answers-v{info.version.number}",
        format,
        lambda path: example_files.export_examples(
            call.db, call.blobs, call.actor, info.version.ref, dataset, format, path
        ),
    )


def get_overlap(call: Calling, task: TaskName, model: ModelName, version: Version = None) -> Overlaps:
    """Return how much of each evaluation set is in the data that a model says it was trained on."""
    info = get_model(call.db, call.actor, _ref(task, model, version))
    return Overlaps(info.version.ref, model_overlap(call.db, call.blobs, call.actor, info.version.ref))


def compare_models(call: Calling, task: TaskName, a: OtherModel, b: OtherModel) -> Comparison:
    """Compare two models by McNemar's test and a paired bootstrap, on every data set that both were run on."""
    return compare.compare(call.db, call.blobs, call.actor, f"{task}/{a}", f"{task}/{b}")


def list_differences(
    call: Calling,
    task: TaskName,
    a: OtherModel,
    b: OtherModel,
    dataset: Filter,
    *,
    only: Literal["", "first", "second"] = "",
    offset: Offset = 0,
    limit: Limit = 20,
) -> AnswerDifferences:
    """List the examples that two models answer differently, on a data set with open labels."""
    differences, total = compare.differences(
        call.db,
        call.blobs,
        call.actor,
        f"{task}/{a}",
        f"{task}/{b}",
        dataset,
        only=only,
        offset=offset,
        limit=limit,
    )
    return AnswerDifferences(differences, total)


def list_runs(
    call: Calling,
    task: TaskName,
    *,
    state: Annotated[list[State] | None, Parameter(description="Only these states.")] = None,
    model: Filter = "",
    dataset: Filter = "",
    variant: Filter = "",
    offset: Offset = 0,
    limit: Limit = 50,
) -> Runs:
    """List the runs of a task: what runs first, then what waits, then what failed."""
    return progress.page_of_cells(
        call.db,
        call.actor,
        task,
        states=list(state or []),
        model=model,
        dataset=dataset,
        variant=variant,
        offset=offset,
        limit=limit,
    )


def get_run(call: Calling, number: CellId) -> RunReport:
    """Return how a run is, with its place in the queue and, for those who may read it, its log."""
    return progress.explain_cell(call.db, call.actor, number)


def cancel_run(call: Calling, number: CellId) -> RunReport:
    """Cancel a run that waits or goes on (its builder, the task's owner)."""
    evaluate.cancel(call.db, call.actor, number)
    return progress.explain_cell(call.db, call.actor, number)


def retry_run(call: Calling, number: CellId) -> RunReport:
    """Queue a failed or cancelled run again (its builder, the task's owner)."""
    evaluate.retry(call.db, call.actor, number)
    return progress.explain_cell(call.db, call.actor, number)


def measure_run(call: Calling, number: CellId) -> RunReport:
    """Queue a measurement again (the task's owner; its builder where it is uneven, or the machine was busy)."""
    measure_again(call.db, call.actor, number)
    return progress.explain_cell(call.db, call.actor, number)


def _ref(task: str, model: str, version: str | None) -> str:
    return f"{task}/{model}@{version}" if version else f"{task}/{model}"
