"""Files of a task's rows: a short one is sent at once, a long one is written by a worker and fetched from its job."""

from __future__ import annotations

from functools import partial

from starlette.responses import FileResponse, Response

from quintain.core.records.base import to_json
from quintain.core.records.jobs import JobStanding
from quintain.services.jobs import exports
from quintain.services.jobs.exports import ExportRequest
from quintain.web.api.call import Call
from quintain.web.files import ARCHIVE_TYPE, MEDIA_TYPES, download, download_archive
from quintain.web.visit import Visit

ASK_AGAIN_S = 2


def export_page(visit: Visit, request: ExportRequest) -> Response:
    """Send a file to who clicked, or lead to the page of the job that writes it."""
    sent = _sent_or_job(visit, request)
    return sent if isinstance(sent, Response) else visit.redirect(f"/jobs/{sent.id}")


def export_call(call: Call, request: ExportRequest) -> Response:
    """Send a file to a program, or answer 202 with the job that writes it and where the file will be."""
    sent = _sent_or_job(call, request)
    if isinstance(sent, Response):
        return sent
    headers = {"location": f"/api/v1/jobs/{sent.id}/file", "retry-after": str(ASK_AGAIN_S)}
    return Response(to_json(sent), 202, headers, media_type="application/json")


def send_kept(asked: Visit | Call, job: int) -> Response:
    """Send the file that a job has written; it is read piece by piece."""
    stored = exports.stored_export(asked.db, asked.blobs, asked.actor, job)
    media_type = MEDIA_TYPES.get(stored.path.suffix[1:], ARCHIVE_TYPE)
    return FileResponse(stored.path, media_type=media_type, filename=stored.name)


def _sent_or_job(asked: Visit | Call, request: ExportRequest) -> Response | JobStanding:
    job = exports.ask_export(asked.db, asked.blobs, asked.actor, request)
    if job is not None:
        return job
    write = partial(exports.write_at_once, asked.db, asked.blobs, asked.actor, request)
    return (
        download_archive(request.stem, write) if request.form == "zip" else download(request.stem, request.form, write)
    )
