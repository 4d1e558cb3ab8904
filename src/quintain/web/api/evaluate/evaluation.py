"""Evaluation, for programs: results, flips, answers, comparisons, overlap, and the runs themselves."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path, Response
from fastapi import Query as Parameter

from quintain.services.evaluate import answers, compare, examples, progress
from quintain.services.evaluate import cells as evaluate
from quintain.services.evaluate.overlap import model_overlap
from quintain.services.evaluate.progress import Explanation
from quintain.services.evaluate.results import model_results
from quintain.services.models.registry import get_model
from quintain.web.api.call import Calling
from quintain.web.api.params import DatasetName, Filter, Format, Limit, ModelName, Offset, Sifting, TaskName, Version
from quintain.web.api.shapes import Shape
from quintain.web.files import download

CellId = Annotated[int, Path(description="Number of the run.", ge=1, le=2**31 - 1)]
State = Literal["queued", "running", "done", "failed", "cancelled"]
ExampleId = Annotated[str, Path(description="Id of the example.", max_length=64, pattern=r"^[0-9a-f]+$")]
AnswersLimit = Annotated[int, Parameter(description="At most so many.", ge=1, le=answers.MAX_PAGE)]
OtherModel = Annotated[
    str,
    Parameter(description="A model: its name, or name@version.", min_length=1, max_length=200, pattern=r"^[^\x00/]+$"),
]


class DatasetResultShape(Shape):
    """A model's results on one data set version. Rates are fractions, memory is in GiB.

    *examples* are those of its *rows* that have a gold answer, on which the metrics rest.
    """

    dataset: str
    role: str
    rows: int
    examples: int
    hidden: bool
    metrics: dict[str, Any]
    slices: list[dict[str, Any]]
    confusion: dict[str, Any] | None
    measurements: dict[str, Any]
    robustness: dict[str, Any] | None
    fairness: dict[str, Any] | None
    states: dict[str, str]
    cells: dict[str, int]
    failed: dict[str, int]
    gaps: dict[str, Any]
    runs: dict[str, int]


class ResultsShape(Shape):
    """A model's results on every data set version that it has been run on."""

    model: str
    datasets: list[DatasetResultShape]


class FlipShape(Shape):
    """An answer that changed with the wording. Each field is cut into pieces that stayed, went or came."""

    id: str
    family: str
    group: str | None
    fields: dict[str, list[list[str]]]
    before: Any
    after: Any


class FlipsShape(Shape):
    """Some flips, how many there are, and what they can be filtered by."""

    flips: list[FlipShape]
    total: int
    families: list[str]
    groups: list[str]


class GivenAnswerShape(Shape):
    """What a model made of one example; what is in its own words is for those who may read its log."""

    id: str
    inputs: dict[str, Any]
    state: answers.State
    answer: Any
    gold: Any
    score: float | None
    probabilities: dict[str, float | None] | None
    reason: str | None
    input_tokens: int | None
    output_tokens: int | None
    prompt: str | None
    reply: str | None


class AnswersShape(Shape):
    """Some answers, and how many fit the filters."""

    answers: list[GivenAnswerShape]
    total: int
    offset: int


class ComparisonShape(Shape):
    """Two models on every data set that both have been run on."""

    task: str
    first: str
    second: str
    datasets: list[dict[str, Any]]


class DifferencesShape(Shape):
    """Examples that two models answer differently, and how many there are."""

    examples: list[dict[str, Any]]
    total: int


class OverlapsShape(Shape):
    """How much of each evaluation set is in a model's training data."""

    model: str
    overlaps: list[dict[str, Any]]


class CellShape(Shape):
    """A run: one model on one variant of one data set."""

    id: int
    task: str
    model: str
    dataset: str
    variant: str
    state: State
    done: int
    total: int
    attempts: int
    reason: str
    waits_for: str
    worker: str | None
    created_at: str
    started_at: str | None
    finished_at: str | None


class CellsShape(Shape):
    """Some runs, and how many there are."""

    cells: list[CellShape]
    total: int
    offset: int


class ExplanationShape(Shape):
    """A run, why it is as it is, and what happened to it; texts of events are for those who may read its log."""

    summary: str
    cell: CellShape | None
    ahead: int | None
    wait_seconds: float | None
    events: list[dict[str, str]]


def get_results(call: Calling, task: TaskName, model: ModelName, version: Version = None) -> ResultsShape:
    """Give a model's results on all data sets, on five axes."""
    info = get_model(call.db, call.actor, _ref(task, model, version))
    found = model_results(call.db, call.blobs, call.actor, info.version.ref)
    shapes = [DatasetResultShape.model_validate(one.as_dict()) for one in found]
    return ResultsShape(model=info.version.ref, datasets=shapes)


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
) -> FlipsShape:
    """List the answers that changed when only the wording did. On hidden labels: the builder and owners."""
    found = examples.flips(
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
    return FlipsShape.model_validate(found.as_dict())


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
) -> AnswersShape:
    """List what a model answered to each example. On hidden labels: the builder, without what is right, and owners."""
    found = answers.list_answers(
        call.db, call.blobs, call.actor, _ref(task, model, version), dataset, sieve, offset=offset, limit=limit
    )
    return AnswersShape.model_validate(found.as_dict())


def get_answer(
    call: Calling,
    task: TaskName,
    model: ModelName,
    dataset: DatasetName,
    example: ExampleId,
    *,
    version: Version = None,
) -> GivenAnswerShape:
    """Give what a model made of one example, with what it was asked in words and what it wrote."""
    ref = _ref(task, model, version)
    found = answers.get_answer(call.db, call.blobs, call.actor, ref, dataset, example)
    return GivenAnswerShape.model_validate(found.as_dict())


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
        lambda path: examples.export_examples(call.db, call.blobs, call.actor, info.version.ref, dataset, format, path),
    )


def get_overlap(call: Calling, task: TaskName, model: ModelName, version: Version = None) -> OverlapsShape:
    """Say how much of each evaluation set is in the data that a model says it was trained on."""
    info = get_model(call.db, call.actor, _ref(task, model, version))
    found = model_overlap(call.db, call.blobs, call.actor, info.version.ref)
    return OverlapsShape(model=info.version.ref, overlaps=[one.as_dict() for one in found])


def compare_models(call: Calling, task: TaskName, a: OtherModel, b: OtherModel) -> ComparisonShape:
    """Compare two models by McNemar's test and a paired bootstrap, on every data set that both were run on."""
    found = compare.compare(call.db, call.blobs, call.actor, f"{task}/{a}", f"{task}/{b}")
    return ComparisonShape.model_validate(found.as_dict())


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
) -> DifferencesShape:
    """List the examples that two models answer differently, on a data set with open labels."""
    found, total = compare.differences(
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
    return DifferencesShape(examples=[one.as_dict() for one in found], total=total)


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
) -> CellsShape:
    """List the runs of a task: what runs first, then what waits, then what failed."""
    found = progress.page_of_cells(
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
    cells = [CellShape.model_validate(one.as_dict()) for one in found.cells]
    return CellsShape(cells=cells, total=found.total, offset=found.offset)


def get_run(call: Calling, cell: CellId) -> ExplanationShape:
    """Say how a run is, with its place in the queue and, for those who may read it, its log."""
    return _explained(progress.explain_cell(call.db, call.actor, cell))


def cancel_run(call: Calling, cell: CellId) -> ExplanationShape:
    """Cancel a run that waits or goes on (its builder, the task's owner)."""
    evaluate.cancel(call.db, call.actor, cell)
    return _explained(progress.explain_cell(call.db, call.actor, cell))


def retry_run(call: Calling, cell: CellId) -> ExplanationShape:
    """Queue a failed or cancelled run again (its builder, the task's owner)."""
    evaluate.retry(call.db, call.actor, cell)
    return _explained(progress.explain_cell(call.db, call.actor, cell))


def _explained(found: Explanation) -> ExplanationShape:
    return ExplanationShape.model_validate(found.as_dict())


def _ref(task: str, model: str, version: str | None) -> str:
    return f"{task}/{model}@{version}" if version else f"{task}/{model}"
