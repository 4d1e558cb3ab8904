"""Data sets, for programs: lists, examples, counts, differences, up and down."""

from __future__ import annotations

from typing import Annotated

from fastapi import File, Form, Query, Response, UploadFile

from quintain.core.errors import BadInput
from quintain.core.example import Role
from quintain.core.records.base import to_json
from quintain.core.records.tasks import (
    DatasetDifference,
    DatasetInputs,
    DatasetVersion,
    DatasetVersions,
    LabelCounts,
    Preview,
)
from quintain.data.plan import parse_plan
from quintain.data.publish.dynasent import DYNASENT
from quintain.data.publish.folder import FOLDERS
from quintain.services.data import content as dataset_content
from quintain.services.data import datasets, import_jobs
from quintain.services.data import inputs as inputs_service
from quintain.services.data.bundles import has_images
from quintain.services.data.publishing import export_folder
from quintain.services.tasks.definitions import get_task
from quintain.web.api.call import Calling
from quintain.web.api.params import (
    DatasetFormat,
    DatasetName,
    Filter,
    InputsRequest,
    LabelsAs,
    Limit,
    Number,
    Offset,
    OneNumber,
    TaskName,
)
from quintain.web.api.shapes import InputsAsked, InputsChoice, InputsDecision, LongText, Text
from quintain.web.files import download, download_archive, on_disk

Also = Annotated[
    tuple[Text, ...],
    Query(description="Other versions of the task to put beside it: name, or name@2.", max_length=20),
]


def list_datasets(call: Calling, task: TaskName) -> DatasetVersions:
    """List the data set versions of a task."""
    return DatasetVersions([version.record() for version in datasets.list_versions(call.db, call.actor, task)])


def import_dataset(  # noqa: PLR0913 - the fields of the form
    call: Calling,
    task: TaskName,
    *,
    name: Annotated[Text, Form(description="Name of the data set.")],
    role: Annotated[Role, Form(description="What it is for.")],
    file: Annotated[
        UploadFile, File(description="JSONL, CSV, TSV, Parquet, SQuAD JSON, CoNLL-U; or a .zip with its images.")
    ],
    hidden: Annotated[bool, Form(description="Whether its labels stay on the server.")] = False,
    language: Annotated[Text, Form(description="Language of its texts; the task's first by default.")] = "",
    description: Annotated[Text, Form(description="What it is.")] = "",
    plan: Annotated[LongText, Form(description="What its columns and labels mean: an import plan in TOML.")] = "",
    skip_bad: Annotated[bool, Form(description="Leave out rows that are wrong.")] = False,
    score: Annotated[bool, Form(description="Let it score on the board at once.")] = False,
) -> Response:
    """Import a file as a version; all of it, or nothing and every fault (owners).

    A new data set is shown on the board and does not score until its owner lets it. A large file is imported by a
    worker: the answer is 202 with the job, which can be asked after and cancelled.
    """
    import_plan = parse_plan(plan).with_changes(
        role=role.value, hidden=hidden, language=language, description=description, skip_bad=skip_bad
    )
    with on_disk(file, call.workspace.file_limits) as path:
        job = import_jobs.ask_import(call.db, call.blobs, call.actor, task, name, path, import_plan, score=score)
        if job is not None:
            headers = {"location": f"/api/v1/jobs/{job.id}", "retry-after": "2"}
            return Response(to_json(job), 202, headers, media_type="application/json")
        version = datasets.import_dataset(call.db, call.blobs, call.actor, task, name, path, import_plan, score=score)
    return Response(to_json(version.record()), 201, media_type="application/json")


def get_dataset(call: Calling, task: TaskName, dataset: DatasetName, version: Number = None) -> DatasetVersion:
    """Return one version with its lineage."""
    return datasets.get_version(call.db, call.actor, _ref(task, dataset, version)).record()


def preview(
    call: Calling,
    task: TaskName,
    dataset: DatasetName,
    *,
    version: Number = None,
    text: Filter = "",
    label: Filter = "",
    tag: Filter = "",
    offset: Offset = 0,
    limit: Limit = 20,
) -> Preview:
    """Return some examples: those that contain *text*, with this *label* and *tag*; hidden answers are left out."""
    page = dataset_content.preview(
        call.db,
        call.blobs,
        call.actor,
        _ref(task, dataset, version),
        text=text or None,
        label=label or None,
        tag=tag or None,
        offset=offset,
        limit=limit,
    )
    return page.record()


def get_inputs(call: Calling, task: TaskName, dataset: DatasetName) -> DatasetInputs:
    """Return who may read the inputs of a data set, and what was asked."""
    return inputs_service.inputs_of(call.db, call.actor, f"{task}/{dataset}")


def set_inputs(call: Calling, task: TaskName, dataset: DatasetName, body: InputsChoice) -> DatasetInputs:
    """Choose who reads the inputs of a data set (owners)."""
    return inputs_service.set_inputs(call.db, call.actor, f"{task}/{dataset}", body.inputs, traces=body.traces)


def ask_for_inputs(call: Calling, task: TaskName, dataset: DatasetName, body: InputsAsked) -> DatasetInputs:
    """Ask the owners to read the inputs of a data set."""
    return inputs_service.ask_for_inputs(call.db, call.actor, f"{task}/{dataset}", body.why)


def decide_inputs(
    call: Calling, task: TaskName, dataset: DatasetName, request: InputsRequest, body: InputsDecision
) -> DatasetInputs:
    """Allow or decline a request to read inputs, or revoke what was allowed (owners)."""
    return inputs_service.decide_inputs(call.db, call.actor, f"{task}/{dataset}", request, body.decision)


def get_label_counts(call: Calling, task: TaskName, dataset: DatasetName, version: Number = None) -> LabelCounts:
    """Count the answers of a version."""
    counts = dataset_content.label_counts(call.db, call.blobs, call.actor, _ref(task, dataset, version))
    return LabelCounts(counts)


def diff_datasets(
    call: Calling, task: TaskName, dataset: DatasetName, a: OneNumber, b: OneNumber, limit: Limit = 20
) -> DatasetDifference:
    """Return how version *b* differs from version *a*."""
    difference = dataset_content.diff(call.db, call.blobs, call.actor, _ref(task, dataset, a), _ref(task, dataset, b))
    return difference.record(limit)


def download_dataset(  # noqa: PLR0917 - what the address may say
    call: Calling,
    task: TaskName,
    dataset: DatasetName,
    version: Number = None,
    format: DatasetFormat = "jsonl",  # noqa: A002 - the word in the address
    also: Also = (),
    labels: LabelsAs = "majority",
    public: bool = False,
) -> Response:
    """Send one version as a file, or as a ZIP of it and its images where it has some. Hidden answers are left out.

    A folder (hf, croissant) may hold others of the task beside it, each a split; a public one is to be passed on, and
    has no inputs that are not open to all.
    """
    info = datasets.get_version(call.db, call.actor, _ref(task, dataset, version))
    if format in FOLDERS:
        refs = [info.ref, *(f"{task}/{one}" for one in also)]
        return download_archive(
            f"{task}-{dataset}-v{info.number}-{format}",
            lambda path: export_folder(
                call.db, call.blobs, call.actor, refs, format, path, archive=True, public=public
            ),
        )
    if also:
        raise BadInput("A file holds one version.", remedy="For several, ask for the format hf or croissant.")
    lines = format == DYNASENT
    if has_images(get_task(call.db, task)):
        return download_archive(
            f"{task}-{dataset}-v{info.number}",
            lambda path: dataset_content.export(
                call.db, call.blobs, call.actor, info.ref, format, path, labels=labels, archive=True
            ),
        )
    return download(
        f"{task}-{dataset}-v{info.number}{'-dynasent' if lines else ''}",
        "jsonl" if lines else format,
        lambda path: dataset_content.export(call.db, call.blobs, call.actor, info.ref, format, path, labels=labels),
    )


def _ref(task: str, dataset: str, version: int | None) -> str:
    return f"{task}/{dataset}@{version}" if version is not None else f"{task}/{dataset}"
