"""Data sets, for programs: lists, examples, counts, differences, up and down."""

from __future__ import annotations

from typing import Annotated

from fastapi import File, Form, Response, UploadFile

from quintain.core.example import Role
from quintain.data.plan import parse_plan
from quintain.services.data import content as dataset_content
from quintain.services.data import datasets
from quintain.web.api.call import Calling
from quintain.web.api.params import DatasetName, Filter, Format, Limit, Number, Offset, OneNumber, TaskName
from quintain.web.api.shapes import (
    DatasetShape,
    DatasetsShape,
    DifferenceShape,
    ImportedShape,
    LabelCountsShape,
    LongText,
    PreviewShape,
    Text,
)
from quintain.web.files import download, on_disk


def list_datasets(call: Calling, task: TaskName) -> DatasetsShape:
    """List the data set versions of a task."""
    found = datasets.list_versions(call.db, call.actor, task)
    return DatasetsShape(datasets=[DatasetShape.model_validate(item.as_dict()) for item in found])


def import_dataset(  # noqa: PLR0913 - the fields of the form
    call: Calling,
    task: TaskName,
    *,
    name: Annotated[Text, Form(description="Name of the data set.")],
    role: Annotated[Role, Form(description="What it is for.")],
    file: Annotated[UploadFile, File(description="JSONL, CSV, TSV, Parquet, SQuAD JSON or CoNLL-U.")],
    hidden: Annotated[bool, Form(description="Whether its labels stay on the server.")] = False,
    language: Annotated[Text, Form(description="Language of its texts.")] = "en",
    description: Annotated[Text, Form(description="What it is.")] = "",
    plan: Annotated[LongText, Form(description="What its columns and labels mean: an import plan in TOML.")] = "",
    skip_bad: Annotated[bool, Form(description="Leave out rows that are wrong.")] = False,
    score: Annotated[bool, Form(description="Let it score on the board at once.")] = False,
) -> ImportedShape:
    """Import a file as a version; all of it, or nothing and every fault (owners).

    A new data set is shown on the board and does not score until its owner lets it.
    """
    wanted = parse_plan(plan).with_changes(
        role=role.value, hidden=hidden, language=language, description=description, skip_bad=skip_bad
    )
    with on_disk(file) as path:
        made = datasets.import_dataset(call.db, call.blobs, call.actor, task, name, path, wanted, score=score)
    return ImportedShape.model_validate({**made.as_dict(), "new": made.new})


def get_dataset(call: Calling, task: TaskName, dataset: DatasetName, version: Number = None) -> DatasetShape:
    """Give one version with its lineage."""
    return DatasetShape.model_validate(
        datasets.get_version(call.db, call.actor, _ref(task, dataset, version)).as_dict()
    )


def preview_dataset(
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
) -> PreviewShape:
    """Give some examples: those whose inputs contain a text, with a label and a tag. Hidden answers are left out."""
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
    return PreviewShape.model_validate(page.as_dict())


def count_labels(call: Calling, task: TaskName, dataset: DatasetName, version: Number = None) -> LabelCountsShape:
    """Count the answers of a version."""
    counts = dataset_content.label_counts(call.db, call.blobs, call.actor, _ref(task, dataset, version))
    return LabelCountsShape(labels=counts)


def diff_datasets(
    call: Calling, task: TaskName, dataset: DatasetName, a: OneNumber, b: OneNumber, limit: Limit = 20
) -> DifferenceShape:
    """Say how version *b* differs from version *a*."""
    found = dataset_content.diff(call.db, call.blobs, call.actor, _ref(task, dataset, a), _ref(task, dataset, b))
    return DifferenceShape.model_validate(found.as_dict(limit))


def download_dataset(
    call: Calling,
    task: TaskName,
    dataset: DatasetName,
    version: Number = None,
    format: Format = "jsonl",  # noqa: A002 - the word in the address
) -> Response:
    """Send one version as a file. Hidden answers are left out."""
    info = datasets.get_version(call.db, call.actor, _ref(task, dataset, version))
    return download(
        f"{task}-{dataset}-v{info.number}",
        format,
        lambda path: dataset_content.export(call.db, call.blobs, call.actor, info.ref, format, path),
    )


def _ref(task: str, dataset: str, version: int | None) -> str:
    return f"{task}/{dataset}@{version}" if version is not None else f"{task}/{dataset}"
