"""Releases of validations, for programs: look at one, make it, list those there are."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Response

from quintain.core.records.base import to_json
from quintain.core.records.jobs import JobStanding
from quintain.core.records.release import Release, Releases
from quintain.core.records.stations import Stations
from quintain.services.release import bundle, release_jobs
from quintain.services.release import releases as service
from quintain.services.release.stations import stations_of
from quintain.web.api.call import Calling
from quintain.web.api.jobs.jobs import JobId
from quintain.web.api.params import RoundRef, ValidationRef
from quintain.web.api.shapes import LongText, Shape
from quintain.web.exporting import ASK_AGAIN_S, export_call

ReleaseNumber = Annotated[int, Path(description="Number of the release.", ge=1, le=2**31 - 1)]
ReleaseText = Annotated[Literal["report.md", "datasheet.md", "changelog.md"], Path(description="Which text.")]


class ReleaseRequest(Shape):
    """The specification as TOML; an empty one is the default."""

    spec: LongText = ""


def list_releases(call: Calling, ref: ValidationRef) -> Releases:
    """List the releases of a validation, the newest first (owners)."""
    return service.list_releases(call.db, call.actor, ref)


def preview_release(call: Calling, ref: ValidationRef, body: ReleaseRequest) -> Response:
    """Return what a release would be, with a number for every property; nothing is written (owners).

    Where much was judged, a worker looks, and the answer is 202 with where it will be.
    """
    spec = service.parse_release(body.spec)
    job = release_jobs.ask_release(call.db, call.actor, ref, spec, preview_only=True)
    return _later(ref, job) if job else _now(service.preview(call.db, call.blobs, call.actor, ref, spec))


def get_asked_release(call: Calling, ref: ValidationRef, job: JobId) -> Response:
    """Return what a job has made or looked at: a release; 202 while it is at it (owners)."""
    asked = release_jobs.queued_release(call.db, call.blobs, call.actor, ref, job)
    return _later(ref, asked.job) if asked.job.going else _now(release_jobs.require_release(asked))


def _now(release: Release) -> Response:
    return Response(to_json(release), media_type="application/json")


def _later(ref: str, job: JobStanding) -> Response:
    """Answer with the job that looks at a release or makes it, and where that will be."""
    task, _, name = ref.partition("/")
    location = f"/api/v1/tasks/{task}/validations/{name}/releases/asked/{job.id}"
    headers = {"location": location, "retry-after": str(ASK_AGAIN_S)}
    return Response(to_json(job), 202, headers, media_type="application/json")


def release_text(call: Calling, ref: ValidationRef, number: ReleaseNumber, name: ReleaseText) -> Response:
    """Send the report, the datasheet or the changelog of a release, as Markdown (owners)."""
    text = bundle.text_of(call.db, call.blobs, call.actor, ref, number, name)
    return Response(text, media_type="text/markdown; charset=utf-8")


def release_bundle(call: Calling, ref: ValidationRef, number: ReleaseNumber) -> Response:
    """Send everything about a release as a ZIP: all formats, datasheet, report, changelog (owners).

    Hidden answers are left out.
    """
    return export_call(call, bundle.wanted_bundle(ref, number))


def make_release(call: Calling, ref: ValidationRef, body: ReleaseRequest) -> Response:
    """Make train, dev and test of what was judged, as data set versions: all of them, or nothing (owners).

    Where much was judged, a worker makes them, and the answer is 202 with where the release will be.
    """
    spec = service.parse_release(body.spec)
    job = release_jobs.ask_release(call.db, call.actor, ref, spec, preview_only=False)
    return _later(ref, job) if job else _now(service.release(call.db, call.blobs, call.actor, ref, spec))


def get_stations(call: Calling, ref: RoundRef) -> Stations:
    """Return which of write, judge, label, release and next model a round is past, and what is to be done next."""
    return stations_of(call.db, call.actor, ref)
