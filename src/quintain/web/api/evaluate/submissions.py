"""Submitting models, for programs: an upload in parts, then the submission."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Body, Depends, Path, Request
from fastapi import Query as Parameter

from quintain.compose import rules_of
from quintain.core.records.tasks import Quota, Submission, Upload
from quintain.services.evaluate.submissions.submit import quota_left, submit_upload
from quintain.services.models import uploads
from quintain.web.api.call import Calling
from quintain.web.api.params import TaskName
from quintain.web.api.shapes import Shape, Text

UploadId = Annotated[str, Path(description="Id of the upload.", max_length=40, pattern=r"^[0-9a-f]+$")]
PartOffset = Annotated[
    int, Parameter(alias="offset", description="Number of the part's first byte.", ge=0, le=uploads.MAX_UPLOAD)
]


class UploadStart(Shape):
    """A file that is about to be sent."""

    size: Annotated[int, Body(description="Bytes of the file.", ge=1, le=uploads.MAX_UPLOAD)]
    sha256: Annotated[str, Body(description="SHA-256 of the file, in hexadecimal.", pattern=r"^[0-9a-f]{64}$")]


class SubmissionStart(Shape):
    """A file that has arrived, and what the model is to be called; its manifest says so otherwise.

    *file* is its name: a file that is a whole model by itself, such as .joblib or .onnx, is known by that.
    """

    upload: Annotated[str, Body(max_length=40, pattern=r"^[0-9a-f]+$")]
    file: Text = ""
    name: Text | None = None
    visibility: Literal["public", "private", "anonymous"] = "public"


async def read_part(request: Request) -> bytes:
    """Read the part that was sent."""
    return await request.body()


def begin_upload(call: Calling, start: UploadStart) -> Upload:
    """Begin an upload; one of the same content that broke off is found again."""
    return _shape(uploads.begin_upload(call.db, call.blobs, call.actor, size=start.size, sha256=start.sha256))


def get_upload(call: Calling, upload_id: UploadId) -> Upload:
    """Return how far an upload is."""
    return _shape(uploads.get_upload(call.db, call.actor, upload_id))


def put_part(
    call: Calling, upload_id: UploadId, offset: PartOffset, data: Annotated[bytes, Depends(read_part)]
) -> Upload:
    """Send the bytes from *offset* on; a part that is sent twice counts once."""
    return _shape(uploads.append(call.db, call.blobs, call.actor, upload_id, offset, data))


def submit_model(call: Calling, task: TaskName, start: SubmissionStart) -> Submission:
    """Submit an uploaded archive, or one file that is a whole model; its cells are queued at once (builders)."""
    return submit_upload(
        call.db,
        call.blobs,
        call.actor,
        task,
        start.upload,
        rules=rules_of(call.workspace.settings),
        name=start.name,
        visibility=start.visibility,
        filename=start.file,
    ).record()


def get_quota(call: Calling, task: TaskName) -> Quota:
    """Return how many models the caller may still submit to a task today."""
    return Quota(quota_left(call.db, call.actor, task, rules_of(call.workspace.settings)))


def _shape(info: uploads.UploadInfo) -> Upload:
    return Upload(info.id, info.size, info.received, info.complete)
